// Faults injected into random drafts, chains and trees, at every row of target and draft, under every rule: with
// every_row each is named and nothing is emitted; with entries_read a fault that is not read changes nothing. Either
// way the next round on the same memory is not affected.
#include <array>
#include <cstdint>
#include <limits>

#include "support/catch.hpp"
#include "support/random_round.hpp"
#include "support/rules.hpp"

using namespace specsample;

namespace {

struct Injected {
    const char* name;
    Cause cause;                       ///< found by a check of the whole row
    Cause at_an_entry;                 ///< found by reading one of its entries
    bool is_always_read_with_its_row;  ///< found by reading any entry of its row
    void (*spoil)(Eigen::VectorXd& row);
};

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

const std::array injections{
    Injected{"one NaN", Cause::not_finite, Cause::not_finite, false,
             [](Eigen::VectorXd& row) { row[row.size() - 1] = not_a_number; }},
    Injected{"all NaN", Cause::not_finite, Cause::not_finite, true,
             [](Eigen::VectorXd& row) { row.setConstant(not_a_number); }},
    Injected{"one infinity", Cause::not_finite, Cause::not_finite, false,
             [](Eigen::VectorXd& row) { row[0] = infinity; }},
    Injected{"empty", Cause::empty, Cause::empty, true, [](Eigen::VectorXd& row) { row.resize(0); }},
    Injected{"too long", Cause::wrong_size, Cause::wrong_size, true,
             [](Eigen::VectorXd& row) { row = Eigen::VectorXd::Constant(row.size() + 1, .125); }},
    Injected{"logits", Cause::logits, Cause::not_finite, false,
             [](Eigen::VectorXd& row) { row.setConstant(-infinity); }},
};

std::vector<Token> tokens_of(const Round& round) { return {round.tokens.begin(), round.tokens.end()}; }

/// The rows in the order in which a round first met them: row i of the target, or the distribution of node i.
struct Met {
    std::vector<bool> target, draft;
};

// One type each for all rules, which then share what is compiled for residuals.
struct GivenRows {
    const random_round::Draft& draft;
    Met& met;
    const Eigen::VectorXd& operator()(Index i) const {
        met.target[static_cast<std::size_t>(i)] = true;
        return draft.target_rows[static_cast<std::size_t>(i)];
    }
};
struct Distributions {
    const random_round::Draft& draft;
    Met& met;
    auto operator()(Index i) const {
        met.draft[static_cast<std::size_t>(i)] = true;
        return Sampled(draft.draft_rows[static_cast<std::size_t>(i)]);
    }
};

template <class Rule>
Round judge(const random_round::Draft& draft, const Rule& rule, Check check, Workspace& workspace, Met& met) {
    met = {std::vector<bool>(draft.target_rows.size()), std::vector<bool>(draft.draft_rows.size())};
    return verify(draft.tree(), rules::drafted_for(rule, Distributions{draft, met}), GivenRows{draft, met}, rule,
                  draft.rng, {.check = check}, workspace);
}

/// One injection into a row of a draft, which is good again afterwards.
template <class Rule>
void inject(random_round::Draft& draft, const Rule& rule, const Injected& injected, Side side, Index row) {
    Workspace workspace, good_workspace;
    Met met;
    const Round good = judge(draft, rule, Check::entries_read, good_workspace, met);
    REQUIRE(good);
    const bool is_met = (side == Side::target ? met.target : met.draft)[static_cast<std::size_t>(row)];

    Eigen::VectorXd& spoilt =
        (side == Side::target ? draft.target_rows : draft.draft_rows)[static_cast<std::size_t>(row)];
    const Eigen::VectorXd kept = spoilt;
    injected.spoil(spoilt);

    const auto check_fault = [&](const Round& round, Cause cause) {
        CHECK(round.tokens.empty());
        CHECK(round.accepted == 0);
        CHECK(round.fault->side == side);
        CHECK(round.fault->cause == cause);
        CHECK(round.fault->row == row);
    };
    const bool is_first_target_row = side == Side::target && row == 0;  // its size is the vocabulary's
    if (!is_first_target_row || injected.cause != Cause::wrong_size) {
        const auto distributions = draft.distributions();
        const Round full = verify(draft.tree(), rules::drafted_for(rule, distributions), draft.target_rows, rule,
                                  draft.rng, {.check = Check::every_row}, workspace);
        REQUIRE(full.fault);
        check_fault(full, injected.cause);

        const Round read = judge(draft, rule, Check::entries_read, workspace, met);
        if (read.fault) {
            check_fault(read, read.fault->cause == injected.cause ? injected.cause : injected.at_an_entry);
            CHECK(is_met);
        } else {
            CHECK(tokens_of(read) == tokens_of(good));
            CHECK(read.counts() == good.counts());
            // Block verification may read a row and then find that nothing is left to decide there.
            constexpr bool reads_what_it_asks_for = !std::is_same_v<Rule, BlockVerification>;
            CHECK_FALSE((reads_what_it_asks_for && is_met && injected.is_always_read_with_its_row));
        }
    }

    spoilt = kept;
    const Round again = judge(draft, rule, Check::entries_read, workspace, met);
    CHECK(tokens_of(again) == tokens_of(good));
    CHECK(again.counts() == good.counts());
    CHECK(again.end == good.end);
}

}  // namespace

TEST_CASE("a fault injected at any row of any draft is named or has no effect") {
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        auto draft = random_round::draft_of(seed);
        rules::for_each([&](const auto& rule, const char* rule_name) {
            constexpr bool is_match = requires { std::remove_cvref_t<decltype(rule)>::drafter_invariant; };
            for (const Injected& injected : injections) {
                INFO("seed " << seed << ", " << rule_name << ", " << injected.name);
                for (Index row = 0; row <= draft.size(); ++row) inject(draft, rule, injected, Side::target, row);
                // Match rules read no draft distributions, except in a full check.
                if (!is_match)
                    for (Index row = 0; row < draft.size(); ++row) inject(draft, rule, injected, Side::draft, row);
            }
        });
    }
}
