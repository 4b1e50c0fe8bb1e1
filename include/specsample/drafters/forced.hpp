// Drafts what a grammar forces: the tokens after which only one token is allowed, such as the keys of a JSON schema.
//
// Engines know it as jump-forward decoding (SGLang: Zheng et al., arXiv:2312.07104, section 4; llguidance's
// "ff_tokens"), where the forced tokens are appended without the target. As a draft they go through the rule as any
// other draft does, so that the text has no special case, and under a target that is masked by the grammar each is
// accepted for certain.
#pragma once

#include <concepts>
#include <span>
#include <utility>
#include <vector>

#include <specsample/drafters/drafter.hpp>
#include <specsample/shaping/grammar.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Drafts the tokens that a grammar forces, one after the other, up to the first place where it leaves a choice or
/// nothing. It proposes nothing where the next token is not forced, so that another drafter takes over:
///
///     Grammar grammar(matcher, filters::whole_prompt);  // it begins after the prompt
///     Sampler sampler(FirstOf(ForcedDrafter{grammar}, shaped(draft, grammar)), shaped(target, grammar));
///
/// @tparam C   a Cursor with mask(), which returns words
/// @draws      none
/// @cost       a mask per token, and a count of its bits; no model is called
/// @edge       the distribution of the text is the target's, whatever the target's own mask is: the tokens are named
template <class C>
class ForcedDrafter {
    static_assert(detail::GivesWords<C>,
                  "specsample::ForcedDrafter: the cursor of the grammar must have mask(), which returns the words of a "
                  "bit mask; of mask(row) nobody can tell whether one token is left");

  public:
    using Distribution = PointMass;
    static constexpr bool branches = false;
    static constexpr bool cut_is_prefix = true;

    /// @param grammar   shares its cursor with this one
    explicit ForcedDrafter(Grammar<C> grammar) : grammar_(std::move(grammar)) {}

    template <class Source, class L>
        requires std::convertible_to<PointMass, L>
    void propose(std::span<const Token> prefix, const Source&, DraftTree<L>& draft_tree) {
        text_.assign(prefix.begin(), prefix.end());
        for (Index node = root_node; draft_tree.grows(node); node = draft_tree.add(node, text_.back(), PointMass{})) {
            const Token token = grammar_.forced(text_, draft_tree.vocab(), prompt_size_);
            if (token < 0) return;
            text_.push_back(token);
        }
    }

    /// Take the size of the text's prompt, for a grammar that begins after it.
    void begin_text(Index prompt_size) { prompt_size_ = prompt_size; }

  private:
    Grammar<C> grammar_;
    Index prompt_size_ = 0;
    std::vector<Token> text_;
};

}}  // namespace specsample
