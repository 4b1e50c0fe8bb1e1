// The end of a round: budgets, stop tokens and predicates, over random drafts, every rule, chains and trees.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>

#include <specsample/rows/sparse.hpp>

#include "support/catch.hpp"
#include "support/random_round.hpp"
#include "support/rules.hpp"

using namespace specsample;

namespace {

constexpr std::uint64_t seeds = 240;

std::vector<Token> tokens_of(const Round& round) { return {round.tokens.begin(), round.tokens.end()}; }

/// Call f(draft, rule) for random drafts and every rule that judges chains and trees alike.
template <class F>
void for_drafts(const F& f) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const auto draft = random_round::draft_of(seed);
        rules::for_each([&](const auto& rule, const char*) { f(draft, rule); });
    }
}

/// A round with consistent counts, whose tokens are the first ones of the whole round.
void check_whole(const Round& round, const std::vector<Token>& whole) {
    CHECK(round.tokens.size() <= whole.size());
    CHECK(std::equal(round.tokens.begin(), round.tokens.end(), whole.begin()));
    CHECK(round.accepted == std::ssize(round.path));
    CHECK(std::ssize(round.tokens) == round.accepted + (round.last == LastToken::stopped ? 0 : 1));
    CHECK(round.evaluated >= round.accepted);
}

}  // namespace

TEST_CASE("a budget is never exceeded, and gives the beginning of the whole round") {
    for_drafts([](const auto& draft, const auto& rule) {
        Workspace memory, cut_memory;
        const Round whole = draft.judge(rule, {}, memory);
        CHECK(whole.end == RoundEnd::none);
        for (Index budget = 1; budget <= std::ssize(whole.tokens); ++budget) {
            const Round cut = draft.judge(rule, {.max_tokens = budget}, cut_memory);
            check_whole(cut, tokens_of(whole));
            CHECK(std::ssize(cut.tokens) == budget);
            CHECK(cut.end == RoundEnd::budget);
        }
    });
}

TEST_CASE("nothing follows a stop token, drafted or not") {
    for_drafts([](const auto& draft, const auto& rule) {
        Workspace memory, cut_memory;
        const std::vector<Token> whole = tokens_of(draft.judge(rule, {}, memory));
        for (Token stop = 0; stop < draft.vocab; ++stop) {
            const std::array stops{stop};
            const Round cut = draft.judge(rule, {.stop_tokens = stops}, cut_memory);
            const auto found = std::ranges::find(whole, stop);
            CHECK(std::ranges::find(cut.tokens, stop) - cut.tokens.begin() >= std::ssize(cut.tokens) - 1);
            CHECK((cut.end == RoundEnd::stop_token) == (!cut.tokens.empty() && cut.tokens.back() == stop));
            // Block verification judges a draft as a whole, and a draft ends at a stop token.
            if (std::is_same_v<std::remove_cvref_t<decltype(rule)>, BlockVerification>) continue;
            check_whole(cut, whole);
            CHECK(std::ssize(cut.tokens) == found - whole.begin() + (found == whole.end() ? 0 : 1));
            CHECK(cut.end == (found == whole.end() ? RoundEnd::none : RoundEnd::stop_token));
        }
    });
}

TEST_CASE("a predicate ends a round after a token, or before it") {
    for_drafts([](const auto& draft, const auto& rule) {
        Workspace memory, cut_memory;
        const std::vector<Token> whole = tokens_of(draft.judge(rule, {}, memory));
        for (std::size_t at = 1; at <= whole.size(); ++at)
            for (const StopDecision stop : {StopDecision::include, StopDecision::exclude}) {
                // Block verification judges a draft as a whole, and a draft ends where the text does.
                const bool is_block = std::is_same_v<std::remove_cvref_t<decltype(rule)>, BlockVerification>;
                std::size_t asked = 0;
                const auto until = [&](std::span<const Token> tokens) {
                    CHECK((is_block || tokens.size() == asked + 1));
                    ++asked;
                    return tokens.size() == at ? stop : StopDecision::go_on;
                };
                const Round cut = draft.judge(rule, {.until = until}, cut_memory);
                const Index left_out = stop == StopDecision::exclude ? 1 : 0;
                if (cut.end != RoundEnd::none) {
                    CHECK(std::ssize(cut.tokens) == static_cast<Index>(at) - left_out);
                    CHECK(cut.end == (left_out == 1 ? RoundEnd::excluded : RoundEnd::included));
                    CHECK(cut.discarded == left_out);  // nothing past an end is decided
                }
                if (is_block) continue;
                CHECK(cut.end != RoundEnd::none);
                check_whole(cut, whole);
                CHECK(asked == at);
            }
    });
}

