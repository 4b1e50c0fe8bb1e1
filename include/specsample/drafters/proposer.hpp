// A drafter inside a sampler: a model becomes a drafter of chains, and a stateful drafter is rolled back.
#pragma once

#include <span>
#include <utility>

#include <specsample/drafters/chain_drafter.hpp>
#include <specsample/drafters/drafter.hpp>
#include <specsample/models/host.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The drafter that D stands for: a drafter is itself, a model becomes a drafter of chains.
template <class D>
struct DrafterOf {
    using type = ChainDrafter<D>;
};
template <Drafter D>
struct DrafterOf<D> {
    using type = D;
};

/// A drafter, or a std::ref of one, that is rolled back when its prefix does not extend what it was last shown.
template <class D>
class Proposer {
  public:
    using Distribution = typename Unwrapped<D>::Distribution;

    explicit Proposer(D drafter) : drafter_(std::move(drafter)) {}

    Index depth() const { return depth_of(drafter_); }

    /// Roll the drafter back if necessary, and let it fill the draft tree.
    /// @param known   leading tokens of prefix that are the same as at the last call
    template <class Source, class L>
    void propose(std::span<const Token> prefix, Index known, const Source& rng, DraftTree<L>& draft_tree) {
        Unwrapped<D>& drafter = drafter_;
        if constexpr (Rewindable<D>) shown_.rewind(drafter, prefix, known, 0);
        drafter.propose(prefix, rng, draft_tree);
        if constexpr (Rewindable<D>) shown_.settle(prefix);
    }

    /// Call visit on each model that is held here, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(drafter_); }

  private:
    D drafter_;
    Shown shown_;
};

}}}  // namespace specsample::detail
