// The state-space model: against sums in double precision, however its text is read, and drafted for and by.
#include "engine/state_space.hpp"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <specsample/models/recurrent.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

#include "engine/model.hpp"
#include "engine/tokenizer.hpp"
#include "engine/weights.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::append;
using testing::random_matrix;
using testing::random_tokens;
using testing::same_bits;
using testing::TemporaryFile;

namespace {

using Numbers = std::vector<double>;

/// A small random model, its file, and its logits by definition.
class Toy {
  public:
    static constexpr Index dim = 12, blocks = 2, inner = 20, states = 3, rank = 2, window = 4, vocab = 37;

    explicit Toy(unsigned seed) : uniform_(seed) {
        file_ = "SSM8";
        append(file_, std::vector<std::int32_t>{dim, blocks, inner, states, rank, window, vocab});
        embedding_ = matrix(vocab, dim);
        for (Index i = 0; i < blocks; ++i) {
            Block block;
            block.norm = vector(dim, .5, 1.5);
            block.enter = matrix(2 * inner, dim);
            block.window = vector(window * inner, -1, 1);
            block.bias = vector(inner, -.2, .2);
            block.select = matrix(rank + 2 * states, inner);
            block.step = matrix(inner, rank);
            block.step_bias = vector(inner, -4, 1);
            block.decay = vector(states * inner, -3, -.1);
            block.skip = vector(inner, .5, 1.5);
            block.leave = matrix(dim, inner);
            blocks_.push_back(block);
        }
        norm_ = vector(dim, .5, 1.5);
    }

    const std::string& file() const { return file_; }
    std::shared_ptr<const StateSpaceWeights> weights() const {
        return StateSpaceWeights::load(TemporaryFile(file_).path());
    }

    /// The logits after each token of a text.
    std::vector<Numbers> logits(const std::vector<Token>& text) const {
        std::vector<Numbers> stream, result;
        for (const Token token : text) {
            Numbers x;
            for (Index k = 0; k < dim; ++k) x.push_back(embedding_(token, k));
            stream.push_back(x);
        }
        for (const Block& block : blocks_) apply(block, stream);
        for (const Numbers& x : stream) result.push_back(times(embedding_, normalised(x, norm_)));
        return result;
    }

  private:
    using Matrix = testing::Matrix;
    struct Block {
        Numbers norm;
        Matrix enter;
        Numbers window, bias;
        Matrix select, step;
        Numbers step_bias, decay, skip;
        Matrix leave;
    };

    Matrix matrix(Index rows, Index columns) {
        Matrix m = random_matrix(rows, columns, uniform_);
        append(file_, m.quantised), append(file_, m.scales);
        return m;
    }
    Numbers vector(Index size, double low, double high) {
        std::vector<float> numbers;
        for (Index i = 0; i < size; ++i) numbers.push_back(static_cast<float>(low + (high - low) * uniform_()));
        append(file_, numbers);
        return {numbers.begin(), numbers.end()};
    }

    static double silu(double x) { return x / (1 + std::exp(-x)); }
    static Numbers times(const Matrix& m, const Numbers& x) {
        Numbers y(static_cast<std::size_t>(m.rows));
        for (Index r = 0; r < m.rows; ++r)
            for (Index k = 0; k < m.columns; ++k)
                y[static_cast<std::size_t>(r)] += m(r, k) * x[static_cast<std::size_t>(k)];
        return y;
    }
    static Numbers normalised(const Numbers& x, const Numbers& weights) {
        double squares = 0;
        for (const double number : x) squares += number * number;
        Numbers y;
        for (std::size_t k = 0; k < x.size(); ++k)
            y.push_back(x[k] * weights[k] / std::sqrt(squares / static_cast<double>(x.size()) + 1e-5));
        return y;
    }

    /// Adds a block's outputs to the stream of all positions.
    static void apply(const Block& block, std::vector<Numbers>& stream) {
        std::vector<Numbers> entered;
        for (const Numbers& x : stream) entered.push_back(times(block.enter, normalised(x, block.norm)));
        Numbers s(states * inner);
        for (std::size_t t = 0; t < stream.size(); ++t) {
            Numbers u, y;
            for (std::size_t c = 0; c < inner; ++c) {
                double sum = block.bias[c];
                for (std::size_t k = 0; k < window; ++k)
                    if (t + k + 1 >= window) sum += block.window[k * inner + c] * entered[t + k + 1 - window][c];
                u.push_back(silu(sum));
            }
            const Numbers selected = times(block.select, u);
            const Numbers step = times(block.step, {selected.begin(), selected.begin() + rank});
            for (std::size_t c = 0; c < inner; ++c) {
                const double width = std::log1p(std::exp(step[c] + block.step_bias[c]));
                y.push_back(block.skip[c] * u[c]);
                for (std::size_t n = 0; n < states; ++n) {
                    double& number = s[n * inner + c];
                    number = std::exp(width * block.decay[n * inner + c]) * number + width * u[c] * selected[rank + n];
                    y[c] += number * selected[rank + states + n];
                }
                y[c] *= silu(entered[t][inner + c]);
            }
            const Numbers out = times(block.leave, y);
            for (std::size_t k = 0; k < dim; ++k) stream[t][k] += out[k];
        }
    }

    testing::Uniform uniform_;
    std::string file_;
    Matrix embedding_{};
    std::vector<Block> blocks_;
    Numbers norm_;
};

RowMatrix read_all(StateSpace& model, std::span<const Token> text) {
    StateSpace::State unused;
    return model.read(text, std::ssize(text), -1, unused);
}

}  // namespace

