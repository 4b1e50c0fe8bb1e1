// Compile-time checks of the arguments of verify: each mistake gives one sentence, which is the compiler's first error.
#pragma once

#include <span>
#include <type_traits>
#include <utility>

#include <specsample/concepts.hpp>
#include <specsample/verify/lists.hpp>
#include <specsample/verify/round_context.hpp>
#include <specsample/verify/rule.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Token ids in contiguous memory, of any integral type.
template <class T>
concept Ids = requires(const T& ids) { std::span(ids); } &&
              Integer<typename decltype(std::span(std::declval<const T&>()))::value_type>;

/// The type of one drafted token's distribution, found from the type of the list of all of them.
template <class Distributions>
using DistributionIn = std::remove_cvref_t<decltype(distribution_at(std::declval<Distributions&>(), Index{}))>;

/// The distribution of a token that is known at compile time to be drawn with the drafter's own random numbers, not
/// with the noise of the target.
template <class L>
concept DrawnAlone = RowDistribution<L> && requires { requires !L::is_point(); };

/// Checks the arguments in their order. After one check has failed, the later ones count as passed, so that one mistake
/// gives one sentence.
template <bool ids, class Distributions, class Rows, class R, class Source>
struct VerifyArguments {
    static constexpr bool distributions = !ids || DraftDistributions<Distributions>;
    static constexpr bool rows = !ids || !distributions || RowSource<Rows>;
    static constexpr bool rng = !ids || !distributions || !rows || RandomSource<Source>;
    static constexpr bool rule = [] {
        if constexpr (ids && distributions && rows && rng)
            return RuleRequirements<R, RoundContext<Distributions, Rows, Source>>::all;
        return true;
    }();
    static constexpr bool drawn = [] {
        if constexpr (ids && distributions && rows && rng && rule)
            return !shares_noise<R> || !DrawnAlone<DistributionIn<Distributions>>;
        return true;
    }();
    static constexpr bool all = ids && distributions && rows && rng && rule && drawn;

    static_assert(ids,
                  "specsample::verify: the first argument must be the drafted token ids, of any integral type; "
                  "write a std::vector or std::span of them, or Tree{tokens, parents}");
    static_assert(distributions,
                  "specsample::verify: the second argument must say what each token was drawn from, which a row alone "
                  "does not; write Sampled{row} for each, of a matrix [&](specsample::Index i) { return "
                  "Sampled{rows.row(i)}; }, or PointMass{} for all");
    static_assert(
        rows,
        "specsample::verify: the third argument must be the target's rows of floating point, one more than "
        "drafted tokens; write a row-major Eigen matrix, anything indexed [i] that gives a row, or a callable "
        "of i that returns one");
    static_assert(rng,
                  "specsample::verify: the fifth argument must be a source of random numbers; write "
                  "specsample::RoundRng(seed, request, round_start)");
    static_assert(
        drawn,
        "specsample::verify: this rule shares the target's noise with the drafter, and Sampled says that the "
        "tokens were drawn without it, which halves what is accepted; draw each by auto [token, distribution] "
        "= draft_token(rule, rng, node, row), or give PointMass{} for tokens of another origin");
};

}}}  // namespace specsample::detail
