// The whole round by token verification, on probabilities that an engine already has.
#include "bench.hpp"
#include "race.hpp"
#include "textbook.hpp"

#include <random>

#include <specsample/verify.hpp>

namespace bench {
namespace {

using specsample::Check;
using specsample::Purpose;
using specsample::Token;

/// A drafted round before it is judged, and how it will end.
struct Draft {
    std::vector<Token> tokens;
    specsample::Coins coins;
    Index accepted = 0;
};

std::vector<Draft> draw_drafts(const Pair& at, Index lookahead) {
    std::mt19937_64 generator(42);
    std::discrete_distribution<Token> token(at.draft.begin(), at.draft.end());
    std::vector<Draft> result;
    for (Index i = 0; i < 32; ++i) {
        Draft draft{std::vector<Token>(static_cast<std::size_t>(lookahead)), specsample::Coins(42, 0, i)};
        for (Token& drafted : draft.tokens) drafted = token(generator);
        for (const Token drafted : draft.tokens) {
            if (!textbook::accept(draft.coins.at(Purpose::accept, draft.accepted).uniform(), at, drafted)) break;
            ++draft.accepted;
        }
        result.push_back(std::move(draft));
    }
    return result;
}

/// The target's rows of a round that starts at position `first`, as verify takes them.
struct Targets {
    const Pool& pool;
    Index first;
    std::size_t count;

    std::size_t size() const { return count; }
    Row operator[](std::size_t i) const { return pool[first + static_cast<Index>(i)].target; }
};

/// The laws of the drafted tokens.
struct Laws {
    const Pool& pool;
    Index first;
    std::size_t count;

    std::size_t size() const { return count; }
    specsample::Sampled<Row> operator[](std::size_t i) const {
        return specsample::Sampled(pool[first + static_cast<Index>(i)].draft);
    }
};

textbook::Ending verify(const Draft& draft, const Pool& pool, Index first, Check check,
                        specsample::Workspace& workspace) {
    const std::size_t count = draft.tokens.size();
    const auto round = specsample::verify(draft.tokens, Laws{pool, first, count}, Targets{pool, first, count + 1},
                                          specsample::TokenVerification{}, draft.coins, {.check = check}, workspace);
    return round ? textbook::Ending{round.accepted, round.tokens.back()} : textbook::Ending{-1, -1};
}

/// The rows that a lazy verifier needs in full: those of the rejected position, or the last row.
template <class Reader>
float read_needed(const Reader& reader, const Draft& draft, const Pair& at) {
    const bool rejected = draft.accepted < static_cast<Index>(draft.tokens.size());
    return rejected ? reader(at.target, at.draft) : reader(at.target);
}

/// Call f for every row of the round.
template <class F>
void for_rows(const Draft& draft, const Pool& pool, Index first, const F& f) {
    const auto count = static_cast<Index>(draft.tokens.size());
    for (Index i = 0; i < count; ++i) {
        f(pool[first + i].target);
        f(pool[first + i].draft);
    }
    f(pool[first + count].target);
}

bool agree(const Pair& at, const textbook::Ending& ours, const textbook::Ending& theirs, Index lookahead) {
    if (ours.accepted != theirs.accepted) return false;
    const double distance =
        ours.accepted < lookahead
            ? textbook::distance(specsample::ResidualWeights<Row, Row>(at.target, at.draft), ours.last, theirs.last)
            : textbook::distance(specsample::RowWeights(at.target), ours.last, theirs.last);
    return distance <= textbook::rounding;
}

constexpr const char* disagreement = "the textbook's form ended a round in another way";

/// Rows past the one where the walk stops are not touched: a cold round stops at the pool's next position.
void round(benchmark::State& state, const Setting& setting, Index lookahead) {
    const Track track(setting);
    const Pool& pool = track.rows();
    specsample::Workspace workspace;
    const auto ours = [&](const Draft& draft, Index stop) {
        return verify(draft, pool, stop - draft.accepted, Check::entries_read, workspace);
    };
    const auto theirs = [&](const Draft& draft, Index stop) {
        return textbook::round(draft.tokens, pool, stop - draft.accepted, draft.coins);
    };
    const auto drafts = draw_drafts(pool[0], lookahead);
    for (const Draft& draft : drafts)
        if (!agree(pool[0], ours(draft, 0), theirs(draft, 0), lookahead)) return state.SkipWithError(disagreement);
    race(state, track, drafts, ours, theirs,
         [&](const auto& reader, const Draft& draft, Index stop) { return read_needed(reader, draft, pool[stop]); });
}

/// The same with every supplied row checked, so that none of them can be bad: all are read.
void checked_round(benchmark::State& state, const Setting& setting, Index lookahead) {
    const Track track(setting, lookahead + 1);
    const Pool& pool = track.rows();
    specsample::Workspace workspace;
    const auto ours = [&](const Draft& draft, Index first) {
        return verify(draft, pool, first, Check::every_row, workspace);
    };
    const auto theirs = [&](const Draft& draft, Index first) {
        bool good = true;
        for_rows(draft, pool, first, [&](const Row& row) { good &= textbook::is_distribution(row); });
        return good ? textbook::round(draft.tokens, pool, first, draft.coins) : textbook::Ending{-1, -1};
    };
    const auto drafts = draw_drafts(pool[0], lookahead);
    for (const Draft& draft : drafts)
        if (!agree(pool[0], ours(draft, 0), theirs(draft, 0), lookahead)) return state.SkipWithError(disagreement);
    race(state, track, drafts, ours, theirs, [&](const auto& reader, const Draft& draft, Index first) {
        float sum = 0;
        for_rows(draft, pool, first, [&](const Row& row) { sum += reader(row); });
        return sum;
    });
}

template <class Run>
void register_round(const std::string& kernel, const Setting& setting, Index lookahead, const Run& run) {
    const std::string arguments = "/K:" + std::to_string(lookahead) + "/alpha:" + std::to_string(setting.alpha);
    benchmark::RegisterBenchmark(name(kernel, setting, arguments).c_str(), [=](benchmark::State& state) {
        run(state, setting, lookahead);
    })->UseManualTime();
}

}  // namespace

void register_rounds() {
    for_settings([](Setting setting) {
        for (const Index lookahead : {4, 8}) {
            for (const int alpha : {50, 70, 90}) {
                setting.alpha = alpha;
                register_round("round/probs", setting, lookahead, round);
            }
            setting.alpha = 70;
            register_round("round_every_row/probs", setting, lookahead, checked_round);
        }
    });
}

}  // namespace bench
