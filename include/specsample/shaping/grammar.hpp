// A grammar on every drafted position and every node of a tree, each with its own state of the grammar.
//
// Under a grammar, the target's rows, masked and normalised after every context, define the output distribution. A mask
// on the draft as well does not change this distribution, and raises acceptance (6/7 instead of 1/2 on the example of
// tests/exactness/grammar.cpp). A mask on the draft alone does not make the text follow the grammar.
//
// This is the distribution that all engines give: each row is projected on its own, whatever the tokens after it will
// weigh. It is not the distribution of the target's texts given that they follow the grammar: a token that leads to
// unlikely ends is written as often as one that leads to likely ones. filters::FutureWeights gives that one where the
// weight of what follows is known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/tree.hpp>
#include <specsample/shaping/cursor.hpp>
#include <specsample/shaping/window.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Allow only the tokens that a grammar allows after the context of a row.
///
///     Grammar grammar(XGrammar{matcher, words}, filters::whole_prompt);
///     Sampler sampler(shaped(draft, grammar), shaped(target, Pipeline{grammar, SamplingParams{.temperature = .8}}));
///
/// The cursor is asked about drafted tokens, about other tokens after a rejection, and about the branches of a tree.
/// Between two contexts, the cursor goes back to the end of their common prefix, and accepts the rest of the new
/// context. So neither a dropped round nor a fault leaves a trace.
///
/// Copies of a Grammar share its cursor, and must stay in one thread: the same value may shape the draft and the
/// target. With two Grammars and a cursor each, no cursor goes back over a draft before it is judged.
///
/// The matchers of engines become cursors as follows (the names are from namespace filters). xgrammar:
///
///     struct XGrammar {
///         xgrammar::GrammarMatcher matcher;
///         std::vector<std::int32_t> words;                                       // (vocab + 31) / 32 of them
///         std::span<const std::int32_t> mask() {
///             if (matcher.IsTerminated()) return {};
///             std::int64_t size = std::ssize(words);
///             DLTensor tensor{words.data(), {kDLCPU, 0}, 1, xgrammar::GetBitmaskDLType(), &size, nullptr, 0};
///             return matcher.FillNextTokenBitmask(&tensor), words;
///         }
///         bool accept(Token token) { return matcher.AcceptToken(token); }
///         void rollback(Index n) { matcher.Rollback(static_cast<int>(n)); }
///     };
///
/// llguidance, which must be asked about a token before it consumes it, because it does not recover from a refusal:
///
///     struct LlGuidance {
///         LlgMatcher* matcher;
///         std::span<const std::uint32_t> mask() {
///             if (llg_matcher_compute_mask(matcher) != 0) return {};
///             return {llg_matcher_get_mask(matcher), llg_matcher_get_mask_byte_size(matcher) / 4};
///         }
///         bool accept(Token token) {
///             const auto id = static_cast<std::uint32_t>(token);
///             return llg_matcher_validate_tokens(matcher, &id, 1) == 1 && llg_matcher_consume_token(matcher, id) == 0;
///         }
///         void rollback(Index n) { llg_matcher_rollback(matcher, static_cast<std::size_t>(n)); }
///     };
///
/// llama.cpp's grammar sampler, which can only be cloned, and throws on a token that it refuses:
///
///     struct LlamaGrammar {
///         std::shared_ptr<llama_sampler> sampler;
///         explicit LlamaGrammar(llama_sampler* owned) : sampler(owned, llama_sampler_free) {}
///         LlamaGrammar(const LlamaGrammar& other) : LlamaGrammar(llama_sampler_clone(other.sampler.get())) {}
///         bool allows(Token token) {
///             llama_token_data one{token, 0, 0};
///             llama_token_data_array array{&one, 1, -1, false};
///             return llama_sampler_apply(sampler.get(), &array), one.logit == 0;
///         }
///         void mask(Candidates<float>& row) { keep_where(row, [&](Token id) { return allows(id); }); }
///         bool accept(Token token) { return allows(token) && (llama_sampler_accept(sampler.get(), token), true); }
///     };
///
/// Any other processor with a state works in the same way if its tokens alone decide that state: its mask(row) may
/// change numbers. A processor whose state depends on the rows that it has seen, such as mirostat, is not a function of
/// the text.
///
/// @tparam C   a Cursor
/// @cost       a comparison of the context with the last one, rollback or copies for the tokens that only the last
///             context has, accept for the tokens that only this context has, and the mask. Copies allocate
/// @edge       a context with a token that the grammar refuses, or after the grammar's end, leaves no token possible.
///             Such a row is a fault of the target (Cause::all_masked) where it is read, and ends a draft. The row
///             after a drafted token of probability 0 is never read. Give the grammar's end token to
///             limits.stop_tokens, or let limits.until find it: nothing is asked after the end of a text
/// @edge       a context shorter than `start` is at the grammar's beginning
template <class C>
class Grammar {
    static_assert(detail::Masks<C>,
                  "specsample::Grammar: a cursor must have mask(), which returns the words of a bit mask (a std::span "
                  "of 32-bit integers), or mask(row), which works on Candidates");
    static_assert(
        !detail::Masks<C> || detail::Accepts<C>,
        "specsample::Grammar: a cursor must have accept(token), which returns nothing, or a bool: false where "
        "it refuses the token");
    static_assert(
        !detail::Masks<C> || !detail::Accepts<C> || detail::GoesBack<C>,
        "specsample::Grammar: a cursor that cannot be rewound cannot follow a draft that is rejected; give it "
        "rollback(n), which takes back the last n tokens, or a copy constructor");

