// Every drafter of two models, as one type.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <specsample/drafters/beam.hpp>
#include <specsample/drafters/heads.hpp>
#include <specsample/drafters/heads_tree.hpp>
#include <specsample/drafters/united.hpp>
#include <specsample/sampler/staged.hpp>
#include <specsample/tree/sparse_tree.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"

namespace cases {

/// Any drafter whose distributions are point masses or rows of the test's models: one type, so that a rule is compiled
/// once.
class AnyDrafter {
  public:
    using Distribution = Mixed<RememberedView>;

    template <class Drafter>
        requires(!std::same_as<Drafter, AnyDrafter>)
    AnyDrafter(Drafter drafter)
        : propose_(
              [drafter](std::span<const Token> prefix, const EnumeratedRng& rng,
                        DraftTree<Distribution>& draft_tree) mutable { drafter.propose(prefix, rng, draft_tree); }) {}

    void propose(std::span<const Token> prefix, const EnumeratedRng& rng, DraftTree<Distribution>& draft_tree) {
        propose_(prefix, rng, draft_tree);
    }
    void propose(std::span<const Token>, const RoundRng&, DraftTree<Distribution>&) {
        FAIL("these random draws are not enumerated");
    }

  private:
    std::function<void(std::span<const Token>, const EnumeratedRng&, DraftTree<Distribution>&)> propose_;
};

struct Named {
    const char* name;
    AnyDrafter drafter;
};

/// The drafters made of two models, a and b.
/// @param heads   the model behind heads, which is asked about texts that nobody writes
inline std::vector<Named> drafters(const Remembered& a, const Remembered& b, const Remembered& heads) {
    return {{"chain", ChainDrafter(a)},
            {"heads", HeadsDrafter(Heads{heads, 3}, 3)},
            {"one head", HeadsDrafter(Heads{heads, 1}, 1)},
            {"hybrid", HybridDrafter(a, Heads{heads, 2}, {1, 2})},
            {"hybrid of all tokens", HybridDrafter(a, Heads{heads, 3}, {3, 3, 3})},
            {"a tree of heads", HeadsTreeDrafter(Heads{heads, 2}, expansion_tree({2, 2}))},
            {"a sparse tree", TreeDrafter(a, sparse_tree(std::vector<double>{.6, .3}, 5))},
            {"beams", BeamDrafter(a, 2)},
            {"dynamic tree", DynamicTreeDrafter(a, {.width = 3, .nodes = 4})},
            {"two chains", United(a, b)},
            {"two chains, one model", United(a, a)},
            {"a tree and a chain", United(TreeDrafter(a, {2, 1}), b)},
            {"beams and a chain", United(BeamDrafter(b, 2), a)},
            {"the first of two", FirstOf(BeamDrafter(a, 1), b)},
            {"staged", StagedDrafter(a, b, 1)},
            {"staged, two at a time", StagedDrafter(a, b, 2, BlockVerification{})},
            {"staged tree", StagedDrafter(United(a, BeamDrafter(a, 2)), b, 2)},
            {"two stages", StagedDrafter(StagedDrafter(a, b, 1), a, 2)}};
}
inline std::vector<Named> drafters(const Remembered& a, const Remembered& b) { return drafters(a, b, b); }

}  // namespace cases