TEST_CASE("no row after the end of a text is read, and a predicate is asked about no node twice") {
    for_drafts([](const auto& draft, const auto& rule) {
        Workspace memory, blind_memory;
        const auto ends = [](Token token) { return token % 2 == 1; };
        const auto blind = draft.over_after(ends);
        for (const StopDecision stop : {StopDecision::include, StopDecision::exclude})
            for (const Check check : {Check::entries_read, Check::every_row}) {
                Index asked = 0;
                const auto until = [&](std::span<const Token> tokens) {
                    CHECK(std::none_of(tokens.begin(), tokens.end() - 1, ends));
                    ++asked;
                    return ends(tokens.back()) ? stop : StopDecision::go_on;
                };
                const Round whole = draft.judge(rule, {.until = until}, memory);
                const std::vector<Token> tokens = tokens_of(whole);
                asked = 0;
                const Round round = blind.judge(rule, {.until = until, .check = check}, blind_memory);
                CHECK(asked <= draft.size() + 1);
                REQUIRE(round);
                CHECK(tokens_of(round) == tokens);
                CHECK(round.counts() == whole.counts());
            }
    });
}

TEST_CASE("no row after a drafted stop token is read, nor those behind it, whatever is checked") {
    for_drafts([](const auto& draft, const auto& rule) {
        const std::array stops{Token{1}};
        auto blind = draft;
        for (Index node = 0; node < draft.size(); ++node) {
            const std::vector<Token> path = draft.context(node);
            const auto begin = path.begin() + std::ssize(draft.text);
            if (std::find(begin, path.end(), 1) != path.end())
                blind.target_rows[static_cast<std::size_t>(node + 1)].setConstant(NAN);
            if (std::find(begin, path.end() - 1, 1) != path.end() - 1)
                blind.draft_rows[static_cast<std::size_t>(node)].setConstant(NAN);
        }
        Workspace memory, blind_memory;
        const std::vector<Token> tokens = tokens_of(draft.judge(rule, {.stop_tokens = stops}, memory));
        for (const Check check : {Check::entries_read, Check::every_row}) {
            const Round round = blind.judge(rule, {.stop_tokens = stops, .check = check}, blind_memory);
            REQUIRE(round);
            CHECK(tokens_of(round) == tokens);
        }
    });
}

TEST_CASE("the row after a last token that ends the text may be left out, after no other") {
    const auto draft = random_round::Draft({}, random_round::chain_parents(3), testing::ContextModel(5, 1),
                                           testing::ContextModel(5, 1), RoundRng(1, 0, 0));  // p = q: all is accepted
    Workspace memory;
    const auto short_of_one = std::span(draft.target_rows).first(3);
    for (const std::size_t at : {2u, 3u, 4u}) {
        const auto until = [&](std::span<const Token> tokens) {
            return tokens.size() == at ? StopDecision::include : StopDecision::go_on;
        };
        rules::for_each([&](const auto& rule, const char*) {
            const auto distributions = draft.distributions();
            const Round round = verify(draft.tokens, rules::drafted_for(rule, distributions), short_of_one, rule,
                                       draft.rng, {.until = until}, memory);
            if (at == 4) {
                REQUIRE(round.fault);
                CHECK(round.fault->cause == Cause::wrong_count);
            } else {
                CHECK(round);
            }
        });
    }
}

