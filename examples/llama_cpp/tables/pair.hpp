// A target and a draft of the same vocabulary, ready to write at a temperature.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "llama_cpp/equality.hpp"
#include "llama_cpp/load.hpp"
#include "llama_cpp/text_model.hpp"

class Pair {
  public:
    Pair(const std::filesystem::path& draft, const std::filesystem::path& target)
        : target_model_(load(target)), draft_model_(load(draft)) {
        same_vocabulary(*draft_model_, *target_model_);
    }

    const llama_vocab& vocab() const { return *llama_model_get_vocab(target_model_.get()); }
    specsample::Index vocab_size() const { return llama_vocab_n_tokens(&vocab()); }
    const std::vector<specsample::Token>& stop_tokens() const { return stop_tokens_; }
    std::vector<specsample::Token> tokens_of(std::string_view text) const { return tokenise(vocab(), text); }

    /// Rows are unshaped logits with a temperature beside them, so that llama.cpp's chain can sample from them as well.
    TextModel target(double temperature) const { return {target_, TextShape(only(temperature), {})}; }
    TextModel draft(double temperature) const { return {draft_, TextShape(only(temperature), {})}; }
    SamplerChain chain(double temperature, std::uint64_t seed) const {
        return {only(temperature), {}, static_cast<std::int32_t>(vocab_size()), seed};
    }

  private:
    static constexpr ContextOptions options{.n_ctx = 1024, .threads = 2};

    static Sampling only(double temperature) {
        return {.temperature = temperature, .top_k = 0, .top_p = 1, .min_p = 0};
    }

    ModelOwner target_model_, draft_model_;
    ContextOwner target_context_ = context(*target_model_, options), draft_context_ = context(*draft_model_, options);
    std::shared_ptr<LlamaModel> target_ = std::make_shared<LlamaModel>(target_context_.get()),
                                draft_ = std::make_shared<LlamaModel>(draft_context_.get());
    std::vector<specsample::Token> stop_tokens_ = end_tokens(vocab());
};
