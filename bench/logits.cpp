// The kernels of draws.cpp on logits, as a model's last layer returns them: nothing is normalised before the clock
// starts.
#include "kernels.hpp"
#include "row_races.hpp"

#include <specsample/kernels.hpp>
#include <specsample/rows/logits.hpp>

namespace bench {
namespace {

// The library's view of stored logits. Every kernel below goes through these.

template <class Scalar>
auto distribution_of(const RowOf<Scalar>& logits) {
    return specsample::Logits(logits);
}
/// A row of logits whose normaliser is known, as after a draw from it.
template <class Scalar>
auto distribution_of_known(const RowOf<Scalar>& logits, double log_sum) {
    return specsample::Logits(logits, 1, log_sum);
}

template <class Weights>
Index draw(const Weights& weights, double u) {
    return specsample::kernels::draw_index(weights, [u] { return u; }).index;
}

template <class Scalar>
Race normaliser(const Setting& setting) {
    return race_values(
        setting, PoolOf<Scalar>(setting), [](const auto& at) { return specsample::kernels::log_sum_exp(at.target); },
        [](const auto& at) { return textbook::log_sum_exp(at.target); }, target_alone);
}

template <class Scalar>
Race categorical(const Setting& setting) {
    const PoolOf<Scalar> rows(setting);
    return race_draws(
        setting, rows, rows.contents().target,
        [](const auto& at, double u) { return draw(specsample::kernels::row_weights(distribution_of(at.target)), u); },
        [](const auto& at, double u) { return textbook::draw(textbook::softmax(at.target), u); }, target_alone);
}

/// The residual draw with both normalisers known: the target's from the test that rejected, the draft's from the draw.
template <class Scalar>
Race residual(const Setting& setting) {
    const PoolOf<Scalar> rows(setting);
    return race_draws(
        setting, rows, textbook::residual(rows.contents()),
        [&known = rows.contents()](const auto& at, double u) {
            const auto target = distribution_of_known(at.target, known.target_log_sum);
            const auto draft = distribution_of_known(at.draft, known.draft_log_sum);
            return draw(specsample::kernels::ResidualWeights(target.probs(), draft.probs()), u);
        },
        [](const auto& at, double u) {
            return textbook::draw(textbook::residual(textbook::softmax(at.draft), textbook::softmax(at.target)), u);
        },
        target_and_draft);
}

Race residual_mixed(const Setting& setting) {
    const Pool rows(setting);
    return race_draws(
        setting, rows, textbook::residual(rows.contents()),
        [&known = rows.contents()](const Pair& at, double u) {
            const auto target = distribution_of_known(at.target, known.target_log_sum);
            return draw(specsample::kernels::ResidualWeights(target.probs(), at.draft), u);
        },
        [](const Pair& at, double u) {
            return textbook::draw(textbook::residual(at.draft, textbook::softmax(at.target)), u);
        },
        target_and_draft);
}

}  // namespace

void add_logits(Kernels& kernels) {
    const Setting logits{.numbers = Numbers::logits}, mixed{.numbers = Numbers::mixed};
    const std::string group = "logits", bits = "16 bits";
    kernels.push_back({"log_sum_exp/logits", group, normaliser<float>, logits});
    kernels.push_back({"categorical/logits", group, categorical<float>, logits});
    kernels.push_back({"residual/logits", group, residual<float>, logits});
    kernels.push_back({"residual/mixed", group, residual_mixed, mixed});
    const auto gumbel = [](const Setting& setting) {
        return race_noise(
            setting, [](const Row& row) { return distribution_of(row); }, [](const Row& row) { return row; });
    };
    kernels.push_back({"gumbel/logits", group, gumbel, logits});
    kernels.push_back({"gumbel/logits/peaked", group, gumbel, {.numbers = Numbers::logits, .peaked = true}});
    kernels.push_back({"log_sum_exp/logits_bf16", bits, normaliser<Eigen::bfloat16>, logits});
    kernels.push_back({"categorical/logits_bf16", bits, categorical<Eigen::bfloat16>, logits});
    kernels.push_back({"residual/logits_bf16", bits, residual<Eigen::bfloat16>, logits});
    kernels.push_back({"log_sum_exp/logits_half", bits, normaliser<Eigen::half>, logits});
    kernels.push_back({"categorical/logits_half", bits, categorical<Eigen::half>, logits});
    kernels.push_back({"residual/logits_half", bits, residual<Eigen::half>, logits});
}

}  // namespace bench
