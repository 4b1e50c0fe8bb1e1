// Bad data from models: the message, the text written before it, and that the sampler can be used afterwards.
#include <algorithm>
#include <functional>
#include <limits>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

const ContextModel good_draft(5, 101), good_target(5, 102);
constexpr Options options{.lookahead = 3, .seed = 3};
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A defect of a row, and the message for it.
struct Bad {
    std::function<void(Eigen::VectorXd&)> spoil;
    Cause cause;
    std::string sentence;
};

const std::vector<Bad> bads{
    {[](auto& row) { row[4] = not_a_number; }, Cause::not_finite, "nan at id 4, but must be finite"},
    {[](auto& row) { row[0] = infinity; }, Cause::not_finite, "inf at id 0, but must be finite"},
    {[](auto& row) { row[2] = -infinity; }, Cause::logits,
     "sums to -inf: these look like logits; return specsample::Logits"},
    {[](auto& row) { row << .5, .5, -.25, .25, 0; }, Cause::negative, "is -0.25 at id 2, but must be non-negative"},
    {[](auto& row) { row *= 1.002; }, Cause::not_normalised, "sums to 1.002, but must sum to 1 within 0.001"},
    {[](auto& row) { row *= 0.998; }, Cause::not_normalised, "sums to 0.998, but must sum to 1 within 0.001"},
    {[](auto& row) { row.setZero(); }, Cause::not_normalised, "sums to 0, but must sum to 1 within 0.001"},
    {[](auto& row) { row << 800, 12.5, -3, 1, 1.9; }, Cause::logits,
     "sums to 812.4: these look like logits; return specsample::Logits(row, temperature)"},
    {[](auto& row) { row << -1, -2, -3, -1, -1; }, Cause::logits,
     "sums to -8: these look like logits; return specsample::Logits(row, temperature)"},
    {[](auto& row) { row.resize(0); }, Cause::empty, "is empty, but must hold one probability per token"},
    {[](auto& row) { row = Eigen::VectorXd::Constant(4, .25); }, Cause::wrong_size,
     "has 4 entries, but must have 5 like the first target row"},
};

/// A model whose row after a prefix of this length is bad.
struct Spoilt {
    ContextModel model;
    std::function<void(Eigen::VectorXd&)> spoil;
    Index length;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const {
        Eigen::VectorXd row = model(prefix);
        if (std::ssize(prefix) == length) spoil(row);
        return row;
    }
};

/// The same for many rows in one pass.
struct SpoiltMany {
    Spoilt model;

    std::vector<Eigen::VectorXd> operator()(std::span<const Token> prefix, Index n) const {
        std::vector<Eigen::VectorXd> rows;
        for (Index i = 0; i < n; ++i)
            rows.push_back(model(prefix.first(static_cast<std::size_t>(std::ssize(prefix) - n + 1 + i))));
        return rows;
    }
};

template <class Action>
Fault fault_of(Action&& action) {
    try {
        action();
    } catch (const Fault& fault) {
        return fault;
    }
    FAIL("no fault");
    throw std::logic_error("not reached");
}

void check_fault(const Fault& fault, Side side, Index row, const Bad& bad) {
    CHECK(fault.fault.side == side);
    CHECK(fault.fault.row == row);
    CHECK(fault.fault.cause == bad.cause);
    const std::string begin =
        side == Side::draft ? "specsample::Sampler: draft row " : "specsample::Sampler: target row ";
    CHECK_THAT(fault.what(), ContainsSubstring(begin + std::to_string(row)));
    CHECK_THAT(fault.what(), ContainsSubstring(bad.sentence));
}

/// The whole text, and the lengths at which its rounds begin.
struct Whole {
    std::vector<Token> text{1, 2};
    std::vector<Index> starts;

    Whole() {
        Sampler sampler(good_draft, good_target, options);
        while (text.size() < 60) {
            starts.push_back(std::ssize(text));
            const Round round = sampler.step(text);
            text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        }
    }

    std::vector<Token> between(Index first, Index last) const { return {text.begin() + first, text.begin() + last}; }
};

