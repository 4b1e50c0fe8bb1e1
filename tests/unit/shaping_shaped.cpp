// shaped(model, pipeline): a model with the same abilities, whose rows went through the pipeline.
#include <specsample/shaping/shaped.hpp>

#include <limits>

#include <specsample/sampler.hpp>
#include <specsample/shaping/from_logits.hpp>
#include <specsample/shaping/sampling_params.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::kernels;
using namespace specsample::filters;

namespace {

using Prefix = std::span<const Token>;
const std::vector<Token> prefix{1, 2};

/// Shapes .5, .3, .2 to 5/8, 3/8, 0.
const Pipeline nucleus{TopP{.8}};

Eigen::VectorXd plain_row() { return Eigen::Vector3d(.5, .3, .2); }

bool is_shaped(const auto& row) {
    const auto view = detail::as_row(row);
    return view.size() == 3 && std::abs(static_cast<double>(view[0]) - 5. / 8) < 1e-6 &&
           std::abs(static_cast<double>(view[1]) - 3. / 8) < 1e-6 && view[2] == 0;
}

struct One {
    Eigen::VectorXd operator()(Prefix) const { return plain_row(); }
};
struct Many {
    RowMajorMatrix<double> operator()(Prefix, Index n) const { return plain_row().transpose().replicate(n, 1); }
};
struct Both : One, Many {
    using One::operator();
    using Many::operator();
};
struct Cached : Both {
    Index length = -1;
    void rollback(Index to) { length = to; }
};
struct TakesVector {
    std::vector<float> operator()(const std::vector<Token>&) const { return {.5f, .3f, .2f}; }
    std::vector<std::vector<float>> operator()(const std::vector<Token>& text, Index n) const {
        return std::vector<std::vector<float>>(static_cast<std::size_t>(n), (*this)(text));
    }
};

/// The fault of a target's rows, unshaped or shaped.
template <class Target>
RowFault fault_of(Target target) {
    try {
        Sampler sampler(One{}, target, {.lookahead = 1, .seed = 1});
        (void)sampler.generate({1}, {.max_new_tokens = 1});
    } catch (const Fault& fault) {
        return fault.fault;
    }
    FAIL("no fault");
    return {};
}

/// True if the fault of the shaped model is the same as the model's.
void check_same_fault(const std::vector<double>& row, Cause cause) {
    const auto model = [row](Prefix) { return row; };
    const RowFault original = fault_of(model), behind = fault_of(shaped(model, Pipeline{Temperature{.5}, TopP{.5}}));
    CHECK(original.cause == cause);
    CHECK(message(behind) == message(original));
}

}  // namespace

TEST_CASE("a plain model's row is shaped", "[shaping]") {
    auto model = shaped(One{}, nucleus);
    CHECK(is_shaped(model(Prefix(prefix))));
}

TEST_CASE("rows of a batch are shaped, all of them", "[shaping]") {
    auto model = shaped(Many{}, nucleus);
    const auto rows = model(Prefix(prefix), 3);
    REQUIRE(rows.size() == 3);
    for (std::size_t i = 0; i < rows.size(); ++i) CHECK(is_shaped(rows[i]));
}

TEST_CASE("a model that does both does both shaped", "[shaping]") {
    auto model = shaped(Both{}, nucleus);
    CHECK(is_shaped(model(Prefix(prefix))));
    CHECK(is_shaped(model(Prefix(prefix), 2)[1]));
}

TEST_CASE("a model shared by std::ref is shaped, and not copied", "[shaping]") {
    int calls = 0;
    auto counting = [&calls, shared = std::vector<double>{.5, .3, .2}](Prefix) mutable {
        ++calls;
        return shared;
    };
    auto model = shaped(std::ref(counting), nucleus);
    CHECK(is_shaped(model(Prefix(prefix))));
    CHECK(calls == 1);
    Cached cached;
    shaped(std::ref(cached), nucleus).rollback(5);
    CHECK(cached.length == 5);
}

