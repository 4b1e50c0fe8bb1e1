// from_logits(model): turns a model of logits of any kind into a model of probabilities.
#include <specsample/shaping/from_logits.hpp>

#include <specsample/sampler.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;

namespace {

using Prefix = std::span<const Token>;
const std::vector<Token> prefix{1, 2};

Eigen::VectorXd plain() { return Eigen::Vector3d(1, 2, 0); }

struct Both {
    Index length = -1;

    Eigen::VectorXd operator()(Prefix) const { return plain(); }
    RowMajorMatrix<double> operator()(Prefix, Index n) const { return plain().transpose().replicate(n, 1); }
    void rollback(Index to) { length = to; }
};
struct TakesVector {
    std::vector<float> operator()(const std::vector<Token>&) const { return {1, 2, 0}; }
    std::vector<std::vector<float>> operator()(const std::vector<Token>& text, Index n) const {
        return std::vector<std::vector<float>>(static_cast<std::size_t>(n), (*this)(text));
    }
};

}  // namespace

TEST_CASE("the rows of a model of logits are probabilities at a temperature", "[shaping]") {
    for (const double temperature : {0., .5, 1., 3.}) {
        const auto expected = softmax_of(plain(), temperature);
        auto model = from_logits(Both{}, temperature);
        CHECK(distance(probs_by_id(model(Prefix(prefix))), expected) < 1e-15);
        const auto rows = model(Prefix(prefix), 2);
        CHECK(rows.size() == 2);
        CHECK(distance(probs_by_id(rows[1]), expected) < 1e-15);
        auto takes_vector = from_logits(TakesVector{}, temperature);
        CHECK(distance(probs_by_id(takes_vector(prefix)), expected) < 1e-6);
        const auto of_vector = takes_vector(prefix, 2);
        CHECK(distance(probs_by_id(of_vector[0]), expected) < 1e-6);
    }
}

TEST_CASE("logits of every type that a model may return are taken", "[shaping]") {
    static const Eigen::VectorXf owned = plain().cast<float>();
    static const std::vector<float> vector{1, 2, 0};
    const auto check = [](auto model) {
        auto wrapped = from_logits(model);
        CHECK(RowModel<decltype(wrapped)>);
        CHECK(distance(probs_by_id(wrapped(Prefix(prefix))), softmax_of(plain())) < 1e-6);
    };
    check([](Prefix) { return owned; });
    check([](Prefix) -> const Eigen::VectorXf& { return owned; });
    check([](Prefix) -> const std::vector<float>& { return vector; });
    check([](Prefix) { return Eigen::Map<const Eigen::VectorXf>(owned.data(), 3); });
    check([](Prefix) { return std::span<const float>(owned.data(), 3); });
    check([](Prefix) { return std::array<float, 3>{1, 2, 0}; });
    check([](Prefix) { return Eigen::RowVector3d(1, 2, 0); });
}

TEST_CASE("from_logits has the abilities of its model, and no others", "[shaping]") {
    const auto one = [](Prefix) { return plain(); };
    CHECK(RowModel<decltype(from_logits(Both{}))>);
    CHECK(BatchModel<decltype(from_logits(Both{}))>);
    CHECK(Rewindable<decltype(from_logits(Both{}))>);
    CHECK(RowModel<decltype(from_logits(one))>);
    CHECK_FALSE(BatchModel<decltype(from_logits(one))>);
    CHECK_FALSE(Rewindable<decltype(from_logits(one))>);
    Both model;
    from_logits(std::ref(model)).rollback(5);
    CHECK(model.length == 5);
}

TEST_CASE("a sampler writes from logits", "[shaping]") {
    Sampler sampler(from_logits(Both{}), from_logits(Both{}, .5), {.lookahead = 3, .seed = 1});
    std::vector<Token> text{1};
    (void)sampler.extend(text, {.max_new_tokens = 2000});
    const auto share = static_cast<double>(std::count(text.begin() + 1, text.end(), 1)) / 2000;
    CHECK(share == Approx(softmax_of(plain(), .5)[1]).margin(.05));
}

TEST_CASE("a temperature out of range is refused", "[shaping]") {
    CHECK_THROWS_WITH(from_logits(Both{}, -1),
                      "specsample::from_logits: temperature is -1, but must be a finite number >= 0");
    CHECK_THROWS_AS(from_logits(Both{}, infinity), std::invalid_argument);
}
