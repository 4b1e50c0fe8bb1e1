// The kernels that the rules are built on, on probabilities: one row or a pair of rows each.
#include "kernels.hpp"
#include "row_races.hpp"

#include <random>

#include <specsample/kernels.hpp>
#include <specsample/random.hpp>

namespace bench {
namespace {

using specsample::Purpose;
using specsample::Token;

template <class Scalar>
Race residual(const Setting& setting) {
    const PoolOf<Scalar> rows(setting);
    return race_draws(
        setting, rows, textbook::residual(rows.contents()),
        [](const auto& at, double u) {
            const specsample::kernels::ResidualWeights weights(at.target, at.draft);
            return specsample::kernels::draw_index(weights, [u] { return u; }).index;
        },
        [](const auto& at, double u) { return textbook::draw(textbook::residual(at.draft, at.target), u); },
        target_and_draft);
}

template <class Scalar>
Race categorical(const Setting& setting) {
    const PoolOf<Scalar> rows(setting);
    return race_draws(
        setting, rows, rows.contents().target,
        [](const auto& at, double u) {
            const specsample::kernels::RowWeights weights(at.target);
            return specsample::kernels::draw_index(weights, [u] { return u; }).index;
        },
        [](const auto& at, double u) { return textbook::draw(at.target, u); }, target_alone);
}

Race overlap(const Setting& setting) {
    return race_values(
        setting, Pool(setting), [](const Pair& at) { return specsample::kernels::overlap(at.draft, at.target); },
        [](const Pair& at) { return at.target.min(at.draft).sum(); }, target_and_draft);
}

Race inspect(const Setting& setting) {
    return race_values(
        setting, Pool(setting),
        [](const Pair& at) { return !specsample::kernels::inspect(at.target, specsample::Side::target, 0); },
        [](const Pair& at) { return textbook::is_distribution(at.target); }, target_alone);
}

Race argmax(const Setting& setting) {
    return race_values(
        setting, Pool(setting), [](const Pair& at) { return specsample::kernels::argmax(at.target); },
        [](const Pair& at) { return textbook::argmax(at.target); }, target_alone);
}

/// The acceptance tests of one case: a single one is shorter than the clock's resolution.
struct Tests {
    specsample::RoundRng rng;
    std::vector<Token> tokens;
};

/// 64 acceptance tests at as many positions. Each reads two entries, so most of the cost is in the random numbers.
Race accept(const Setting& setting) {
    const Pool rows(setting);
    const Eigen::ArrayXd& distribution = rows.contents().draft;
    std::mt19937_64 generator(42);
    std::discrete_distribution<Token> token(distribution.begin(), distribution.end());
    std::vector<Tests> cases;
    for (Index i = 0; i < 32; ++i) {
        cases.push_back({specsample::RoundRng(42, 0, i), std::vector<Token>(64)});
        for (Token& drafted : cases.back().tokens) drafted = token(generator);
    }
    const auto sum_over = [=](const Tests& tests, Index position, const auto& term) {
        Index place = 0;
        double total = 0;
        for (const Token id : tests.tokens) {
            const Pair at = rows[position + place];
            total += term(at.target[id], at.draft[id], tests.rng.at(Purpose::accept, place++));
        }
        return total;
    };
    Race race = make_race(
        setting, 64, std::move(cases),
        [=](const Tests& tests, Index position) {
            return sum_over(tests, position,
                            [](float p, float q, const auto& random) { return specsample::accept(random, p, q); });
        },
        [=](const Tests& tests, Index position) {
            return sum_over(tests, position, [](float p, float q, const auto& random) {
                return textbook::accept(random.uniform(), p, q);
            });
        },
        [=](const auto&, const Tests& tests, Index position) {
            return sum_over(tests, position, [](float p, float q, const auto&) { return p + q; });
        });
    race.bytes = 64 * 2 * sizeof(float);
    for (std::size_t one = 0; one < race.cases; ++one)
        if (race.ours(one, 0) != race.textbook(one, 0))
            race.refused = "the textbook's form accepted another number of tokens";
    return race;
}

}  // namespace

void add_draws(Kernels& kernels) {
    const std::string group = "probabilities";
    kernels.push_back({"residual/probs", group, residual<float>, {}});
    kernels.push_back({"categorical/probs", group, categorical<float>, {}});
    kernels.push_back({"overlap/probs", group, overlap, {}});
    kernels.push_back({"inspect/probs", group, inspect, {}});
    kernels.push_back({"argmax/probs", group, argmax, {}});
    const auto gumbel = [](const Setting& setting) {
        return race_noise(
            setting, [](const Row& row) { return row; }, [](const Row& row) { return row.log(); });
    };
    kernels.push_back({"gumbel/probs", group, gumbel, {}});
    kernels.push_back({"gumbel/probs/peaked", group, gumbel, {.peaked = true}});
    kernels.push_back({"accept64/probs", {}, accept, {}});
    kernels.push_back({"residual/probs_bf16", "16 bits", residual<Eigen::bfloat16>, {}});
    kernels.push_back({"categorical/probs_bf16", "16 bits", categorical<Eigen::bfloat16>, {}});
}

}  // namespace bench
