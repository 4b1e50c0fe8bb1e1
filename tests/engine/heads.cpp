// Heads and modules on a model: against sums in double precision, and against what they must beat.
#include "engine/heads.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "engine/mtp.hpp"
#include "engine/tokenizer.hpp"
#include "engine/weights.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::append;
using testing::loaded;
using testing::odd_config;
using testing::ReferenceModel;
using testing::same_bits;
using testing::TemporaryFile;

namespace {

const std::filesystem::path models = SPECSAMPLE_MODELS_DIR;

double silu(double x) { return x / (1 + std::exp(-x)); }

std::vector<double> times(const testing::Matrix& m, const std::vector<double>& x) {
    std::vector<double> y(static_cast<std::size_t>(m.rows));
    for (Index r = 0; r < m.rows; ++r)
        for (Index k = 0; k < m.columns; ++k)
            y[static_cast<std::size_t>(r)] += m(r, k) * x[static_cast<std::size_t>(k)];
    return y;
}

/// The rows that a matrix has in a model: those of the unit vectors.
testing::Matrix embedding(const Weights& weights) {
    testing::Uniform unused(0);
    testing::Matrix m = testing::random_matrix(weights.config.vocab, weights.config.dim, unused);
    for (Index r = 0; r < m.rows; ++r)
        weights.embedding.copy_row(r, &m.values[static_cast<std::size_t>(r * m.columns)]);
    return m;
}

std::vector<double> state_of(Model& model, std::span<const Token> text) {
    const ConstVector state = model.state(text);
    return {state.begin(), state.end()};
}

double worst_error(const Logits& logits, Index row, const std::vector<double>& expected) {
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
        worst = std::max(worst, std::abs(static_cast<double>(logits(row, static_cast<Index>(i))) - expected[i]));
    return worst;
}

std::string file_of(const char* magic, const std::vector<std::int32_t>& sizes) {
    std::string file(magic);
    append(file, sizes);
    return file;
}

void append_matrix(std::string& file, const testing::Matrix& m, bool int8) {
    if (!int8) return append(file, m.values);
    append(file, m.quantised);
    append(file, m.scales);
}

/// Prose that the shipped models were not trained on, token by token.
std::vector<Token> prose() {
    const auto tokenizer = Tokenizer::load(models / "bpe2048.merges.u16", 2048);
    std::vector<Token> text = tokenizer.encode(
        "He had been walking for an hour along the river when he saw the light of a small house between the trees. He "
        "did not know who lived there, but he was tired and cold, and he went up to the door and knocked. \"Who is "
        "there?\" said the voice of an old woman. \"I have lost my way,\" he said. \"May I come in and sit by the fire "
        "for a little while?\" The door was opened, and he saw that she had a lamp in her hand.");
    text.insert(text.begin(), tokenizer.begin());
    return text;
}

double loss(const Logits& logits, Index row, Token token) {
    const auto values = logits.row(row).array().cast<double>();
    return std::log(values.exp().sum()) - values(token);
}

}  // namespace

TEST_CASE("heads are E (silu(W h) + h)") {
    testing::Uniform uniform(51);
    for (const bool int8 : {false, true}) {
        const auto weights = loaded(ReferenceModel(odd_config, true, 52).float32_file());
        const Index dim = odd_config.dim;
        std::string file = file_of(int8 ? "MED8" : "MEDU", {2, static_cast<std::int32_t>(dim)});
        const std::vector<testing::Matrix> w{testing::random_matrix(dim, dim, uniform),
                                             testing::random_matrix(dim, dim, uniform)};
        for (const auto& m : w) append_matrix(file, m, int8);
        Heads heads = Heads::load(TemporaryFile(file).path(), weights);
        Model model(weights);
        const auto text = testing::random_tokens(9, odd_config.vocab, 53);
        const std::vector<double> h = state_of(model, text);
        const Logits rows = heads(model.state(text));
        REQUIRE(rows.rows() == 2);
        for (Index k = 0; k < 2; ++k) {
            std::vector<double> sum = times(w[static_cast<std::size_t>(k)], h);
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = silu(sum[i]) + h[i];
            CHECK(worst_error(rows, k, times(embedding(*weights), sum)) < 2e-5);
        }
    }
}

TEST_CASE("a module is g + B silu(A (g, e)), step by step, and remembers what it shares with the last call") {
    testing::Uniform uniform(54);
    for (const bool int8 : {false, true}) {
        const auto weights = loaded(ReferenceModel(odd_config, true, 55).float32_file());
        const Index dim = odd_config.dim;
        std::string file =
            file_of(int8 ? "MTP8" : "MTP1", {static_cast<std::int32_t>(dim), static_cast<std::int32_t>(2 * dim)});
        append(file, std::vector<float>{1.5f});
        const testing::Matrix a = testing::random_matrix(2 * dim, 2 * dim, uniform);
        const testing::Matrix b = testing::random_matrix(dim, 2 * dim, uniform);
        append_matrix(file, a, int8);
        append_matrix(file, b, int8);
        Mtp module = Mtp::load(TemporaryFile(file).path(), weights);
        const testing::Matrix e = embedding(*weights);
        Model model(weights);
        const auto text = testing::random_tokens(9, odd_config.vocab, 56);
        const auto expected = [&](std::span<const Token> behind) {
            std::vector<double> g = state_of(model, text);
            for (const Token token : behind) {
                std::vector<double> input = g;
                for (Index i = 0; i < dim; ++i) input.push_back(1.5 * e(token, i));
                std::vector<double> inner = times(a, input);
                for (double& x : inner) x = silu(x);
                const std::vector<double> update = times(b, inner);
                for (std::size_t i = 0; i < g.size(); ++i) g[i] += update[i];
            }
            return times(e, g);
        };
        module.begin(model.state(text));
        for (const std::vector<Token>& behind :
             std::vector<std::vector<Token>>{{3}, {3, 7}, {3, 7, 11}, {3, 8}, {4}, {3, 7, 11, 2, 5}, {3, 7, 11, 2, 5}})
            CHECK(worst_error(module(behind), 0, expected(behind)) < 1e-4);
        model.truncate(0);
        CHECK_THROWS_WITH(module({}), ContainsSubstring("no token behind"));
    }
}

