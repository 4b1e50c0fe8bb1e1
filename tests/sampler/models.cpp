// The types of models: lambdas, functions, objects by value and by reference, and their prefix parameters.
#include <functional>
#include <memory>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

const ContextModel small(6, 11), large(6, 12);
const std::vector<Token> prompt{1, 2};
constexpr Options options{.lookahead = 3, .seed = 9};

template <class Draft, class Target>
std::vector<Token> text_of(Sampler<Draft, Target> sampler) {
    return sampler.generate(prompt, {.max_new_tokens = 40});
}

/// The text that every way of passing the same two models must write.
std::vector<Token> expected() { return text_of(Sampler(small, large, options)); }

Eigen::VectorXd draft_function(std::span<const Token> prefix) { return small(prefix); }
RowMajorMatrix<double> target_function(std::span<const Token> prefix, Index n) { return large(prefix, n); }

/// Counts its calls.
struct Counted {
    ContextModel model;
    long calls = 0;

    Eigen::VectorXd operator()(std::span<const Token> prefix) {
        ++calls;
        return model(prefix);
    }
};

struct Interface {
    virtual ~Interface() = default;
    virtual Eigen::VectorXd operator()(std::span<const Token> prefix) = 0;
};
struct Implementation final : Interface {
    Eigen::VectorXd operator()(std::span<const Token> prefix) override { return large(prefix); }
};

struct MoveOnly {
    std::unique_ptr<ContextModel> model;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const { return (*model)(prefix); }
};

/// Has both call operators; the single-row one would write another text.
struct BothForms {
    Eigen::VectorXd operator()(std::span<const Token>) const { return one_hot<double>(6, 0); }
    RowMajorMatrix<double> operator()(std::span<const Token> prefix, Index n) const { return large(prefix, n); }
};

/// The likeliest token, as the id type of some engine.
template <class Id>
struct Greedy {
    Id operator()(std::span<const Token> prefix) const { return static_cast<Id>(argmax(small(prefix))); }
};

}  // namespace

TEST_CASE("a sampler is deduced from two lambdas") {
    const auto draft = [](std::span<const Token> prefix) { return small(prefix); };
    const auto target = [](std::span<const Token> prefix, Index n) { return large(prefix, n); };
    Sampler sampler(draft, target, {.lookahead = 3, .seed = 9});
    const std::vector<Token> text = sampler.generate(prompt, {.max_new_tokens = 40});
    CHECK(text == expected());
}

TEST_CASE("functions are models, by name, by address and by reference") {
    CHECK(text_of(Sampler(draft_function, target_function, options)) == expected());
    CHECK(text_of(Sampler(&draft_function, &target_function, options)) == expected());
    CHECK(text_of(Sampler(std::ref(draft_function), std::ref(target_function), options)) == expected());
}

TEST_CASE("std::function models write the same text") {
    std::function<Eigen::VectorXd(std::span<const Token>)> draft = small;
    std::function<RowMajorMatrix<double>(std::span<const Token>, Index)> target = target_function;
    CHECK(text_of(Sampler(draft, target, options)) == expected());
}

TEST_CASE("a model passed by value is a copy") {
    Counted draft{small}, target{large};
    CHECK(text_of(Sampler(draft, target, options)) == expected());
    CHECK(draft.calls == 0);
    CHECK(target.calls == 0);
}

TEST_CASE("a model passed by std::ref shares its state with the caller") {
    Counted draft{small}, target{large};
    Sampler sampler(std::ref(draft), std::ref(target), options);
    const Generation made = sampler.generate(prompt, {.max_new_tokens = 40});
    CHECK(made.tokens == expected());
    CHECK(draft.calls == made.tally.proposed);
    CHECK(target.calls > 0);
}

TEST_CASE("a lambda may change its own state") {
    const auto draft = [calls = 0](std::span<const Token> prefix) mutable -> Eigen::VectorXd {
        if (++calls > 5) return one_hot<double>(6, 0);
        return small(prefix);
    };
    const auto text = text_of(Sampler(draft, large, options));
    CHECK(std::equal(text.begin(), text.begin() + 2, expected().begin()));
    CHECK(text != expected());
}

TEST_CASE("a model may be known by an abstract base class") {
    Implementation target;
    CHECK(text_of(Sampler(small, std::ref<Interface>(target), options)) == expected());
}

TEST_CASE("a model may be movable only") {
    Sampler sampler(MoveOnly{std::make_unique<ContextModel>(small)}, MoveOnly{std::make_unique<ContextModel>(large)},
                    options);
    CHECK(sampler.generate(prompt, {.max_new_tokens = 40}).tokens == expected());
}

TEST_CASE("a prefix may be taken as a const vector") {
    const auto draft = [](const std::vector<Token>& prefix) { return small(prefix); };
    const auto target = [](const std::vector<Token>& prefix) { return large(prefix); };
    const auto many = [](const std::vector<Token>& prefix, Index n) { return large(prefix, n); };
    CHECK(text_of(Sampler(draft, target, options)) == expected());
    CHECK(text_of(Sampler(draft, many, options)) == expected());
}

TEST_CASE("a generic lambda is given the prefix as a span") {
    const auto draft = [](const auto& prefix) {
        static_assert(std::is_same_v<std::remove_cvref_t<decltype(prefix)>, std::span<const Token>>);
        return small(prefix);
    };
    CHECK(text_of(Sampler(draft, large, options)) == expected());
}

TEST_CASE("a target that scores many positions is never asked for one") {
    CHECK(text_of(Sampler(small, BothForms{}, options)) == expected());
}

TEST_CASE("the rule may be named") {
    Sampler sampler(small, large, options, TokenVerification{});
    CHECK(sampler.generate(prompt, {.max_new_tokens = 40}).tokens == expected());
}

TEST_CASE("options may be left out") {
    Sampler sampler(small, large);
    CHECK(sampler.generate(prompt).tokens ==
          Sampler(small, large, {.lookahead = 4, .seed = 0}).generate(prompt).tokens);
}

TEMPLATE_TEST_CASE("a drafter may name its token in any integral type", "", short, std::uint16_t, std::int64_t) {
    CHECK(text_of(Sampler(Greedy<TestType>{}, large, options)) == text_of(Sampler(Greedy<Token>{}, large, options)));
}

TEST_CASE("a const model can be shared by reference", "[core]") {
    const auto model = [](std::span<const Token>) { return std::vector<float>{1, 0}; };
    auto shared = std::ref(model);
    CHECK(detail::ask(shared, std::vector<Token>{1}).size() == 2);
    Sampler sampler(std::ref(model), std::ref(model));
    CHECK(sampler.generate({1}, {.max_new_tokens = 2}).tokens == std::vector<Token>{0, 0});
}