TEST_CASE("rollback reaches the model", "[shaping]") {
    Cached cached;
    auto model = shaped(std::ref(cached), nucleus);
    model.rollback(7);
    CHECK(cached.length == 7);
}

TEST_CASE("a model that takes a vector is shaped", "[shaping]") {
    auto model = shaped(TakesVector{}, nucleus);
    CHECK(is_shaped(model(prefix)));
    CHECK(is_shaped(model(prefix, 2)[1]));
}

TEST_CASE("a shaped model has the abilities of the model, and no others", "[shaping]") {
    using P = decltype(nucleus);
    using std::remove_cv_t;
    CHECK(RowModel<detail::Shaped<One, remove_cv_t<P>>>);
    CHECK_FALSE(BatchModel<detail::Shaped<One, remove_cv_t<P>>>);
    CHECK_FALSE(Rewindable<detail::Shaped<One, remove_cv_t<P>>>);
    CHECK_FALSE(Model<detail::Shaped<Many, remove_cv_t<P>>>);
    CHECK(BatchModel<detail::Shaped<Many, remove_cv_t<P>>>);
    CHECK(RowModel<detail::Shaped<Both, remove_cv_t<P>>>);
    CHECK(BatchModel<detail::Shaped<Both, remove_cv_t<P>>>);
    CHECK(Rewindable<detail::Shaped<std::reference_wrapper<Cached>, remove_cv_t<P>>>);
    CHECK(RowModel<detail::Shaped<TakesVector, remove_cv_t<P>>>);
    CHECK(BatchModel<detail::Shaped<TakesVector, remove_cv_t<P>>>);
}

TEST_CASE("rows of every type that a model may return are shaped", "[shaping]") {
    static const Eigen::VectorXf owned = plain_row().cast<float>();
    const auto check = [](auto model) {
        auto wrapped = shaped(model, nucleus);
        CHECK(is_shaped(wrapped(Prefix(prefix))));
    };
    check([](Prefix) { return owned; });
    check([](Prefix) -> const Eigen::VectorXf& { return owned; });
    check([](Prefix) { return Eigen::Map<const Eigen::VectorXf>(owned.data(), 3); });
    check([](Prefix) { return std::span<const float>(owned.data(), 3); });
    check([](Prefix) { return std::vector<double>{.5, .3, .2}; });
    check([](Prefix) { return std::array<float, 3>{.5f, .3f, .2f}; });
    check([](Prefix) { return Eigen::RowVector3d(.5, .3, .2); });
}

TEST_CASE("a half-precision row is shaped in float", "[shaping]") {
    auto model = shaped(
        [](Prefix) {
            return std::vector<Eigen::half>{Eigen::half(.5f), Eigen::half(.25f), Eigen::half(.25f)};
        },
        TopP{.6});
    const auto row = model(Prefix(prefix));
    CHECK(std::is_same_v<detail::row_scalar_t<decltype(row)>, float>);
    CHECK(probs_by_id(row)[0] == Approx(2. / 3));
    CHECK(probs_by_id(row)[2] == 0);
}

TEST_CASE("the model's own rows stay as they are", "[shaping]") {
    static Eigen::VectorXd buffer = plain_row();
    auto model = shaped([](Prefix) { return Eigen::Map<const Eigen::VectorXd>(buffer.data(), 3); }, nucleus);
    model(Prefix(prefix));
    CHECK(buffer == plain_row());
}

TEST_CASE("rows of different sizes are shaped each by itself", "[shaping]") {
    auto model = shaped(
        [](Prefix, Index) {
            return std::vector<std::vector<double>>{{.5, .3, .2}, {1}, {}, {.25, .25, .25, .25}};
        },
        nucleus);
    const auto rows = model(Prefix(prefix), 4);
    REQUIRE(rows.size() == 4);
    CHECK(is_shaped(rows[0]));
    CHECK(rows[1].size() == 1);
    CHECK(rows[2].size() == 0);
    CHECK(rows[3].size() == 4);
    CHECK(probs_by_id(rows[3]).sum() == Approx(1));
}