TEST_CASE("the heads and the module that ship know more than copies of the classifier") {
    const auto weights = Weights::load(models / "target_1.8M_int8.bin");
    Model model(weights);
    Heads heads = Heads::load(models / "heads3_int8.bin", weights);
    Heads copies = Heads::untrained(3, weights);
    Mtp module = Mtp::load(models / "mtp_int8.bin", weights);
    const std::vector<Token> text = prose();
    model.score(text, 1);
    double of_heads[3] = {}, of_copies[3] = {}, of_module[3] = {}, count = 0;
    for (std::size_t i = 1; i + 4 < text.size(); ++i, ++count) {
        const std::span<const Token> before(text.data(), i + 1);
        const ConstVector state = model.state(before);
        module.begin(state);
        for (std::size_t k = 0; k < 3; ++k) {
            const Token next = text[i + 2 + k];
            of_heads[k] += loss(heads(state), static_cast<Index>(k), next);
            of_copies[k] += loss(copies(state), static_cast<Index>(k), next);
            of_module[k] += loss(module(std::span(text).subspan(i + 1, k + 1)), 0, next);
        }
    }
    for (std::size_t k = 0; k < 3; ++k) {
        CAPTURE(k, of_heads[k] / count, of_copies[k] / count, of_module[k] / count);
        CHECK(of_heads[k] / count < std::log(2048.0) - .5);  // that of knowing nothing
        CHECK(of_copies[k] / count > std::log(2048.0) - .5);
        CHECK(of_module[k] < of_heads[k] - count);  // it sees the tokens between
    }
}

TEST_CASE("an untrained head is the classifier") {
    const auto weights = loaded(ReferenceModel(odd_config, true, 57).int8_file());
    Model model(weights);
    const auto text = testing::random_tokens(6, odd_config.vocab, 58);
    const RowMatrix expected = model.score(text, 1);
    const RowMatrix rows = Heads::untrained(2, weights)(model.state(text));
    CHECK(same_bits(rows.row(0), expected));
    CHECK(same_bits(rows.row(1), expected));
}

TEST_CASE("files of heads and modules that are none are refused in a sentence") {
    const auto weights = loaded(ReferenceModel(odd_config, true, 59).float32_file());
    const auto heads = [&](const std::string& file) { Heads::load(TemporaryFile(file).path(), weights); };
    const auto module = [&](const std::string& file) { Mtp::load(TemporaryFile(file).path(), weights); };
    const std::string zeros(4 * 18 * 18, '\0');
    CHECK_THROWS_WITH(heads("MED"), ContainsSubstring("ends too early"));
    CHECK_THROWS_WITH(heads(file_of("SPQ8", {1, 18})), ContainsSubstring("holds no Medusa heads"));
    CHECK_THROWS_WITH(heads(file_of("MEDU", {0, 18})), ContainsSubstring("says it holds 0 heads"));
    CHECK_THROWS_WITH(heads(file_of("MEDU", {1 << 30, 18})), ContainsSubstring("must hold 1 to 64"));
    CHECK_THROWS_WITH(heads(file_of("MEDU", {1, 20})), ContainsSubstring("width 20, but the model has width 18"));
    CHECK_THROWS_WITH(heads(file_of("MEDU", {2, 18}) + zeros), ContainsSubstring("ask for 2604"));
    std::string bad = file_of("MEDU", {1, 18}) + zeros;
    testing::overwrite(bad, 12, NAN);
    CHECK_THROWS_WITH(heads(bad), ContainsSubstring("weights of head 1 contain a value that is not finite"));
    CHECK_THROWS_WITH(module("MTP"), ContainsSubstring("ends too early"));
    CHECK_THROWS_WITH(module(file_of("MEDU", {18, 36})), ContainsSubstring("holds no multi-token-prediction module"));
    CHECK_THROWS_WITH(module(file_of("MTP1", {16, 32})), ContainsSubstring("width 16, but the model has width 18"));
    CHECK_THROWS_WITH(module(file_of("MTP1", {18, 18})), ContainsSubstring("must have 36"));
    CHECK_THROWS_WITH(module(file_of("MTP8", {18, 36}) + zeros), ContainsSubstring("has 1308 bytes"));
    CHECK_THROWS_WITH(Heads::load("nowhere.bin", weights), ContainsSubstring("nowhere.bin: cannot be opened"));
}