const std::vector<Token> prompt{1, 2};

}  // namespace

TEST_CASE("every bad row of the draft is found, at every position of a round") {
    for (const Bad& bad : bads)
        for (Index row = 0; row < options.lookahead; ++row) {
            Sampler sampler(Spoilt{good_draft, bad.spoil, 2 + row}, good_target, options);
            const bool has_nothing = bad.sentence.starts_with("sums to 0,") || bad.cause == Cause::empty;
            if (has_nothing) {  // no token is possible: the draft ends there
                CHECK(sampler.step(prompt).proposed == row);
                continue;
            }
            check_fault(fault_of([&] { (void)sampler.step(prompt); }), Side::draft, row, bad);
        }
}

TEST_CASE("every bad row of a target that scores many positions is found, at every position of a round") {
    for (const Bad& bad : bads)
        for (Index row = 0; row <= options.lookahead; ++row) {
            if (row == 0 && bad.cause == Cause::wrong_size) continue;  // the first row is the measure of all others
            Sampler sampler(good_draft, SpoiltMany{{good_target, bad.spoil, 2 + row}}, options);
            check_fault(fault_of([&] { (void)sampler.step(prompt); }), Side::target, row, bad);
        }
}

TEST_CASE("every bad row of a target that scores one position is found where the round reaches it") {
    for (const Bad& bad : bads)
        for (Index row = 0; row <= options.lookahead; ++row) {
            if (row == 0 && bad.cause == Cause::wrong_size) continue;
            // Draft and target are one model, so that the round reaches every row.
            Sampler sampler(good_target, Spoilt{good_target, bad.spoil, 2 + row}, options);
            check_fault(fault_of([&] { (void)sampler.step(prompt); }), Side::target, row, bad);
        }
}

TEST_CASE("everything written before a fault is kept and reported, and the sampler goes on") {
    const Whole whole;
    for (const Index length : {2, 7, 20, 33, 48}) {
        // The first round that meets the row after `length` tokens.
        const Index start =
            *std::ranges::find_if(whole.starts, [&](Index each) { return each + options.lookahead >= length; });
        bool broken = true;
        const auto target = [&](std::span<const Token> prefix, Index n) {
            return SpoiltMany{{good_target,
                               [&](auto& row) {
                                   if (broken) row[1] = not_a_number;
                               },
                               length}}(prefix, n);
        };
        Sampler sampler(good_draft, target, options);
        std::vector<Token> text = prompt;
        const Fault fault = fault_of([&] { (void)sampler.extend(text, {.max_new_tokens = 58}); });
        CHECK(text == whole.between(0, start));
        CHECK(fault.emitted == whole.between(2, start));
        CHECK(fault.fault.row == length - start);
        CHECK(sampler.tally().tokens == start - 2);
        CHECK(sampler.tally().faults_of(Cause::not_finite) == 1);
        CHECK(sampler.tally().faulty_rounds() == 1);
        CHECK(fault_of([&] { (void)sampler.generate(prompt); }).emitted == fault.emitted);

        broken = false;
        (void)sampler.extend(text, {.max_new_tokens = 60 - start});
        CHECK(text == whole.between(0, 60));
        CHECK(sampler.generate(prompt, {.max_new_tokens = 58}).tokens == whole.between(2, 60));
    }
}

TEST_CASE("a fault of the draft keeps what was written, too") {
    const Whole whole;
    Sampler sampler(Spoilt{good_draft, [](auto& row) { row[0] = -1; }, 20}, good_target, options);
    std::vector<Token> text = prompt;
    const Fault fault = fault_of([&] { (void)sampler.extend(text, {.max_new_tokens = 58}); });
    CHECK(text == whole.between(0, std::ssize(text)));
    CHECK(std::ssize(text) + fault.fault.row == 20);
    CHECK(fault.emitted == whole.between(2, std::ssize(text)));
}

