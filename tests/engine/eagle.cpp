// The drafter on a target's states: against its definition in double precision, and against itself after rounds that
// accept some of a draft, all of it or none.
#include "engine/eagle.hpp"

#include <cmath>
#include <memory>

#include "engine/checkpoints.hpp"
#include "engine/weights.hpp"
#include "generate/heads_models.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::append;
using testing::group_config;
using testing::Matrix;
using testing::same_bits;

namespace {

using Doubles = std::vector<double>;

/// A small drafter for models of group_config.
struct Drafter {
    static constexpr Index dim = group_config.dim, hidden = 64, kv = group_config.kv_dim();
    std::vector<std::int32_t> ids{3, 36, 0, 17, 5, 6, 20, 21, 9, 11};
    std::vector<Matrix> norms, matrices;
    int bits;
    std::string file = "SPQD";

    explicit Drafter(unsigned seed, int its_bits = 4) : bits(its_bits) {
        testing::Uniform uniform(seed);
        for (const auto& [rows, columns] : std::vector<std::pair<Index, Index>>{
                 {dim, 2 * dim}, {dim + 2 * kv, dim}, {dim, dim}, {2 * hidden, dim}, {dim, hidden}, {dim, 2 * dim}})
            matrices.push_back(testing::random_matrix(rows, columns, uniform));
        for (int i = 0; i < 7; ++i) {
            norms.push_back({1, dim, {}, {}, {}});
            for (Index k = 0; k < dim; ++k) norms.back().values.push_back(static_cast<float>(0.5 + uniform()));
        }
        std::vector<std::int32_t> header{2};
        for (const Index n : {dim, hidden, group_config.heads, group_config.kv_heads, group_config.vocab,
                              std::ssize(ids), group_config.context})
            header.push_back(static_cast<std::int32_t>(n));
        append(file, header);
        append(file, std::vector<float>{group_config.rms_epsilon, group_config.rope_theta});
        append(file, ids);
        write_norm(0);
        write_norm(1);
        write_matrix(0);
        write_norm(5);
        write_norm(6);
        write_matrix(5);
        write_norm(2);
        write_matrix(1);
        write_matrix(2);
        write_norm(3);
        write_matrix(3);
        write_matrix(4);
        write_norm(4);
    }

    void write_norm(std::size_t i) { append(file, norms[i].values); }
    void write_matrix(std::size_t i) {
        const testing::Codes codes = round_to_codes(matrices[i], bits);
        append(file, std::vector<std::int32_t>{bits});
        append(file, codes.codes);
        append(file, codes.scales);
        append(file, codes.minima);
    }

