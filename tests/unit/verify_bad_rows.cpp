// Bad rows of every kind, at every position of a round, under every rule: the row and the cause are named, nothing is
// emitted, and the next round is not affected.
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

#include "support/catch.hpp"
#include "support/numbers.hpp"
#include "support/rules.hpp"

using namespace specsample;
using namespace specsample::filters;
using numbers::Special;

namespace {

const RoundRng rng(1, 2, 3);
constexpr Index vocab = 6, lookahead = 3;
const std::vector<int> tokens{0, 1, 2};

template <class R>
struct Bad {
    std::string name;
    R row;
    Cause cause;
};
template <class R>
using Bads = std::vector<Bad<R>>;

template <class Scalar>
std::vector<Scalar> scalars(const std::vector<double>& values) {
    std::vector<Scalar> row;
    for (const double x : values) row.push_back(static_cast<Scalar>(x));
    return row;
}
template <class Scalar>
std::vector<Scalar> with(Special special, std::size_t at, std::vector<double> values) {
    std::vector<Scalar> row = scalars<Scalar>(values);
    numbers::write(row[at], special);
    return row;
}

// For each kind of row: a good row over 6 ids, of which the first three are possible, and every way to spoil it.

template <class Scalar>
struct Dense {
    using R = std::vector<Scalar>;
    static R good() { return scalars<Scalar>({.25, .25, .5, 0, 0, 0}); }
    static Bads<R> bads() {
        const double off = sizeof(Scalar) == 2 ? .02 : .002;
        return {{"NaN", with<Scalar>(Special::nan, 3, {.25, .25, .5, 0, 0, 0}), Cause::not_finite},
                {"-NaN", with<Scalar>(Special::minus_nan, 5, {.25, .25, .5, 0, 0, 0}), Cause::not_finite},
                {"+inf", with<Scalar>(Special::infinity, 4, {.25, .25, .5, 0, 0, 0}), Cause::not_finite},
                {"-inf", with<Scalar>(Special::minus_infinity, 4, {.25, .25, .5, 0, 0, 0}), Cause::logits},
                {"negative", scalars<Scalar>({.25, .25, .75, 0, -.25, 0}), Cause::negative},
                {"sum above", scalars<Scalar>({.25, .25, .5, 2 * off, 0, 0}), Cause::not_normalised},
                {"sum below", scalars<Scalar>({.25, .25, .5 - 2 * off, 0, 0, 0}), Cause::not_normalised},
                {"just off", scalars<Scalar>({.25, .25, .5 + off, 0, 0, 0}), Cause::not_normalised},
                {"no mass", scalars<Scalar>({0, 0, 0, 0, 0, 0}), Cause::not_normalised},
                {"logits", scalars<Scalar>({3, 2, 1, 0, -4, -4}), Cause::logits},
                {"too long", scalars<Scalar>({.25, .25, .5, 0, 0, 0, 0}), Cause::wrong_size},
                {"empty", {}, Cause::empty}};
    }
};

template <class Scalar>
struct OfLogits {
    using R = Logits<std::vector<Scalar>>;
    static R good() { return R(scalars<Scalar>({1, 1, 1.5, -90, -90, -90}), .5); }
    static Bads<R> bads() {
        std::vector<Scalar> masked(vocab);
        for (Scalar& x : masked) numbers::write(x, Special::minus_infinity);
        const auto nan = with<Scalar>(Special::nan, 5, {1, 1, 1.5, -90, -90, -90});
        return {{"NaN", R(nan, .5), Cause::not_finite},
                {"NaN at temperature 0", R(nan, 0), Cause::not_finite},
                {"-NaN", R(with<Scalar>(Special::minus_nan, 3, {1, 1, 1.5, 0, 0, 0}), 1), Cause::not_finite},
                {"+inf", R(with<Scalar>(Special::infinity, 3, {1, 1, 1.5, 0, 0, 0}), 1), Cause::not_finite},
                {"all masked", R(masked, .5), Cause::all_masked},
                {"all masked at temperature 0", R(masked, 0), Cause::all_masked},
                {"a wrong normaliser", R(scalars<Scalar>({1, 1, 1.5, -90, -90, -90}), .5, 4.5), Cause::not_normalised},
                {"too short", R(scalars<Scalar>({1, 1, 1, 1, 1}), .5), Cause::wrong_size},
                {"empty", R(std::vector<Scalar>{}, .5), Cause::empty}};
    }
};

using Ids = std::vector<std::int64_t>;

struct SparseProbs {
    using R = Sparse<Ids, std::vector<float>>;
    static R row(Ids ids, std::vector<float> probs, Index size = vocab) {
        return R(std::move(ids), std::move(probs), size);
    }
    static R good() { return row({0, 1, 2}, {.25, .25, .5}); }
    static Bads<R> bads() {
        return {{"NaN", row({0, 1, 2}, with<float>(Special::nan, 1, {.25, .25, .5})), Cause::not_finite},
                {"+inf", row({0, 1, 2, 4}, with<float>(Special::infinity, 3, {.25, .25, .5, 0})), Cause::not_finite},
                {"negative", row({0, 1, 2, 4}, {.25, .25, .75, -.25}), Cause::negative},
                {"sum off", row({0, 1, 2}, {.25, .25, .502f}), Cause::not_normalised},
                {"no ids", row({}, {}), Cause::all_masked},
                {"out of order", row({0, 2, 1}, {.25, .25, .5}), Cause::unordered_ids},
                {"repeated", row({0, 1, 1, 2}, {.25, .25, .25, .25}), Cause::unordered_ids},
                {"beyond the vocabulary", row({0, 1, 6}, {.25, .25, .5}), Cause::id_outside},
                {"far beyond", row({0, 1, Index{1} << 32}, {.25, .25, .5}), Cause::id_outside},
                {"below 0", row({-1, 1, 2}, {.25, .25, .5}), Cause::id_outside},
                {"too large a vocabulary", row({0, 1, 2}, {.25, .25, .5}, vocab + 1), Cause::wrong_size}};
    }
};

struct SparseLogits {
    using R = Sparse<Ids, Logits<std::vector<float>>>;
    static R row(Ids ids, std::vector<float> logits, double temperature = .5) {
        return R(std::move(ids), Logits(std::move(logits), temperature), vocab);
    }
    static R good() { return row({0, 1, 2}, {1, 1, 1.5}); }
    static Bads<R> bads() {
        std::vector<float> masked(2);
        for (float& x : masked) numbers::write(x, Special::minus_infinity);
        return {{"NaN", row({0, 1, 2}, with<float>(Special::nan, 1, {1, 1, 1})), Cause::not_finite},
                {"+inf", row({0, 1, 2}, with<float>(Special::infinity, 2, {1, 1, 1})), Cause::not_finite},
                {"all masked", row({0, 2}, masked), Cause::all_masked},
                {"all masked at temperature 0", row({0, 2}, masked, 0), Cause::all_masked},
                {"no ids", row({}, {}), Cause::all_masked},
                {"out of order", row({2, 1, 0}, {1, 1, 1}), Cause::unordered_ids},
                {"repeated", row({0, 0}, {1, 1}), Cause::unordered_ids},
                {"beyond the vocabulary", row({0, 1, 2, 6}, {1, 1, 1, 1}), Cause::id_outside}};
    }
};

/// Bad rows of logits behind a filter.
struct Shaped {
    using R = detail::ShapedRow<Logits<std::vector<float>>>;
    static R shaped(const Logits<std::vector<float>>& logits) {
        static std::deque<filters::ShapedMemory<float>> memory;
        static std::deque<Logits<std::vector<float>>> given;
        return shape(given.emplace_back(logits), TopK(3), {}, memory.emplace_back());
    }
    static R good() { return shaped(OfLogits<float>::good()); }
    static Bads<R> bads() {
        Bads<R> result;
        for (const auto& bad : OfLogits<float>::bads())
            if (bad.name != "a wrong normaliser") result.push_back({bad.name, shaped(bad.row), bad.cause});
        return result;
    }
};

/// Rows by position. Views of memory cannot be assigned, so these are pointers.
template <class R>
struct RowList {
    std::vector<const R*> rows;
    std::size_t size() const { return rows.size(); }
    const R& operator[](std::size_t i) const { return *rows[i]; }
};

template <class R>
struct GivenRows {
    RowList<R> draft, target;