TEST_CASE("on_token has seen every token that a fault reports, and no other") {
    std::vector<Token> seen;
    Sampler sampler(good_draft, SpoiltMany{{good_target, [](auto& row) { row[1] = not_a_number; }, 30}}, options);
    const Fault fault = fault_of(
        [&] { (void)sampler.generate(prompt, {.max_new_tokens = 58}, [&](Token token) { seen.push_back(token); }); });
    CHECK(!seen.empty());
    CHECK(seen == fault.emitted);
}

TEST_CASE("a bad row that no decision reads changes nothing where entries are checked as they are read") {
    const Whole whole;
    int ignored = 0;
    for (const Index start : whole.starts) {
        const std::vector<Token> text = whole.between(0, start);
        const auto accepted = Sampler(good_draft, good_target, options).step(text).accepted;
        for (Index row = accepted + 1; row <= options.lookahead; ++row) {
            const SpoiltMany target{{good_target, [](auto& bad) { bad.setConstant(not_a_number); }, start + row}};
            Sampler careless(good_draft, target, {.lookahead = 3, .seed = 3, .check = Check::entries_read});
            const Round round = careless.step(text);
            CHECK(std::vector(round.tokens.begin(), round.tokens.end()) ==
                  whole.between(start, start + std::ssize(round.tokens)));
            CHECK_THROWS_AS(Sampler(good_draft, target, options).step(text), Fault);
            ++ignored;
        }
    }
    CHECK(ignored > 20);
}

TEST_CASE("a bad row that a decision reads is found where entries are checked as they are read") {
    for (const Bad& bad : bads) {
        if (bad.cause == Cause::negative || bad.cause == Cause::wrong_size) continue;
        Sampler sampler(good_draft, Spoilt{good_target, bad.spoil, 2}, {.lookahead = 0, .check = Check::entries_read});
        check_fault(fault_of([&] { (void)sampler.step(prompt); }), Side::target, 0, bad);
    }
}

TEMPLATE_TEST_CASE("a row may be off by a thousandth, and by no more", "", float, double) {
    using Row = Eigen::Matrix<TestType, Eigen::Dynamic, 1>;
    const auto scaled = [](double factor) {
        return [factor](std::span<const Token> prefix) -> Row {
            return (good_target(prefix) * factor).template cast<TestType>();
        };
    };
    const Limits limits{.max_new_tokens = 20};
    CHECK(Sampler(scaled(1.0009), scaled(0.9991)).generate(prompt, limits).tokens.size() == 20);
    CHECK_THROWS_WITH(Sampler(scaled(1), scaled(1.002)).generate(prompt, limits),
                      ContainsSubstring("target row 0 sums to 1.002, but must sum to 1 within 0.001"));
    CHECK_THROWS_WITH(Sampler(scaled(0.998), scaled(1)).generate(prompt, limits),
                      ContainsSubstring("draft row 0 sums to 0.998, but must sum to 1 within 0.001"));
}

TEMPLATE_TEST_CASE("a row of 16 bits may be off by a hundredth, and by no more", "", Eigen::half, Eigen::bfloat16) {
    using Row = Eigen::Matrix<TestType, Eigen::Dynamic, 1>;
    // Entries with seven significant bits, which both types hold: sums of 1.02, 1.005, .995 and .98 up to 1/256.
    const auto with_last = [](double last) {
        return [last](std::span<const Token>) -> Row {
            Row row(3);
            row << TestType(.5), TestType(.25), TestType(last);
            return row;
        };
    };
    const Limits limits{.max_new_tokens = 20};
    for (const double last : {.25, .255, .245})
        CHECK(Sampler(with_last(last), with_last(last)).generate(prompt, limits).tokens.size() == 20);
    for (const double last : {.27, .23}) {
        CHECK_THROWS_WITH(Sampler(with_last(.25), with_last(last)).generate(prompt, limits),
                          ContainsSubstring("but must sum to 1 within 0.01"));
        CHECK_THROWS_WITH(Sampler(with_last(last), with_last(.25)).generate(prompt, limits),
                          ContainsSubstring("but must sum to 1 within 0.01"));
    }
}
