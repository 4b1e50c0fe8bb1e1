// The suffix automaton against the sets of positions where each string of its texts ends.
#include <specsample/drafters/suffix_automaton.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <specsample/random/rng.hpp>

#include "support/catch.hpp"
#include "support/texts.hpp"

using namespace specsample;

namespace {

using texts::Dice;
using texts::Text;
using State = detail::SuffixAutomaton::State;

using Places = std::set<std::pair<std::size_t, std::size_t>>;  // a text, and where in it

/// The positions where each non-empty string ends.
std::map<Text, Places> all_places(const std::vector<Text>& texts) {
    std::map<Text, Places> places;
    for (std::size_t t = 0; t < texts.size(); ++t)
        for (std::size_t begin = 0; begin < texts[t].size(); ++begin) {
            Text string;
            for (std::size_t end = begin; end < texts[t].size(); ++end) {
                string.push_back(texts[t][end]);
                places[string].insert({t, end});
            }
        }
    return places;
}

State state_of(const detail::SuffixAutomaton& automaton, const Text& string) {
    State state = detail::SuffixAutomaton::root;
    for (const Token token : string)
        if (state != detail::SuffixAutomaton::none) state = automaton.next(state, token);
    return state;
}

Text tail(const Text& string, std::size_t length) { return {string.end() - static_cast<Index>(length), string.end()}; }

/// True if an automaton is the smallest one of these texts, the last of which is open, with the right counts.
bool is_automaton_of(detail::SuffixAutomaton& automaton, const std::vector<Text>& texts, Index alphabet) {
    const auto places = all_places(texts);
    bool good = automaton.last() == state_of(automaton, texts.back()) && automaton.size() == std::ssize(texts.back());
    for (Index i = 0; good && i < automaton.size(); ++i)
        good = automaton.token(i) == texts.back()[static_cast<std::size_t>(i)];

    // Strings are in one state if and only if they end at the same positions.
    std::map<Places, State> states;
    std::map<State, Text> longest;
    for (const auto& [string, ends] : places) {
        const State state = state_of(automaton, string);
        if (state == detail::SuffixAutomaton::none || state == detail::SuffixAutomaton::root) return false;
        good = good && states.emplace(ends, state).first->second == state;
        good = good && automaton.occurrences(state) == std::ssize(ends);
        if (longest[state].size() < string.size()) longest[state] = string;
    }
    good = good && states.size() == longest.size() && automaton.state_count() == std::ssize(states) + 1;

    Index transitions = 0;
    longest[detail::SuffixAutomaton::root] = {};
    for (const auto& [state, string] : longest) {
        std::map<Token, State> next, listed;
        for (Token token = 0; token < alphabet + 1; ++token) {
            Text more = string;
            more.push_back(token);
            if (places.contains(more))
                next[token] = state_of(automaton, more);
            else
                good = good && automaton.next(state, token) == detail::SuffixAutomaton::none;
        }
        automaton.for_next(state,
                           [&](Token token, State after) { good = good && listed.emplace(token, after).second; });
        good = good && next == listed;
        transitions += std::ssize(next);

        good = good && automaton.length(state) == std::ssize(string);
        std::size_t shorter = string.size();
        while (shorter > 0 && places.at(tail(string, shorter)) == places.at(string)) --shorter;
        good = good && automaton.link(state) == (string.empty() ? detail::SuffixAutomaton::none
                                                                : state_of(automaton, tail(string, shorter)));
        std::size_t followed = string.size();
        const auto goes_on = [&] {
            Text more = tail(string, followed);
            more.push_back(0);
            for (; more.back() < alphabet; ++more.back())
                if (places.contains(more)) return true;
            return false;
        };
        while (followed > 0 && !goes_on()) --followed;
        good = good && automaton.continued(state) == state_of(automaton, tail(string, followed));
    }
    return good && automaton.transition_count() == transitions;
}

detail::SuffixAutomaton automaton_of(const Text& text) {
    detail::SuffixAutomaton automaton;
    for (const Token token : text) automaton.push_back(token);
    return automaton;
}

}  // namespace

TEST_CASE("an automaton is the smallest one of its texts, through writing, undoing and closing") {
    Index undone = 0, closed = 0, repeats = 0;
    for (const Index alphabet : {1, 2, 3, 12})
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            Dice dice{seed + 10 * static_cast<std::uint64_t>(alphabet)};
            detail::SuffixAutomaton automaton;
            std::vector<Text> texts(1);
            for (int step = 0; step < 24; ++step) {
                Text& open = texts.back();
                const Index kind = dice(12);
                if (kind == 0) {
                    automaton.close();
                    closed += !open.empty();
                    texts.emplace_back();
                } else if (kind < 5) {
                    const Index length = std::max<Index>(0, std::ssize(open) - dice(kind == 1 ? 30 : 5));
                    undone += std::ssize(open) - length;
                    open.resize(static_cast<std::size_t>(length));
                    automaton.truncate(length);
                } else {
                    for (Index i = dice(kind == 5 ? 25 : 6); i > 0 && open.size() < 60; --i) {
                        open.push_back(static_cast<Token>(dice(alphabet)));
                        automaton.push_back(open.back());
                    }
                }
                if (dice(3) == 0) continue;  // so that counts are not always asked for
                INFO(alphabet << " tokens, seed " << seed << ", step " << step);
                REQUIRE(is_automaton_of(automaton, texts, alphabet));
                repeats += texts.size() > 1 && automaton.occurrences(automaton.last()) > 1;
            }
        }
    CHECK(undone > 200);
    CHECK(closed > 10);
    CHECK(repeats > 5);  // where the open text is part of a closed one
}