  public:
    /// @param cursor   stands at the beginning of the grammar's text. Two Grammars must not share a state
    /// @param start    leading tokens of every context that the grammar does not see; filters::whole_prompt: the
    ///                 prompt, which Sampler tells
    /// @throws         std::invalid_argument for another negative start
    explicit Grammar(C cursor, Index start = 0)
        : trail_(std::make_shared<detail::Trail<C>>(std::move(cursor))), start_(start) {
        detail::require(start >= filters::whole_prompt, "Grammar", "start", start, "at least 0, or whole_prompt");
    }

    template <class Value>
        requires detail::GivesWords<C> || detail::MasksRow<C, Value>
    void operator()(filters::Candidates<Value>& row, std::span<const Token> context) const {
        C* cursor = cursor_after(context, row.prompt_size());
        if (cursor == nullptr) return row.keep({});
        if constexpr (detail::GivesWords<C>) {
            const auto& words = cursor->mask();
            detail::apply_mask(row, {detail::words_of(words, "Grammar"), row.vocab()});
        } else {
            cursor->mask(row);
        }
    }

    /// Return the only token that is allowed after a context; -1 if there is none, or more than one.
    /// @param vocab         the size of the vocabulary
    /// @param prompt_size   leading tokens of the context that are the prompt
    Token forced(std::span<const Token> context, Index vocab, Index prompt_size = 0) const
        requires detail::GivesWords<C>
    {
        C* cursor = cursor_after(context, prompt_size);
        if (cursor == nullptr) return -1;
        const auto& words = cursor->mask();
        const detail::MaskBits mask(detail::words_of(words, "Grammar"), vocab);
        Token only = -1;
        if (mask.count() == 1) mask.for_each([&](Index id) { only = static_cast<Token>(id); });
        return only;
    }

    /// Write the masks of a whole tree, for an engine that masks the rows of a target pass in one go. They are the
    /// masks of a Grammar that shapes row after row.
    ///
    ///     grammar.masks(text, Tree{tokens, parents}, vocab, masks);
    ///
    /// @param tree          the drafted tokens and their parents, which come first
    /// @param vocab         the size of the vocabulary
    /// @param masks         output, [tokens + 1][(vocab + 31) / 32]: bit i % 32 of word i / 32 is set where id i is
    ///                      allowed. Row 0 is the mask after the prefix, row i + 1 the mask after token i
    /// @param prompt_size   leading tokens of the prefix that are the prompt
    /// @throws              std::invalid_argument for lists of different lengths, a parent that comes later, or another
    ///                      number of words
    /// @cost                a call of mask() per token, and the tokens that the cursor accepts and takes back between
    ///                      two of them: fewest in preorder. Allocates a copy of the text
    /// @edge                no token is allowed after one that the grammar refuses, nor after the grammar's end
    void masks(std::span<const Token> prefix, const Tree<Token, Index>& tree, Index vocab,
               std::span<std::uint32_t> masks, Index prompt_size = 0) const
        requires detail::GivesWords<C>
    {
        constexpr auto where = "Grammar::masks";
        const std::span<const Token> tokens = tree.tokens;
        const std::span<const Index> parents = tree.parents;
        const auto words = static_cast<std::size_t>(detail::MaskBits({}, vocab).word_count());
        detail::require(parents.size() == tokens.size(), where, "the number of parents", std::ssize(parents),
                        "the number of tokens, " + detail::to_text(std::ssize(tokens)));
        detail::require(
            masks.size() == (tokens.size() + 1) * words, where, "masks.size()", std::ssize(masks),
            "(tokens + 1) * (vocab + 31) / 32, " + detail::to_text(static_cast<Index>((tokens.size() + 1) * words)));
        std::vector<Token> context(prefix.begin(), prefix.end());
        for (Index node = root_node; node < std::ssize(tokens); ++node) {
            context.resize(prefix.size());
            for (Index at = node; at != root_node; at = parents[static_cast<std::size_t>(at)]) {
                const Index parent = parents[static_cast<std::size_t>(at)];
                detail::require(parent >= root_node && parent < at, where, "parents[" + detail::to_text(at) + "]",
                                parent, "-1 or a node before " + detail::to_text(at));
                context.push_back(tokens[static_cast<std::size_t>(at)]);
            }
            std::reverse(context.begin() + std::ssize(prefix), context.end());
            const auto mask = masks.subspan(static_cast<std::size_t>(node - root_node) * words, words);
            write_mask(context, vocab, prompt_size, mask);
        }
    }

  private:
    void write_mask(std::span<const Token> context, Index vocab, Index prompt_size,
                    std::span<std::uint32_t> out) const {
        std::ranges::fill(out, 0);
        C* cursor = cursor_after(context, prompt_size);
        if (cursor == nullptr) return;
        const auto& words = cursor->mask();
        detail::MaskBits(detail::words_of(words, "Grammar"), vocab).copy_to(out);
    }

    /// Return the cursor after a context; null if the grammar refuses it.
    C* cursor_after(std::span<const Token> context, Index prompt_size) const {
        const auto begin = static_cast<std::size_t>(detail::leading(start_, prompt_size));
        return trail_->after(context.subspan(std::min(begin, context.size())));
    }

    std::shared_ptr<detail::Trail<C>> trail_;
    Index start_;
};

}}  // namespace specsample
