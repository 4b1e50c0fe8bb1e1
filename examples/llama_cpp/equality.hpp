// llama.cpp's own rule, for comparison: the target's token is sampled by llama.cpp's sampler chain, and the draft's is
// kept if it is the same.
#pragma once

#include <llama.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <specsample/specsample.hpp>

#include "llama_cpp/arguments.hpp"

struct FreeSampler {
    void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
};

/// A sampler chain, made and called as llama.cpp's programs do.
class SamplerChain {
  public:
    SamplerChain(const Sampling& given, const std::vector<specsample::Token>& banned, std::int32_t vocab,
                 std::uint64_t seed)
        : chain_(llama_sampler_chain_init(llama_sampler_chain_default_params())) {
        const auto add = [&](llama_sampler* sampler) { llama_sampler_chain_add(chain_.get(), sampler); };
        std::vector<llama_logit_bias> biases;
        for (const auto token : banned) biases.push_back({token, -std::numeric_limits<float>::infinity()});
        add(llama_sampler_init_logit_bias(vocab, static_cast<std::int32_t>(biases.size()), biases.data()));
        add_penalties(given, vocab);
        add(llama_sampler_init_top_k(static_cast<std::int32_t>(given.top_k)));
        add(llama_sampler_init_typical(static_cast<float>(given.typical_p), 0));
        add(llama_sampler_init_top_p(static_cast<float>(given.top_p), 0));
        add(llama_sampler_init_min_p(static_cast<float>(given.min_p), 0));
        add(llama_sampler_init_temp(static_cast<float>(given.temperature)));
        add(llama_sampler_init_dist(static_cast<std::uint32_t>(seed)));
    }

    /// Samples the target's token after a row of logits, and adds it to the history of the penalties.
    template <class Numbers>
    specsample::Token sample(const Numbers& logits) {
        candidates_.resize(static_cast<std::size_t>(logits.size()));
        for (specsample::Index id = 0; id < logits.size(); ++id)
            candidates_[static_cast<std::size_t>(id)] = {static_cast<llama_token>(id), logits.coeff(id), 0};
        llama_token_data_array all{candidates_.data(), candidates_.size(), -1, false};
        llama_sampler_apply(chain_.get(), &all);
        const llama_token token = all.data[all.selected].id;
        accept(token);
        return token;
    }
    void accept(specsample::Token token) { llama_sampler_accept(chain_.get(), token); }

  private:
    void add_penalties(const Sampling& given, [[maybe_unused]] std::int32_t vocab) {
        const auto last_n = static_cast<std::int32_t>(given.repeat_last_n < 0 ? std::numeric_limits<std::int16_t>::max()
                                                                              : given.repeat_last_n);
        llama_sampler_chain_add(
            chain_.get(),
            penalties(llama_sampler_init_penalties, vocab, last_n, static_cast<float>(given.repeat_penalty),
                      static_cast<float>(given.frequency_penalty), static_cast<float>(given.presence_penalty)));
    }

    /// Older versions of llama.cpp do not take the vocabulary.
    template <class Init, class... Rest>
    static llama_sampler* penalties(Init init, [[maybe_unused]] std::int32_t vocab, Rest... rest) {
        if constexpr (requires { init(vocab, rest...); }) {
            return init(vocab, rest...);
        } else {
            return init(rest...);
        }
    }

    std::unique_ptr<llama_sampler, FreeSampler> chain_;
    std::vector<llama_token_data> candidates_;
};

/// For rows of unshaped logits.
struct EqualityRule {
    static constexpr bool lossless = true;

    template <class Context>
    specsample::Outcome operator()(const Context& context) const {
        return specsample::walks::match(
            context, [this](auto& node, const auto&) { return chain->sample(node.row().held().numbers()); });
    }

    SamplerChain* chain;
};