    Eagle load(const std::shared_ptr<Model>& target) const {
        return Eagle::load(testing::TemporaryFile(file).path(), target);
    }
};

std::shared_ptr<const Weights> target_weights() {
    return testing::loaded(testing::ReferenceModel(group_config, true, 11).groups_file(8));
}

Doubles times(const Matrix& matrix, const Doubles& x) {
    Doubles y(static_cast<std::size_t>(matrix.rows), 0.0);
    for (Index r = 0; r < matrix.rows; ++r)
        for (Index k = 0; k < matrix.columns; ++k)
            y[static_cast<std::size_t>(r)] += matrix(r, k) * x[static_cast<std::size_t>(k)];
    return y;
}

Doubles normed(const Doubles& x, const Matrix& weights) {
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
    Doubles y;
    for (std::size_t i = 0; i < x.size(); ++i) y.push_back(x[i] * scale * weights.values[i]);
    return y;
}

void rotate(double* head, Index position) {
    constexpr Index size = group_config.head_size();
    for (Index i = 0; i < size; i += 2) {
        const double angle =
            static_cast<double>(position) * std::pow(1e5, -static_cast<double>(i) / static_cast<double>(size));
        const double a = head[i], b = head[i + 1];
        head[i] = a * std::cos(angle) - b * std::sin(angle);
        head[i + 1] = a * std::sin(angle) + b * std::cos(angle);
    }
}

/// g after a text of which the target's states are used up to `known` tokens, by the definition.
Doubles defined_state(const Drafter& d, Model& target, const std::vector<Token>& text, std::size_t known) {
    constexpr Index size = group_config.head_size(), heads = group_config.heads, kv_heads = group_config.kv_heads;
    std::vector<Doubles> keys, values;
    Doubles g;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        Doubles state = g;
        if (i < known) {
            const ConstVector own = target.state(std::span(text).first(i + 1));
            state.assign(own.begin(), own.end());
        }
        Eigen::ArrayXf embedded(group_config.dim);
        target.weights()->embedding.copy_row(text[i + 1], embedded.data());
        Doubles pair = normed(state, d.norms[0]);
        const Doubles token = normed(Doubles(embedded.begin(), embedded.end()), d.norms[1]);
        pair.insert(pair.end(), token.begin(), token.end());
        Doubles x = times(d.matrices[0], pair);
        if (i < known) {
            Doubles middle;
            for (const Index which : {0, 1}) {
                const ConstVector own = target.state(std::span(text).first(i + 1), which);
                const Doubles part =
                    normed(Doubles(own.begin(), own.end()), d.norms[static_cast<std::size_t>(5 + which)]);
                middle.insert(middle.end(), part.begin(), part.end());
            }
            const Doubles update = times(d.matrices[5], middle);
            for (std::size_t k = 0; k < x.size(); ++k) x[k] += update[k];
        }
        Doubles qkv = times(d.matrices[1], normed(x, d.norms[2]));
        for (Index head = 0; head < heads + kv_heads; ++head)
            rotate(&qkv[static_cast<std::size_t>(head * size)], static_cast<Index>(i));
        keys.emplace_back(qkv.begin() + Drafter::dim, qkv.begin() + Drafter::dim + Drafter::kv);
        values.emplace_back(qkv.end() - Drafter::kv, qkv.end());
        Doubles mixed(static_cast<std::size_t>(Drafter::dim), 0.0);
        for (Index head = 0; head < heads; ++head) {
            const auto own = static_cast<std::size_t>(head * size);
            const auto shared = static_cast<std::size_t>(head / (heads / kv_heads) * size);
            double total = 0;
            Doubles sum(static_cast<std::size_t>(size), 0.0);
            for (std::size_t t = 0; t < keys.size(); ++t) {
                double score = 0;
                for (std::size_t k = 0; k < static_cast<std::size_t>(size); ++k)
                    score += qkv[own + k] * keys[t][shared + k];
                const double weight = std::exp(score / std::sqrt(static_cast<double>(size)));
                total += weight;
                for (std::size_t k = 0; k < static_cast<std::size_t>(size); ++k)
                    sum[k] += weight * values[t][shared + k];
            }
            for (std::size_t k = 0; k < static_cast<std::size_t>(size); ++k) mixed[own + k] = sum[k] / total;
        }
        const Doubles attended = times(d.matrices[2], mixed);
        for (std::size_t k = 0; k < x.size(); ++k) x[k] += attended[k];
        const Doubles gate_up = times(d.matrices[3], normed(x, d.norms[3]));
        Doubles active;
        for (std::size_t k = 0; k < static_cast<std::size_t>(Drafter::hidden); ++k)
            active.push_back(gate_up[k] / (1 + std::exp(-gate_up[k])) *
                             gate_up[k + static_cast<std::size_t>(Drafter::hidden)]);
        const Doubles update = times(d.matrices[4], active);
        for (std::size_t k = 0; k < x.size(); ++k) x[k] += update[k];
        g = normed(x, d.norms[4]);
    }
    return g;
}

}  // namespace

TEST_CASE("eagle: logits are near the definition's, behind a text and along a draft") {
    const Drafter drafter(1, GENERATE(4, 8));
    const auto target = std::make_shared<Model>(target_weights());
    Eagle eagle = drafter.load(target);
    const std::vector<Token> text = testing::random_tokens(24, group_config.vocab, 2);
    for (const std::size_t known : {20u, 22u, 24u}) {  // tokens that the round begins with
        eagle.begin(std::span(text).first(known));
        const Logits logits = eagle(text);
        const Doubles state = defined_state(drafter, *target, text, known - 1);
        double error = 0, size = 0;
        Eigen::ArrayXf row(group_config.dim);
        for (Index id = 0; id < group_config.vocab; ++id) {
            const bool is_frequent = std::ranges::count(drafter.ids, static_cast<std::int32_t>(id)) > 0;
            if (!is_frequent && std::ranges::count(std::span(text).first(known), static_cast<Token>(id)) == 0) {
                CHECK(logits(0, id) == -INFINITY);
                continue;
            }
            target->weights()->embedding.copy_row(id, row.data());
            double expected = 0;
            for (Index k = 0; k < group_config.dim; ++k) expected += row(k) * state[static_cast<std::size_t>(k)];
            error += (logits(0, id) - expected) * (logits(0, id) - expected);
            size += expected * expected;
        }
        CAPTURE(known);
        CHECK(std::sqrt(error / size) < 0.04);  // activations of 8 bits
        const Eigen::ArrayXd powers = (logits.row(0).array().cast<double>() - logits.maxCoeff()).exp();
        CHECK(eagle.confidence() == Approx(powers.maxCoeff() / powers.sum()));
    }
}

