// Drafters that share a type of law behind one type, so that a sampler is compiled once for all of them.
#pragma once

#include <concepts>
#include <functional>
#include <span>

#include <specsample/draft/proposer.hpp>

namespace any {

using namespace specsample;

/// Any drafter with laws of one type, of those that are never rolled back. To call it allocates nothing.
template <class L>
class Drafter {
  public:
    using Law = L;

    template <class D>
        requires(!std::same_as<D, Drafter>)
    explicit Drafter(D drafter)
        : propose_([drafter](std::span<const Token> prefix, const Coins& coins, Proposal<Law>& proposal) mutable {
              drafter.propose(prefix, coins, proposal);
          }) {
        static_assert(!Rewindable<D>);
    }

    void propose(std::span<const Token> prefix, const Coins& coins, Proposal<Law>& proposal) {
        propose_(prefix, coins, proposal);
    }

  private:
    std::function<void(std::span<const Token>, const Coins&, Proposal<Law>&)> propose_;
};

}  // namespace any
