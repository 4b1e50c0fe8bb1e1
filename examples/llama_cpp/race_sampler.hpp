// A sampler for the end of a llama.cpp chain, in place of llama_sampler_init_dist: it draws a token by an exponential
// race.
//
//     llama_sampler_chain_add(chain, race_sampler({.seed = 42}));
//
// Its random numbers depend on the seed, the request, the place in the text and the token's id, and on nothing else.
// A text is therefore the same however its tokens were drafted, in any slot of a server, and when it is continued from
// the middle. Two models that race with the same numbers tend to choose the same token: where a draft is drawn with a
// clone of the target's chain, programs that keep a drafted token if the target's sampler chooses the same one accept
// far more tokens than with independent draws.
//
// The token is the one that GumbelMatch draws from the same logits with the same seed, request and place.
#pragma once

#include <llama.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include <specsample/values.hpp>

/// What a race sampler begins with, and returns to when its chain is reset.
struct RaceOptions {
    std::uint64_t seed = 0;
    std::uint32_t request = 0;       ///< another request is another text
    specsample::Index position = 0;  ///< tokens of the text before the first that is accepted; prompts may be accepted
};

namespace racing {

/// The state behind a llama_sampler.
class State {
  public:
    explicit State(const RaceOptions& options) : options_(options), position_(options.position) {}

    void accept() { ++position_; }
    void reset() { position_ = options_.position; }
    void adopt(const State& other) { position_ = other.position_; }

    /// Select a candidate, or none if no logit is a number that can win.
    void apply(llama_token_data_array& candidates) {
        const std::span<llama_token_data> given(candidates.data, candidates.size);
        candidates.selected = -1;
        if (given.empty()) return;
        const auto by_id = in_order_of_ids(given);
        // The rows are views of the candidates: a logit and an id every sizeof(llama_token_data) bytes.
        constexpr specsample::Index step = sizeof(llama_token_data) / sizeof(float);
        static_assert(sizeof(llama_token_data) % sizeof(float) == 0 && sizeof(llama_token) == sizeof(float));
        using specsample::Row;
        const Row logits = Row::logits({&by_id[0].logit, std::ssize(by_id), step});
        const Row row =
            Row::sparse({&by_id[0].id, std::ssize(by_id), step}, logits, specsample::Index{by_id.back().id} + 1);
        const specsample::RoundRng rng(options_.seed, options_.request, position_);
        const auto [token, origin] = draft_token(specsample::GumbelMatch{}, rng, 0, row);
        if (token < 0) return;
        const auto winner = std::ranges::find(given, token, &llama_token_data::id);
        candidates.selected = winner - given.begin();
    }

  private:
    /// A chain may have sorted the candidates by their logits.
    std::span<const llama_token_data> in_order_of_ids(std::span<const llama_token_data> candidates) {
        if (std::ranges::is_sorted(candidates, {}, &llama_token_data::id)) return candidates;
        sorted_.assign(candidates.begin(), candidates.end());
        std::ranges::sort(sorted_, {}, &llama_token_data::id);
        return sorted_;
    }

    RaceOptions options_;
    specsample::Index position_;
    std::vector<llama_token_data> sorted_{};
};

inline State& state(const llama_sampler* sampler) { return *static_cast<State*>(sampler->ctx); }

/// The functions that llama.cpp calls. No exception leaves a selection: it would cross functions of C.
template <class Interface = llama_sampler_i>
Interface* interface() {
    static Interface functions = [] {
        Interface result{};
        result.name = [](const llama_sampler*) { return "race"; };
        result.accept = [](llama_sampler* sampler, llama_token) { state(sampler).accept(); };
        result.reset = [](llama_sampler* sampler) { state(sampler).reset(); };
        result.free = [](llama_sampler* sampler) { delete &state(sampler); };
        result.clone = [](const llama_sampler* sampler) {
            return llama_sampler_init(sampler->iface, new State(state(sampler)));
        };
        result.apply = [](llama_sampler* sampler, llama_token_data_array* candidates) {
            try {
                state(sampler).apply(*candidates);
            } catch (const std::exception&) {
                candidates->selected = -1;
            }
        };
        if constexpr (requires { result.copy_state; })  // newer versions of llama.cpp
            result.copy_state = [](const llama_sampler* from, llama_sampler* to) { state(to).adopt(state(from)); };
        return result;
    }();
    return &functions;
}

}  // namespace racing

/// Make a sampler that selects a token by a race. The chain that it is added to frees it.
///
/// Every accepted token moves it on by a place. It selects nothing, for which llama_sampler_sample ends the program,
/// where there are no candidates, where every logit is -infinity, and where a logit is NaN or +infinity.
inline llama_sampler* race_sampler(const RaceOptions& options) {
    return llama_sampler_init(racing::interface(), new racing::State(options));
}