TEST_CASE("eagle: a draft can have the most frequent ids and those of the text that it begins behind") {
    const Drafter drafter(8);
    Eagle eagle = drafter.load(std::make_shared<Model>(target_weights()));
    const auto drafted = [&](std::initializer_list<Token> text, std::initializer_list<Token> draft) {
        eagle.begin(text);
        std::vector<Token> prefix(text);
        prefix.insert(prefix.end(), draft);
        const Logits logits = eagle(prefix);
        std::vector<Token> more;  // than the most frequent ids
        for (Index id = 0; id < group_config.vocab; ++id) {
            const bool is_frequent = std::ranges::count(drafter.ids, static_cast<std::int32_t>(id)) > 0;
            CHECK((!is_frequent || std::isfinite(logits(0, id))));
            if (!is_frequent && logits(0, id) != -INFINITY) more.push_back(static_cast<Token>(id));
        }
        return more;
    };
    CHECK(drafted({1}, {}) == std::vector<Token>{1});
    CHECK(drafted({1, 3, 30, 1}, {}) == std::vector<Token>{1, 30});
    CHECK(drafted({1, 3, 30, 1, 8}, {33, 5}) == std::vector<Token>{1, 8, 30});
    CHECK(drafted({1, 3, 30, 4}, {}) == std::vector<Token>{1, 4, 30});  // another text
    CHECK(drafted({1, 3}, {}) == std::vector<Token>{1});
    CHECK(drafted({2}, {}) == std::vector<Token>{2});
    CHECK(drafted({4}, {}) == std::vector<Token>{4});
    CHECK_THROWS(eagle.begin(std::vector<Token>{4, 7, 37}));
    CHECK(drafted({4, 3}, {}) == std::vector<Token>{4});
    CHECK(drafted({1, 3, 30}, {1}) == std::vector<Token>{1, 30});
}

TEST_CASE("eagle: a draft has the bits of a fresh drafter's, whatever was drafted and accepted before") {
    const Drafter drafter(3);
    const auto weights = target_weights();
    const auto target = std::make_shared<Model>(weights, nullptr, std::make_shared<Team>(2));
    Eagle eagle = drafter.load(target);
    testing::Uniform uniform(4);
    std::vector<Token> text{1};
    for (int round = 0; round < 40 && std::ssize(text) + 6 < group_config.context; ++round) {
        eagle.begin(text);
        Eagle fresh = drafter.load(std::make_shared<Model>(weights));
        fresh.begin(text);
        // A tree: both children of the text, and a chain behind one of them.
        for (const std::vector<Token>& path :
             {std::vector<Token>{}, {5}, {7}, {5, 9}, {5, 9, 2}, {7, 9}, {5, 9, 2, 2}}) {
            std::vector<Token> prefix = text;
            prefix.insert(prefix.end(), path.begin(), path.end());
            const RowMatrix row = eagle(prefix);
            CAPTURE(round, path.size());
            CHECK(same_bits(row, fresh(prefix)));
        }
        if (uniform() < 0.1) {
            text.resize(1);  // another request
        } else {
            for (const Token token : {5, 9, 2})
                if (uniform() < 0.6) text.push_back(token);
            text.push_back(uniform.below(group_config.vocab));
        }
    }
}

TEST_CASE("eagle: a chain is as likely as its rows are sure, and a round begins anew") {
    const Drafter drafter(6);
    const auto target = std::make_shared<Model>(target_weights());
    Eagle alone = drafter.load(target);
    TargetEagle model(drafter.load(target), RowShaper(0, 1));  // shaped to one token, which is not to count
    std::vector<Token> text = testing::random_tokens(9, group_config.vocab, 7);
    for (int round = 0; round < 2; ++round) {
        alone.begin(text);
        model.begin(text);
        CHECK(model.likelihood() == 1);
        std::vector<Token> prefix = text;
        double expected = 1;
        for (const Token token : {5, 9, 2}) {
            alone(prefix);
            model(prefix);
            expected *= alone.confidence();
            CHECK(model.likelihood() == Approx(expected));
            prefix.push_back(token);
        }
        CHECK(expected < .5);
        text.push_back(3);
    }
}