    void put(Side side, std::size_t i, const R& row) { (side == Side::draft ? draft : target).rows[i] = &row; }
};

template <class Kind>
GivenRows<typename Kind::R> good_rows() {
    static const auto row = Kind::good();
    return {{std::vector(lookahead, &row)}, {std::vector(lookahead + 1, &row)}};
}

/// What each token was drawn from: one type for all rules, which then share what is compiled for residuals.
template <class R>
struct Distributions {
    const RowList<R>& rows;
    auto operator()(Index i) const { return Sampled(rows[static_cast<std::size_t>(i)]); }
};

template <class R, class Rule>
Round judge(const GivenRows<R>& rows, const Rule& rule, Check check, std::size_t drafted) {
    static Workspace workspace;
    const Distributions<R> distribution{rows.draft};
    RowList<R> target = rows.target;
    target.rows.resize(drafted + 1);
    return verify(std::span(tokens).first(drafted), rules::drafted_for(rule, distribution), target, rule, rng,
                  {.check = check}, workspace);
}

/// A rule as what is done with it, so that a test is compiled once for all rules.
template <class R>
struct AnyRule {
    std::string name;
    bool is_race;
    bool takes_rows;  ///< of the draft
    std::function<Round(const GivenRows<R>& rows, Check check, std::size_t drafted)> judge;
};

template <class R>
std::vector<AnyRule<R>> every_rule() {
    std::vector<AnyRule<R>> list;
    rules::for_each([&]<class Rule>(const Rule& rule, const char* name) {
        list.push_back({name, std::same_as<Rule, GumbelMatch> || std::same_as<Rule, GreedyMatch>,
                        !std::same_as<Rule, GumbelMatch>,
                        [rule](const GivenRows<R>& rows, Check check, std::size_t drafted) {
                            return judge(rows, rule, check, drafted);
                        }});
    });
    return list;
}

void check_fault(const Round& round, Side side, Index row, Cause cause) {
    REQUIRE(round.fault);
    CHECK(round.tokens.empty());
    CHECK(round.accepted == 0);
    CHECK(round.fault->side == side);
    CHECK(round.fault->row == row);
    CHECK(round.fault->cause == cause);
}

#define EVERY_KIND                                                                                              \
    Dense<float>, Dense<double>, Dense<Eigen::half>, Dense<Eigen::bfloat16>, OfLogits<float>, OfLogits<double>, \
        OfLogits<Eigen::half>, OfLogits<Eigen::bfloat16>, SparseProbs, SparseLogits, Shaped

}  // namespace