TEST_CASE("long texts are counted as short ones are") {
    // For a text with as many links as tokens, and for one with few: a token at a time, all at once, and after most of
    // it is undone.
    for (const Index alphabet : {1, 2, 5}) {
        Dice dice{77};
        Text text;
        for (int i = 0; i < 400; ++i) text.push_back(static_cast<Token>(dice(alphabet)));
        const auto count = [&](std::size_t size, const Text& string) {
            Index found = 0;
            for (std::size_t end = string.size(); end <= size; ++end)
                found +=
                    std::equal(string.begin(), string.end(), text.begin() + static_cast<Index>(end - string.size()));
            return found;
        };
        detail::SuffixAutomaton stepwise;
        const auto check = [&](detail::SuffixAutomaton& automaton, std::size_t size) {
            for (std::size_t length = 1; length < 6; ++length)
                for (std::size_t begin = 0; begin < 50; begin += 7) {
                    const Text string(text.begin() + static_cast<Index>(begin),
                                      text.begin() + static_cast<Index>(begin + length));
                    REQUIRE(automaton.occurrences(state_of(automaton, string)) == count(size, string));
                }
        };
        for (std::size_t size = 1; size <= text.size(); ++size) {
            stepwise.push_back(text[size - 1]);
            REQUIRE(stepwise.occurrences(state_of(stepwise, {text[0]})) == count(size, {text[0]}));
        }
        check(stepwise, 400);
        detail::SuffixAutomaton at_once = automaton_of(text);
        check(at_once, 400);
        for (detail::SuffixAutomaton* automaton : {&stepwise, &at_once})
            for (const std::size_t size : {399u, 390u, 120u, 119u, 60u}) {
                automaton->truncate(static_cast<Index>(size));
                check(*automaton, size);
            }
    }
}

TEST_CASE("a text of n tokens has at most 2n - 1 states and 3n - 4 transitions, and there are texts that have them") {
    for (const Index alphabet : {2, 3, 50})
        for (const Index n : {3, 4, 7, 20, 5000}) {
            Dice dice{static_cast<std::uint64_t>(n)};
            detail::SuffixAutomaton automaton;
            for (Index i = 0; i < n; ++i) automaton.push_back(static_cast<Token>(dice(alphabet)));
            CHECK(automaton.state_count() <= 2 * n - 1);
            CHECK(automaton.transition_count() <= 3 * n - 4);
            automaton.truncate(0);
            CHECK(automaton.state_count() == 1);
            CHECK(automaton.transition_count() == 0);
        }
    Text text(200, 1);
    text.front() = 0;
    CHECK(automaton_of(text).state_count() == 2 * 200 - 1);
    text.back() = 2;
    CHECK(automaton_of(text).transition_count() == 3 * 200 - 4);
}

TEST_CASE("a text that is closed again and again adds occurrences and nothing else") {
    Dice dice{3};
    Text text;
    for (int i = 0; i < 300; ++i) text.push_back(static_cast<Token>(dice(4)));
    detail::SuffixAutomaton automaton;
    Index states = 0, transitions = 0;
    for (Index times = 1; times <= 5; ++times) {
        for (const Token token : text) automaton.push_back(token);
        CHECK(automaton.occurrences(automaton.last()) == times);
        automaton.close();
        CHECK(automaton.size() == 0);
        CHECK(automaton.last() == detail::SuffixAutomaton::root);
        if (times == 1) {
            states = automaton.state_count();
            transitions = automaton.transition_count();
        }
        CHECK(automaton.state_count() == states);
        CHECK(automaton.transition_count() == transitions);
        CHECK(automaton.occurrences(state_of(automaton, text)) == times);
    }
}

TEST_CASE("an automaton refuses a wrong length by name") {
    detail::SuffixAutomaton automaton;
    automaton.push_back(4);
    automaton.close();
    automaton.push_back(4);
    CHECK_THROWS_WITH(automaton.truncate(2),
                      "specsample::SuffixAutomaton: length is 2, but must be 0 to the 1 tokens there are");
    CHECK_THROWS_WITH(automaton.truncate(-1),
                      "specsample::SuffixAutomaton: length is -1, but must be 0 to the 1 tokens there are");
    CHECK(automaton.size() == 1);
}

TEST_CASE("transitions that collide are found, and leave as they came") {
    // All hash to the same place in every table of up to 4096 slots, and most of them are too many for a search.
    std::vector<std::pair<State, Token>> colliding;
    for (Token token = 0; colliding.size() < 300; ++token)
        if (const State from = token % 5; detail::transition_hash(from, token) % 4096 == 77)
            colliding.push_back({from, token});
    detail::Transitions transitions;
    const auto check = [&](std::size_t count) {
        REQUIRE(transitions.size() == static_cast<Index>(count));
        for (std::size_t i = 0; i < colliding.size(); ++i) {
            const auto [from, token] = colliding[i];
            const auto edge = transitions.find(from, token);
            REQUIRE(edge == (i < count ? static_cast<detail::Transitions::Edge>(i) : detail::Transitions::none));
            if (i < count) REQUIRE(transitions.target(edge) == static_cast<State>(i + 7));
        }
        std::size_t listed = 0;
        for (State from = 0; from < 6; ++from)
            for (auto edge = transitions.first(from); edge != transitions.none; edge = transitions.after(edge))
                ++listed;
        REQUIRE(listed == count);
    };
    Dice dice{1};
    std::size_t count = 0;
    for (int round = 0; round < 40; ++round) {
        const auto wanted = static_cast<std::size_t>(dice(301));
        for (; count > wanted; --count) transitions.pop_back();
        for (; count < wanted; ++count)
            transitions.add(colliding[count].first, colliding[count].second, static_cast<State>(count + 7));
        check(count);
    }
}
