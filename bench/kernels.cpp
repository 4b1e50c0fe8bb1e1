// The kernels under the rules, each on probabilities: one row, or a pair of rows.
#include "bench.hpp"
#include "race.hpp"
#include "textbook.hpp"

#include <cmath>
#include <random>

#include <specsample/kernels.hpp>
#include <specsample/random.hpp>

namespace bench {
namespace {

using specsample::Purpose;
using specsample::Token;

/// A kernel of one name, at every setting.
template <class Kernel>
void register_kernel(const std::string& kernel, const Kernel& run) {
    for_settings([&](const Setting& setting) {
        benchmark::RegisterBenchmark(name(kernel, setting).c_str(), [=](benchmark::State& state) {
            run(state, setting);
        })->UseManualTime();
    });
}

// What a kernel reads.
const auto target_alone = [](const auto& reader, const Pair& at) { return reader(at.target); };
const auto target_and_draft = [](const auto& reader, const Pair& at) { return reader(at.target, at.draft); };

/// Coins for draws, spread over the vocabulary.
std::vector<double> uniforms() {
    std::vector<double> result;
    for (Index i = 0; i < 16; ++i) result.push_back(specsample::Coins(42, 0, i).at(Purpose::last, 0).uniform());
    return result;
}

/// Race two forms of a draw, which have to agree first.
/// @param weights, textbook   from a pair: our weights; from a pair and a coin: the textbook's token
template <class WeightsOf, class Textbook, class Read>
void race_draws(benchmark::State& state, const Setting& setting, const WeightsOf& weights, const Textbook& textbook,
                const Read& read) {
    const Track track(setting);
    const auto ours = [&](double u, Index position) {
        return specsample::draw_index(weights(track.rows()[position]), [u] { return u; }).index;
    };
    const auto theirs = [&](double u, Index position) { return textbook(track.rows()[position], u); };
    const auto cases = uniforms();
    for (const double u : cases) {
        if (textbook::distance(weights(track.rows()[0]), ours(u, 0), theirs(u, 0)) > textbook::rounding)
            return state.SkipWithError("the textbook's form drew another token for the same coin");
    }
    race(state, track, cases, ours, theirs,
         [&](const auto& reader, double, Index position) { return read(reader, track.rows()[position]); });
}

void residual(benchmark::State& state, const Setting& setting) {
    race_draws(
        state, setting, [](const Pair& at) { return specsample::ResidualWeights<Row, Row>(at.target, at.draft); },
        [](const Pair& at, double u) { return textbook::draw(textbook::residual(at), u); }, target_and_draft);
}

void categorical(benchmark::State& state, const Setting& setting) {
    race_draws(
        state, setting, [](const Pair& at) { return specsample::RowWeights(at.target); },
        [](const Pair& at, double u) { return textbook::draw(at.target, u); }, target_alone);
}

/// Race two functions of a pair, whose values have to agree first.
template <class Ours, class Textbook, class Read>
void race_values(benchmark::State& state, const Setting& setting, const Ours& ours, const Textbook& textbook,
                 const Read& read) {
    const Track track(setting);
    const Pair first = track.rows()[0];
    if (std::abs(static_cast<double>(ours(first)) - static_cast<double>(textbook(first))) > textbook::rounding)
        return state.SkipWithError("the textbook's form found another value");
    race(
        state, track, std::vector{0}, [&](int, Index position) { return ours(track.rows()[position]); },
        [&](int, Index position) { return textbook(track.rows()[position]); },
        [&](const auto& reader, int, Index position) { return read(reader, track.rows()[position]); });
}

void overlap(benchmark::State& state, const Setting& setting) {
    race_values(
        state, setting, [](const Pair& at) { return specsample::overlap(at.target, at.draft); },
        [](const Pair& at) { return at.target.min(at.draft).sum(); }, target_and_draft);
}

void inspect(benchmark::State& state, const Setting& setting) {
    race_values(
        state, setting, [](const Pair& at) { return !specsample::inspect(at.target, specsample::Party::target, 0); },
        [](const Pair& at) { return textbook::is_distribution(at.target); }, target_alone);
}

/// The tests of one case: a single one is shorter than the clock is fine.
struct Tests {
    specsample::Coins coins;
    std::vector<Token> tokens;
};

std::vector<Tests> draw_tests(const Row& draft) {
    std::mt19937_64 generator(42);
    std::discrete_distribution<Token> token(draft.begin(), draft.end());
    std::vector<Tests> result;
    for (Index i = 0; i < 32; ++i) {
        result.push_back({specsample::Coins(42, 0, i), std::vector<Token>(64)});
        for (Token& drafted : result.back().tokens) drafted = token(generator);
    }
    return result;
}

/// 64 acceptance tests at as many positions: two entries each, so it is the coins that cost.
void accept(benchmark::State& state, const Setting& setting) {
    const Track track(setting, 64);
    const auto sum_over = [&](const Tests& tests, Index position, const auto& term) {
        Index place = 0;
        double total = 0;
        for (const Token token : tests.tokens) {
            total += term(track.rows()[position + place], token, tests.coins.at(Purpose::accept, place));
            ++place;
        }
        return total;
    };
    const auto ours = [&](const Tests& tests, Index position) {
        return sum_over(tests, position, [](const Pair& at, Token token, const specsample::Coin& coin) {
            return specsample::accept(coin, at.target[token], at.draft[token]);
        });
    };
    const auto theirs = [&](const Tests& tests, Index position) {
        return sum_over(tests, position, [](const Pair& at, Token token, const specsample::Coin& coin) {
            return textbook::accept(coin.uniform(), at, token);
        });
    };
    const auto entries = [&](const auto&, const Tests& tests, Index position) {
        return sum_over(tests, position, [](const Pair& at, Token token, const specsample::Coin&) {
            return at.target[token] + at.draft[token];
        });
    };
    const auto cases = draw_tests(track.rows()[0].draft);
    for (const Tests& tests : cases)
        if (ours(tests, 0) != theirs(tests, 0))
            return state.SkipWithError("the textbook's form accepted another number of tokens");
    race(state, track, cases, ours, theirs, entries);
    state.SetItemsProcessed(state.iterations() * 64);
}

}  // namespace

void register_kernels() {
    register_kernel("residual/probs", residual);
    register_kernel("categorical/probs", categorical);
    register_kernel("overlap/probs", overlap);
    register_kernel("inspect/probs", inspect);
    register_kernel("accept64/probs", accept);
}

}  // namespace bench
