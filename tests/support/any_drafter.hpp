// Drafters that share a type of distribution behind one type, so that a sampler is compiled once for all of them.
#pragma once

#include <concepts>
#include <functional>
#include <span>

#include <specsample/drafters/proposer.hpp>

namespace any {

using namespace specsample;

/// Any drafter that is never rolled back, with distributions of one type. A call allocates nothing.
template <class L>
class Drafter {
  public:
    using Distribution = L;

    template <class D>
        requires(!std::same_as<D, Drafter>)
    explicit Drafter(D drafter)
        : propose_(
              [drafter](std::span<const Token> prefix, const RoundRng& rng,
                        DraftTree<Distribution>& draft_tree) mutable { drafter.propose(prefix, rng, draft_tree); }) {
        static_assert(!Rewindable<D>);
    }

    void propose(std::span<const Token> prefix, const RoundRng& rng, DraftTree<Distribution>& draft_tree) {
        propose_(prefix, rng, draft_tree);
    }

  private:
    std::function<void(std::span<const Token>, const RoundRng&, DraftTree<Distribution>&)> propose_;
};

}  // namespace any