TEST_CASE("a wrong number of rows stays the wrong number", "[shaping]") {
    auto model = shaped([](Prefix, Index) { return std::vector<Eigen::VectorXd>(2, plain_row()); }, nucleus);
    CHECK(model(Prefix(prefix), 5).size() == 2);
    CHECK(fault_of(shaped([](Prefix, Index) { return std::vector<Eigen::VectorXd>(5, plain_row()); }, nucleus)).cause ==
          Cause::wrong_count);
}

TEST_CASE("a bad row passes through unshaped, so that the fault names what the model returned", "[shaping]") {
    check_same_fault({}, Cause::empty);
    check_same_fault({.5, std::numeric_limits<double>::infinity(), .5}, Cause::not_finite);
    check_same_fault({.5, std::numeric_limits<double>::quiet_NaN(), .5}, Cause::not_finite);
    check_same_fault({.7, -.2, .5}, Cause::negative);
    check_same_fault({.5, .3, .1}, Cause::not_normalised);
    check_same_fault({0, 0, 0}, Cause::not_normalised);
    check_same_fault({4, -2, 7}, Cause::logits);
}

TEST_CASE("rows stay valid until the next call, which may give longer ones", "[shaping]") {
    auto model = shaped(Many{}, nucleus);
    CHECK(model(Prefix(prefix), 1).size() == 1);
    const auto rows = model(Prefix(prefix), 6);
    REQUIRE(rows.size() == 6);
    CHECK(is_shaped(rows[0]));
    CHECK(model(Prefix(prefix), 2).size() == 2);
}

TEST_CASE("a half row within its tolerance stays one behind a pipeline that changes nothing", "[shaping]") {
    const auto model = [](std::span<const Token>) {
        return std::vector<Eigen::half>{Eigen::half(.5f), Eigen::half(.25f), Eigen::half(.125f), Eigen::half(.12f)};
    };
    CHECK_NOTHROW(Sampler(model, model).generate({1}, {.max_new_tokens = 3}));
    CHECK_NOTHROW(Sampler(shaped(model, Temperature{1}), shaped(model, TopP{1})).generate({1}, {.max_new_tokens = 3}));
}

TEST_CASE("rows of logits behind a pipeline", "[shaping]") {
    const auto logits = [](Prefix text_before) {
        return random_logits<float>(50, static_cast<std::uint64_t>(text_before.back()));
    };
    auto model = shaped(from_logits(logits, .8), SamplingParams{.top_k = 10});
    CHECK(distance(probs_by_id(model(Prefix(prefix))), through(TopK{10}, Logits(logits(prefix), .8))) < 1e-6);
    const auto many = [&](Prefix, Index n) {
        return RowMajorMatrix<float>(logits(prefix).matrix().transpose().replicate(n, 1));
    };
    auto batch = shaped(from_logits(many, .8), SamplingParams{.top_k = 10});
    const auto rows = batch(Prefix(prefix), 2);
    CHECK(distance(probs_by_id(rows[1]), probs_by_id(model(Prefix(prefix)))) == 0);
}

TEST_CASE("a row is shaped when it is first asked for, and once", "[shaping]") {
    std::vector<std::size_t> contexts;
    const auto note = [&](auto&, Prefix context) { contexts.push_back(context.size()); };
    auto model = shaped(Many{}, note);
    const std::vector<Token> text{1, 2, 3, 4, 5};
    const auto rows = model(Prefix(text), 4);
    CHECK(contexts.empty());
    rows[2];
    rows[0];
    rows[2];
    CHECK(contexts == std::vector<std::size_t>{4, 2});
    const auto again = model(Prefix(text), 4);
    again[2];
    CHECK(contexts == std::vector<std::size_t>{4, 2, 4});
}

