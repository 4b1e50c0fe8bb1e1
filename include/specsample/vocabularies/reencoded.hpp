// Drafts in another tokenizer, by their text.
//
// Timor et al.: "Accelerating LLM inference with lossless speculative decoding algorithms for heterogeneous
// vocabularies", ICML 2025 (arXiv:2502.05202), algorithm 2: string-level exact match.
#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <specsample/drafters/drafter.hpp>
#include <specsample/drafters/named.hpp>
#include <specsample/drafters/chain.hpp>
#include <specsample/drafters/proposer.hpp>
#include <specsample/vocabularies/mapped_prefix.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace vocabularies {

/// Drafts with a drafter, or a model, of any tokenizer: what it writes is tokenised again in the target's ids.
///
///     Reencoded(draft, [&](std::span<const Token> text) { return own.encode(target_tokenizer.decode(text)); },
///               [&](std::span<const Token> drafted) { return target_tokenizer.encode(own.decode(drafted)); })
///
/// The tokenizers need nothing in common but the text. Which of the target's tokens come out is decided by all that was
/// drafted and not drawn from a row, so all are point masses, and a token is accepted with the target's probability.
/// Where most ids of both vocabularies stand for the same texts, mapped(model, map) judges tokens by the row that they
/// were drawn from, which accepts more.
///
/// @tparam D          a drafter of chains or trees, a model, or a std::ref of either; it is rolled back by its own ids
/// @param to_draft    from a whole text in the target's tokens to the drafter's: a vector, or a view until the next
///                    call
/// @param to_target   from what was drafted, one path of the tree at a time, to the target's tokens; likewise
/// @draws             the draws of the drafter
/// @cost              the drafter's; both callables, to_target once per path; O(prefix)
/// @edge              the last token may be a piece of a word that the draft ends in, and is then seldom accepted.
///                    Nothing is drafted where to_target returns no token
template <class D, class ToDraft, class ToTarget>
class Reencoded {
    static_assert(detail::PrefixTranslation<ToDraft>,
                  "specsample::vocabularies::Reencoded: the second argument must be a callable of a whole text, "
                  "std::span<const Token>, that returns it in the drafter's tokens, as std::vector<Token>");
    static_assert(detail::PrefixTranslation<ToTarget>,
                  "specsample::vocabularies::Reencoded: the third argument must be a callable of drafted tokens, "
                  "std::span<const Token>, that returns their text in the target's tokens, as std::vector<Token>");
    using Inner = typename detail::DrafterOf<D>::type;

  public:
    using Distribution = PointMass;
    static constexpr bool branches = detail::may_branch<Inner>;

    Reencoded(D drafter, ToDraft to_draft, ToTarget to_target)
        : drafter_(Inner(std::move(drafter))), to_draft_(std::move(to_draft)), to_target_(std::move(to_target)) {}

    Index depth() const { return drafter_.depth(); }

    template <class Source, class L>
        requires std::convertible_to<PointMass, L>
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<L>& draft_tree) {
        if (!draft_tree.grows(root_node)) return;
        detail::remember(std::invoke(to_draft_, prefix), text_);
        drafted_.open(draft_tree.depth_limit(), {}, std::numeric_limits<Token>::max());
        drafter_.propose(text_, 0, rng, drafted_);
        if (drafted_.fault()) return draft_tree.blame(*drafted_.fault());
        const Index first = draft_tree.size();
        for (Index leaf = 0; leaf < drafted_.size(); ++leaf) {
            if (drafted_.links().first_child(leaf) != no_node) continue;
            path_.clear();
            drafted_.append_path(leaf, path_);
            detail::add_named_path(draft_tree, first, std::invoke(to_target_, std::span<const Token>(path_)));
        }
    }

    /// Call visit on the drafter, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(drafter_); }

  private:
    detail::Proposer<Inner> drafter_;
    ToDraft to_draft_;
    ToTarget to_target_;
    DraftTree<typename detail::Unwrapped<Inner>::Distribution> drafted_{};
    std::vector<Token> text_{}, path_{};  // in the drafter's ids
};

}}}  // namespace specsample::vocabularies