TEST_CASE("the logits of a state-space model are those of its definition") {
    for (const unsigned seed : {1u, 2u}) {
        const Toy toy(seed);
        const auto text = random_tokens(45, Toy::vocab, seed);
        const auto expected = toy.logits(text);
        StateSpace model(toy.weights());
        const RowMatrix found = read_all(model, text);
        double worst = 0;
        for (Index t = 0; t < std::ssize(text); ++t)
            for (Index id = 0; id < Toy::vocab; ++id)
                worst = std::max(worst, std::abs(found(t, id) -
                                                 expected[static_cast<std::size_t>(t)][static_cast<std::size_t>(id)]));
        CHECK(worst < 2e-5);
    }
}

TEST_CASE("a text has the same logits, to the bit, in calls of any length and after a state is restored") {
    const Toy toy(3);
    const auto text = random_tokens(40, Toy::vocab, 3);
    StateSpace whole(toy.weights());
    const RowMatrix expected = read_all(whole, text);
    for (const std::size_t length : {1u, 3u, 16u, 17u}) {
        StateSpace model(toy.weights());
        StateSpace::State copy;
        for (std::size_t begin = 0; begin < text.size(); begin += length) {
            const auto part = std::span(text).subspan(begin, std::min(length, text.size() - begin));
            const Index sure = std::ssize(part) / 2, n = std::ssize(part);
            CHECK(same_bits(model.read(part, n, sure, copy), expected.middleRows(static_cast<Index>(begin), n)));
            // Read on from the copy, after other tokens: as if they had not been there.
            read_all(model, random_tokens(5, Toy::vocab, 9));
            model.restore(copy);
            const auto rest = part.subspan(static_cast<std::size_t>(sure));
            CHECK(same_bits(read_all(model, rest),
                            expected.middleRows(static_cast<Index>(begin) + sure, std::ssize(rest))));
        }
        model.restore({});
        CHECK(same_bits(read_all(model, text), expected));
    }
    StateSpace::State copy;
    whole.restore({});
    const RowMatrix from_nothing = whole.read(std::span(text).first(2), 3, 0, copy);
    CHECK(from_nothing.row(0).isZero(0));
    CHECK(same_bits(from_nothing.bottomRows(2), expected.topRows(2)));
}

TEST_CASE("a state-space target and draft write the text of plain decoding") {
    using namespace specsample;
    const Toy of_target(4), of_draft(5);
    const auto model = [](const Toy& toy, Index states) {
        return shaped(from_logits(recurrent::Rewound(StateSpace(toy.weights()), states)),
                      SamplingParams{.temperature = .7});
    };
    const std::vector<Token> prompt{1, 2, 3};
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        Sampler plain(model(of_draft, 6), model(of_target, 2), {.lookahead = 0, .seed = seed}, GumbelMatch{});
        Sampler chain(model(of_draft, 6), model(of_target, 2), {.lookahead = 4, .seed = seed}, GumbelMatch{});
        CHECK(chain.generate(prompt, {.max_new_tokens = 60}).tokens ==
              plain.generate(prompt, {.max_new_tokens = 60}).tokens);
    }
}

TEST_CASE("a state-space model refuses damaged files, and tokens that it does not have") {
    const Toy toy(6);
    CHECK_THROWS_AS(StateSpaceWeights::load(TemporaryFile(toy.file().substr(0, 3000)).path()), std::runtime_error);
    CHECK_THROWS_AS(StateSpaceWeights::load(TemporaryFile(toy.file() + "x").path()), std::runtime_error);
    CHECK_THROWS_AS(StateSpaceWeights::load(TemporaryFile("MTP8" + toy.file().substr(4)).path()), std::runtime_error);
    std::string empty = toy.file();
    testing::overwrite(empty, 4, std::int32_t{0});
    CHECK_THROWS_AS(StateSpaceWeights::load(TemporaryFile(empty).path()), std::runtime_error);

    StateSpace model(toy.weights());
    const std::vector<Token> text{1, 2};
    const RowMatrix before = read_all(model, text);
    model.restore({});
    CHECK_THROWS_AS(read_all(model, std::vector<Token>{1, Toy::vocab}), std::invalid_argument);
    CHECK(same_bits(read_all(model, text), before));
}

TEST_CASE("the shipped state-space draft predicts the shipped target") {
    const std::filesystem::path models = SPECSAMPLE_MODELS_DIR;
    StateSpace draft(StateSpaceWeights::load(models / "draft_ssm_int8.bin"));
    Model target(Weights::load(models / "target_1.8M_int8.bin"));
    const Tokenizer tokenizer = Tokenizer::load(models / "bpe2048.merges.u16", target.vocab());
    std::vector<Token> text = tokenizer.encode(
        "The old man walked slowly down to the harbour. \"It will rain before the evening,\" he said to the boy, and "
        "looked at the sea for a long time.");
    text.insert(text.begin(), tokenizer.begin());
    const RowMatrix q = read_all(draft, text);
    const Logits p = target.forward(text);
    double accepted = 0;
    for (Index t = 0; t < std::ssize(text); ++t) {
        const auto probs = [&](const auto& logits) {
            const Eigen::ArrayXf weights = (logits.row(t).array() - logits.row(t).maxCoeff()).exp();
            return Eigen::ArrayXf(weights / weights.sum());
        };
        accepted += static_cast<double>(probs(q).min(probs(p)).sum()) / static_cast<double>(text.size());
    }
    CHECK(accepted > .5);
}