TEST_CASE("what follows the first rejection is never shaped", "[shaping]") {
    Index shaped_rows = 0;
    const auto count = [&](auto&, Prefix) { ++shaped_rows; };
    // Every draft is rejected.
    const auto draft = [](Prefix) { return std::vector<double>{1, 0, 0}; };
    const auto target = [](Prefix, Index n) {
        return RowMajorMatrix<double>(Eigen::RowVector3d(0, .5, .5).replicate(n, 1));
    };
    Sampler sampler(draft, shaped(target, count), {.lookahead = 5, .seed = 1});
    (void)sampler.generate({1}, {.max_new_tokens = 10});
    CHECK(sampler.tally().rounds == 10);
    CHECK(shaped_rows == 10);
}

TEST_CASE("the context of a row is its own prefix, drafted tokens included", "[shaping]") {
    std::vector<std::vector<Token>> contexts;
    const auto note = [&](auto&, Prefix context) { contexts.emplace_back(context.begin(), context.end()); };
    auto model = shaped(Both{}, note);
    const std::vector<Token> text{4, 5, 6};
    const auto rows = model(Prefix(text), 3);
    for (std::size_t i = 0; i < 3; ++i) rows[i];
    model(Prefix(text));
    CHECK(contexts == std::vector<std::vector<Token>>{{4}, {4, 5}, {4, 5, 6}, {4, 5, 6}});
}

TEST_CASE("a token drafted in the same round is penalised, which one prefix for all rows would miss", "[shaping]") {
    // The token that was written is banned: no token comes twice in a row, whatever is drafted.
    const SamplingParams no_repeats{.presence_penalty = 1e6, .penalty_last_n = 1, .prompt_size = 0};
    const auto twos = [](Prefix) { return std::vector<double>{.1, .1, .8}; };
    const auto target = [](Prefix, Index n) {
        return RowMajorMatrix<double>(Eigen::RowVector3d(.1, .1, .8).replicate(n, 1));
    };
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::vector<Token> text{0};
        (void)Sampler(twos, shaped(target, no_repeats), {.lookahead = 4, .seed = seed})
            .extend(text, {.max_new_tokens = 50});
        REQUIRE(text.size() == 51);
        for (std::size_t i = 1; i < text.size(); ++i) REQUIRE(text[i] != text[i - 1]);
    }
}

TEST_CASE("draft and target through the same pipeline agree where their models do", "[shaping]") {
    const auto logits = [](Prefix text_before) {
        return random_logits<float>(50, static_cast<std::uint64_t>(text_before.back()));
    };
    const SamplingParams settings{.temperature = .7, .top_k = 20, .top_p = .9, .frequency_penalty = .5};
    Sampler sampler(shaped(from_logits(logits), settings), shaped(from_logits(logits), settings), {.lookahead = 4});
    (void)sampler.generate({1}, {.max_new_tokens = 100});
    CHECK(sampler.tally().accepted == sampler.tally().evaluated);
}

TEST_CASE("a temperature of 0 writes the argmax", "[shaping]") {
    const auto logits = [](Prefix text_before) {
        return random_logits<float>(50, static_cast<std::uint64_t>(text_before.back()));
    };
    std::vector<Token> text{1}, greedy{1};
    for (int i = 0; i < 30; ++i) greedy.push_back(static_cast<Token>(argmax(logits(greedy))));
    (void)Sampler(from_logits(logits), shaped(from_logits(logits), SamplingParams{.temperature = 0}), {.lookahead = 3})
        .extend(text, {.max_new_tokens = 30});
    CHECK(text == greedy);
}

TEST_CASE("rows returned by value live as long as their shaped views", "[shaping]") {
    auto model = shaped(
        [](Prefix, Index n) {
            return std::vector<std::vector<double>>(static_cast<std::size_t>(n), {.5, .3, .2});
        },
        Temperature{1});
    const auto rows = model(Prefix(prefix), 2);
    CHECK((probs_by_id(rows[1]) == Array<double>(Eigen::Array3d(.5, .3, .2))).all());
}

TEST_CASE("a shaped model may be copied, between its calls", "[shaping]") {
    auto model = shaped(Both{}, nucleus);
    model(Prefix(prefix), 2)[0];
    auto copy = model;
    CHECK(is_shaped(copy(Prefix(prefix), 2)[1]));
    CHECK(is_shaped(copy(Prefix(prefix))));
}