TEST_CASE("whichever limit comes first ends a round") {
    const auto draft = random_round::Draft({}, random_round::chain_parents(4), testing::ContextModel(5, 1),
                                           testing::ContextModel(5, 1), RoundRng(1, 0, 0));  // p = q: all is accepted
    Workspace memory;
    const TokenVerification rule;
    const std::vector<Token> whole = tokens_of(draft.judge(rule, {}, memory));
    REQUIRE(whole.size() == 5);
    const auto until = [](std::span<const Token> tokens) {
        return tokens.size() == 3 ? StopDecision::include : StopDecision::go_on;
    };
    CHECK(draft.judge(rule, {.max_tokens = 2, .until = until}, memory).end == RoundEnd::budget);
    CHECK(draft.judge(rule, {.max_tokens = 3, .until = until}, memory).end == RoundEnd::included);
    CHECK(draft.judge(rule, {.max_tokens = 4, .until = until}, memory).end == RoundEnd::included);
    const std::array stops{whole[1]};
    CHECK(draft.judge(rule, {.stop_tokens = stops, .until = until}, memory).end == RoundEnd::stop_token);
}

TEST_CASE("a round that is dropped and repeated is the same round, its limits included") {
    for_drafts([](const auto& draft, const auto& rule) {
        Workspace memory, again;
        const auto until = [](std::span<const Token> tokens) {
            return tokens.back() == 1 ? StopDecision::exclude : StopDecision::go_on;
        };
        const RoundLimits limits{.max_tokens = 3, .until = until};
        const Round first = draft.judge(rule, limits, memory);
        const Round second = draft.judge(rule, limits, again);
        CHECK(tokens_of(first) == tokens_of(second));
        CHECK(first.counts() == second.counts());
        CHECK(first.end == second.end);
    });
}

TEST_CASE("keep lengths are what a replay from the emitted text needs") {
    // A cache holds what its model has read: the text and, of the draft, the nodes up to each of them. It may keep what
    // a model that reads the text with the round's tokens, except the last one, would hold as well.
    for_drafts([](const auto& draft, const auto& rule) {
        Workspace memory;
        const std::array stops{Token{1}};
        const auto until = [](std::span<const Token> tokens) {
            return tokens.back() == 0 ? StopDecision::exclude : StopDecision::go_on;
        };
        for (const RoundLimits& limits : {RoundLimits{}, RoundLimits{.max_tokens = 2},
                                          RoundLimits{.stop_tokens = stops}, RoundLimits{.until = until}}) {
            const Round round = draft.judge(rule, limits, memory);
            std::vector<Token> text = draft.text;
            text.insert(text.end(), round.tokens.begin(), round.tokens.end());

            const Index start = std::ssize(draft.text);
            std::vector<Token> cache = draft.text;  // in the order of the nodes, as a target pass leaves it
            cache.insert(cache.end(), draft.tokens.begin(), draft.tokens.end());
            round.compact(start, [&](Index from, Index to) {
                CHECK(from > to);
                cache[static_cast<std::size_t>(to)] = cache[static_cast<std::size_t>(from)];
            });
            const Index kept = round.keep_target(start);
            CHECK(kept <= std::ssize(text));
            CHECK(std::equal(cache.begin(), cache.begin() + kept, text.begin()));
            CHECK(kept == start + round.accepted);  // no accepted position is thrown away
            CHECK(round.keep_before_end(kept, start) ==
                  std::min(kept, std::ssize(text) - (round.end == RoundEnd::stop_token ? 1 : 0)));
        }
    });
}

TEST_CASE("the draft's cache keeps what it was shown of the text: accepted tokens that it drafted after") {
    for_drafts([](const auto& draft, const auto& rule) {
        const auto was_shown = [&](Index node) {
            return std::ranges::find(draft.parents, node) != draft.parents.end();
        };
        for (const Index budget : {1, 2, 3, 100}) {
            Workspace memory;
            const Round round = draft.judge(rule, {.max_tokens = budget}, memory);
            Index expected = 0;
            for (const Index node : round.path) expected += was_shown(node) ? 1 : 0;
            CHECK(round.keep_draft(7) == 7 + expected);
            CHECK(round.keep_draft(7) <= round.keep_target(7));
        }
    });
}