TEST_CASE("eagle: as a model its rows are all its logits, shaped, and its beliefs the softmax of the drafted ones") {
    const auto [temperature, top_p] = GENERATE(std::pair(1.0, 1.0), std::pair(.7, 1.0), std::pair(.8, .6));
    const Drafter drafter(6);
    const auto target = std::make_shared<Model>(target_weights());
    Eagle alone = drafter.load(target);
    RowShaper shaper(temperature, top_p);
    TargetEagle model(drafter.load(target), shaper);
    const std::vector<Token> text = testing::random_tokens(9, group_config.vocab, 7);
    alone.begin(text);
    model.begin(text);
    const Eigen::VectorXf logits = alone(text).row(0);
    CHECK(model(text).isApprox(shaper(logits, text), 1e-6f));
    const Eigen::VectorXf expected = specsample::kernels::softmax(logits);
    const Beliefs beliefs = model.beliefs(text);
    REQUIRE(std::ssize(beliefs.ids) == beliefs.probabilities.size());
    CHECK(beliefs.probabilities.size() < group_config.vocab);
    for (Index id = 0; id < group_config.vocab; ++id) CHECK(beliefs.of(id) == Approx(expected[id]).margin(1e-7));
}

TEST_CASE("eagle: a prompt that was read before the first round is not read again, and costs no draft") {
    const auto target = std::make_shared<Model>(target_weights());
    const std::vector<Token> text{1, 5, 9, 13, 17, 21};
    target->score(text, 1);
    const Drafter drafter(3);
    TargetEagle model(drafter.load(target), RowShaper(1, 1)), fresh(drafter.load(target), RowShaper(1, 1));
    fresh.begin(text);
    const Eigen::VectorXf expected = fresh(text);
    model.prefill(text);
    CHECK(model.passes() == 0);
    target->truncate(1);
    model.begin(text);
    CHECK(target->length() == 1);  // the target was not asked for states
    CHECK(model(text) == expected);
    model.prefill(std::vector<Token>(static_cast<std::size_t>(model.context()) + 1, 1));  // longer than it can read
    model.prefill({});
}

TEST_CASE("eagle: wrong calls are refused in a sentence") {
    const auto target = std::make_shared<Model>(target_weights());
    Eagle eagle = Drafter(5).load(target);
    CHECK_THROWS_WITH(eagle.begin({}), "Eagle: the text has 0 tokens, but must have 1 to 70");
    for (const Token token : {-1, 37}) {
        CHECK_THROWS_WITH(eagle.begin(std::vector<Token>{1, 2, token}),
                          "Eagle: token " + std::to_string(token) + " is outside the vocabulary of 37");
    }
    const std::vector<Token> text{1, 2, 3}, other{1, 4, 3, 2};
    eagle.begin(text);
    CHECK_THROWS_WITH(eagle(other), "Eagle: the prefix does not continue the text");
    CHECK_THROWS_WITH(eagle(std::vector<Token>(71, 1)), "Eagle: the text has 71 tokens, but must have 1 to 70");
    CHECK(std::isfinite(eagle(text)(0, 3)));
}

TEST_CASE("eagle: files that are damaged or for another target are refused by name") {
    const Drafter drafter(6);
    const auto target = std::make_shared<Model>(target_weights());
    const auto refused = [&](const std::string& content, const std::string& reason) {
        const testing::TemporaryFile file(content);
        CHECK_THROWS_WITH(Eagle::load(file.path(), target),
                          ContainsSubstring(file.path().string()) && ContainsSubstring(reason));
    };
    for (std::size_t size = 0; size < drafter.file.size(); size += 97)
        refused(drafter.file.substr(0, size), "too early");
    refused(drafter.file + "x", "but ends after");
    const auto with = [&](std::size_t field, std::int32_t value) {
        std::string file = drafter.file;
        testing::overwrite(file, 4 * field, value);
        return file;
    };
    refused(with(0, 0), "holds no drafter for states");
    refused(with(1, 1), "has version 1, but must have 2");
    refused(with(2, 64), "is for a target with dim 64, but this target has 96");
    refused(with(4, 3), "is for a target with heads 3, but this target has 6");
    refused(with(6, 38), "is for a target with vocabulary 38, but this target has 37");
    for (const std::int32_t ids : {0, -1, 38, 1 << 30}) refused(with(7, ids), "impossible header");
    for (const std::int32_t hidden : {0, -32, 33}) refused(with(3, hidden), "impossible header");
    refused(with(3, 1 << 30), "too early");
    for (const std::int32_t bits : {0x7f800000, 0, -1})  // infinity, 0, NaN: epsilon and theta
        for (const std::size_t field : {9u, 10u}) refused(with(field, bits), "impossible header");
    refused(with(11, 37), "ids outside the vocabulary");
    refused(with(11, 36), "an id twice");
}
