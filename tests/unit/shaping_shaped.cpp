// shaped(model, pipeline): a model of the same abilities, whose rows went through the pipeline.
#include <specsample/shaping/shaped.hpp>

#include <limits>

#include <specsample/sampler.hpp>
#include <specsample/shaping/pipeline.hpp>
#include <specsample/shaping/temperature.hpp>
#include <specsample/shaping/top_p.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

using Prefix = std::span<const Token>;
const std::vector<Token> prefix{1, 2};

/// Shapes .5, .3, .2 to 5/8, 3/8, 0.
const Pipeline nucleus{TopP{.8}};

Eigen::VectorXd plain_row() { return Eigen::Vector3d(.5, .3, .2); }

bool is_shaped(const auto& row) {
    const auto view = as_row(row);
    return view.size() == 3 && std::abs(static_cast<double>(view[0]) - 5. / 8) < 1e-6 &&
           std::abs(static_cast<double>(view[1]) - 3. / 8) < 1e-6 && view[2] == 0;
}

struct One {
    Eigen::VectorXd operator()(Prefix) const { return plain_row(); }
};
struct Many {
    RowMajorMatrixXd operator()(Prefix, Index n) const { return plain_row().transpose().replicate(n, 1); }
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
        sampler.generate({1}, {.max_new_tokens = 1});
    } catch (const Fault& fault) {
        return fault.fault;
    }
    FAIL("no fault");
    return {};
}

/// Is the fault of the shaped model the very one of the model?
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
    for (const auto& row : rows) CHECK(is_shaped(row));
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

TEST_CASE("a shaped model offers what the model offers, and nothing else", "[shaping]") {
    using P = decltype(nucleus);
    using std::remove_cv_t;
    CHECK(RowModel<Shaped<One, remove_cv_t<P>>>);
    CHECK_FALSE(BatchModel<Shaped<One, remove_cv_t<P>>>);
    CHECK_FALSE(Rewindable<Shaped<One, remove_cv_t<P>>>);
    CHECK_FALSE(Model<Shaped<Many, remove_cv_t<P>>>);
    CHECK(BatchModel<Shaped<Many, remove_cv_t<P>>>);
    CHECK(RowModel<Shaped<Both, remove_cv_t<P>>>);
    CHECK(BatchModel<Shaped<Both, remove_cv_t<P>>>);
    CHECK(Rewindable<Shaped<std::reference_wrapper<Cached>, remove_cv_t<P>>>);
    CHECK(RowModel<Shaped<TakesVector, remove_cv_t<P>>>);
    CHECK(BatchModel<Shaped<TakesVector, remove_cv_t<P>>>);
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
    CHECK(std::is_same_v<decltype(row)::Scalar, float>);
    CHECK(row[0] == Approx(2. / 3));
    CHECK(row[2] == 0);
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
    CHECK(rows[3].sum() == Approx(1));
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