TEST_CASE("a forced token takes no random draw") {
    // One legal id after every context: drafted or not, no random number is used.
    struct NoRng {
        struct Rng {
            double uniform() const {
                FAIL("a random draw was drawn");
                return 0;
            }
        };
        Rng at(Purpose, Index) const { return {}; }
    };
    const std::array<Token, 1> only{2};
    const std::array<float, 1> certain{1}, logit{-3};
    const std::array<Token, 3> drafted{2, 2, 2};
    Workspace memory;
    const auto sparse = [&](Index) { return Sparse(only, certain, 4); };
    const auto forced = [&](Index) { return Sparse(only, Logits(std::span(logit), .7), 4); };
    for (const Index count : {0, 1, 3}) {
        const auto tokens = std::span(drafted).first(static_cast<std::size_t>(count));
        const auto all = [&](const auto& rule) {
            CHECK(verify(tokens, PointMass{}, sparse, rule, NoRng{}, {}, memory).tokens.size() == tokens.size() + 1);
            CHECK(verify(tokens, PointMass{}, forced, rule, NoRng{}, {}, memory).tokens.size() == tokens.size() + 1);
        };
        all(TokenVerification{});
        all(BlockVerification{});
        all(SampleMatch{});
    }
}

TEST_CASE("under every check, a row past the budget may make nothing possible, and no row before") {
    const std::vector<Token> tokens{0, 0};
    Workspace memory;
    const auto judge = [&](const RowMajorMatrix<double>& rows, const auto& rule, Index budget) {
        return verify(tokens, PointMass{}, rows, rule, RoundRng(1, 0, 0),
                      {.max_tokens = budget, .check = Check::every_row}, memory);
    };
    RowMajorMatrix<double> over(3, 2), unknown(3, 2);
    over << 1, 0, 1, 0, 0, 0;  // nothing follows the second token
    unknown << 1, 0, 1, 0, .2, std::nan("");
    const auto check = [&](const auto& rule) {
        CHECK(judge(over, rule, 2).tokens.size() == 2);
        CHECK(judge(over, rule, 1).tokens.size() == 1);
        CHECK(judge(over, rule, 3).fault);
        CHECK(judge(unknown, rule, 2).fault);
    };
    check(TokenVerification{});
    check(BlockVerification{});
    check(SampleMatch{});
    check(GumbelMatch{});
    check(GreedyMatch{});
    // A walk that needs the row finds the fault by itself.
    const auto read = [&](const auto& rule, Index budget) {
        return verify(tokens, PointMass{}, over, rule, RoundRng(1, 0, 0), {.max_tokens = budget}, memory);
    };
    CHECK(read(TokenVerification{}, 3).fault);
    CHECK(read(BlockVerification{}, 3).fault);
    CHECK(read(BlockVerification{}, 2).tokens.size() == 2);
}

TEST_CASE("a round cut to all of its tokens forgets the token that was left out after them") {
    Round round;
    const std::vector<Token> tokens{1, 2};
    round.tokens = tokens;
    round.end = RoundEnd::excluded;
    round.truncate(3);
    CHECK(round.end == RoundEnd::excluded);
    round.truncate(2);
    CHECK(round.end == RoundEnd::none);
    round.end = RoundEnd::included;
    round.truncate(2);
    CHECK(round.end == RoundEnd::included);
}

TEST_CASE("an until that is null is none") {
    bool (*const none)(std::span<const Token>) = nullptr;
    const std::function<bool(std::span<const Token>)> empty;
    for (const RoundLimits& limits : {RoundLimits{.until = none}, RoundLimits{.until = empty}})
        CHECK_FALSE(static_cast<bool>(limits.until));
}
