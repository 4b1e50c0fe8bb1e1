// Speculative decoding as llama.cpp's own programs do it: a drafted token is kept if the target's sampler chooses the
// same one. Any sampler chain will do; which one decides how often they agree.
#pragma once

#include <llama.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "llama_cpp/glue.hpp"

/// Drafts at most `count` tokens after a text. The chain is the target's, with the state that it has after this text.
using DraftTokens =
    std::function<std::vector<llama_token>(std::span<const llama_token> text, int count, const llama_sampler* chain)>;

/// What a loop wrote, and what its drafts were worth.
struct EqualityText {
    std::vector<llama_token> tokens{};
    int rounds = 0;    ///< passes of the target
    int drafted = 0;   ///< tokens that the target's sampler was asked about
    int accepted = 0;  ///< and chose, too
};

/// A model of llama.cpp with its context, from which samplers read.
struct Decoder {
    llama_context* context;
    LlamaModel model{context};
};

/// Continue a prompt.
/// @param chain    the target's samplers; llama_sampler_sample accepts what it returns
/// @param length   tokens to write
/// @param ends     whether a token ends the text
inline EqualityText write_by_equality(Decoder& target, llama_sampler* chain, std::vector<llama_token> text, int length,
                                      int lookahead, const DraftTokens& draft,
                                      const std::function<bool(llama_token)>& ends) {
    EqualityText result;
    for (bool goes_on = true; goes_on;) {
        const int left = length - static_cast<int>(result.tokens.size());
        const std::vector<llama_token> drafted = draft(text, std::min(lookahead, left - 1), chain);
        std::vector<llama_token> scored = text;
        scored.insert(scored.end(), drafted.begin(), drafted.end());
        const int count = static_cast<int>(drafted.size());
        target.model(scored, count + 1);
        ++result.rounds;
        for (int i = 0; i <= count; ++i) {
            const llama_token token = llama_sampler_sample(chain, target.context, i - count - 1);
            text.push_back(token);
            result.tokens.push_back(token);
            goes_on = !ends(token) && static_cast<int>(result.tokens.size()) < length;
            const bool is_drafted = i < count,
                       is_accepted = is_drafted && token == drafted[static_cast<std::size_t>(i)];
            result.drafted += is_drafted;
            result.accepted += is_accepted;
            if (!goes_on || !is_accepted) break;
        }
    }
    return result;
}

struct FreeChain {
    void operator()(llama_sampler* chain) const { llama_sampler_free(chain); }
};
using ChainOwner = std::unique_ptr<llama_sampler, FreeChain>;

/// Draft with another model: tokens that `make_sampler` chooses from its logits.
/// @param make_sampler   returns the sampler of a round, made of the target's chain
inline DraftTokens draft_by_model(Decoder& draft, std::function<ChainOwner(const llama_sampler*)> make_sampler) {
    return [&draft, make_sampler](std::span<const llama_token> text, int count, const llama_sampler* chain) {
        const ChainOwner sampler = make_sampler(chain);
        std::vector<llama_token> longer(text.begin(), text.end());
        for (int i = 0; i < count; ++i) {
            draft.model(longer, 1);
            longer.push_back(llama_sampler_sample(sampler.get(), draft.context, -1));
        }
        return std::vector<llama_token>(longer.begin() + std::ssize(text), longer.end());
    };
}

/// The likeliest token of the draft, as llama.cpp's programs draft.
inline ChainOwner greedy(const llama_sampler*) { return ChainOwner(llama_sampler_init_greedy()); }

/// The target's own samplers in the state that they are in.
inline ChainOwner clone_of(const llama_sampler* chain) { return ChainOwner(llama_sampler_clone(chain)); }

/// The tokens that followed the text's last tokens where these occurred before.
inline DraftTokens draft_by_lookup(specsample::Index vocab) {
    return [vocab, lookup = specsample::LookupDrafter()](std::span<const llama_token> text, int count,
                                                         const llama_sampler*) mutable {
        specsample::DraftTree<specsample::PointMass> draft;
        draft.open(count, {}, vocab);
        lookup.propose(text, specsample::RoundRng(0, 0, 0), draft);  // it draws nothing
        const auto tokens = draft.tokens();
        return std::vector<llama_token>(tokens.begin(), tokens.end());
    };
}