TEMPLATE_TEST_CASE("a bad row is named wherever it is, when every row is looked at", "", EVERY_KIND) {
    for (const auto& rule : every_rule<typename TestType::R>()) {
        const auto good = good_rows<TestType>();
        const Round expected = rule.judge(good, Check::every_row, lookahead);
        REQUIRE(expected);
        const std::vector<Token> text(expected.tokens.begin(), expected.tokens.end());
        const auto bads = TestType::bads();
        for (const auto& bad : bads)
            for (const Side side : {Side::draft, Side::target})
                for (std::size_t row = 0; row < static_cast<std::size_t>(lookahead + (side == Side::target)); ++row) {
                    // Rows are compared with the size of the first target row, which is right by definition.
                    if (bad.cause == Cause::wrong_size && side == Side::target && row == 0) continue;
                    if (side == Side::draft && !rule.takes_rows) continue;
                    CAPTURE(rule.name, bad.name, side == Side::draft, row);
                    auto rows = good;
                    rows.put(side, row, bad.row);
                    check_fault(rule.judge(rows, Check::every_row, lookahead), side, static_cast<Index>(row),
                                bad.cause);
                    const Round again = rule.judge(good, Check::every_row, lookahead);
                    REQUIRE(again);
                    CHECK(std::vector<Token>(again.tokens.begin(), again.tokens.end()) == text);
                }
    }
}

TEMPLATE_TEST_CASE("a bad row that a token is drawn from is named, where rows are looked at as they are read", "",
                   EVERY_KIND) {
    // A race and an argmax need no sum: they report entries that they cannot compare.
    const auto needs_sum = [](Cause cause) { return cause == Cause::not_normalised || cause == Cause::logits; };
    for (const auto& rule : every_rule<typename TestType::R>()) {
        const auto bads = TestType::bads();
        for (const auto& bad : bads) {
            if (bad.cause == Cause::wrong_size || (rule.is_race && needs_sum(bad.cause))) continue;
            if (bad.cause == Cause::negative) continue;      // only where a decision lands on it
            if (bad.name == "a wrong normaliser") continue;  // a draw from all of a row has no need of it
            CAPTURE(rule.name, bad.name);
            auto rows = good_rows<TestType>();
            rows.put(Side::target, 0, bad.row);
            check_fault(rule.judge(rows, Check::entries_read, 0), Side::target, 0, bad.cause);
        }
    }
}

TEMPLATE_TEST_CASE("a bad row beside the entries that decide is named by the residual that reads it", "", EVERY_KIND) {
    const TokenVerification rule;
    const auto bads = TestType::bads();
    for (const auto& bad : bads) {
        // A residual cannot detect this: it reads differences, and not the sum of either row.
        if (bad.cause != Cause::not_finite && bad.cause != Cause::unordered_ids && bad.cause != Cause::id_outside &&
            bad.cause != Cause::all_masked)
            continue;
        if (std::same_as<TestType, SparseProbs> && bad.cause == Cause::all_masked)
            continue;  // nothing was drawn from it

        CAPTURE(bad.name);
        auto rows = good_rows<TestType>();
        rows.put(Side::draft, 0, bad.row);
        // The target is certain of another token than the drafted one.
        const auto certain = Logits(scalars<float>({-200, 9, -200, -200, -200, -200}));
        const RowList<std::remove_const_t<decltype(certain)>> target{{&certain, &certain}};
        static Workspace workspace;
        const Distributions<typename TestType::R> distribution{rows.draft};
        check_fault(verify(std::span(tokens).first(1), distribution, target, rule, rng, {}, workspace), Side::draft, 0,
                    bad.cause);
    }
}
