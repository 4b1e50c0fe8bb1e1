// Texts with the logits that every token was chosen from, and the place where two texts differ.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <llama.h>
#include <specsample/specsample.hpp>

#include "llama_cpp/glue.hpp"
#include "llama_cpp/load.hpp"

namespace exact {

using namespace specsample;

/// A text after a prompt, and the row before each of its tokens.
struct Noted {
    std::vector<Token> tokens;
    std::vector<Eigen::ArrayXf> rows;
};

/// Greedy decoding by llama.cpp's own calls alone.
/// @param split   the last token of the prompt is decoded by itself, as llama.cpp's speculative programs do
inline Noted plain_greedy(llama_context* context, std::vector<Token> prompt, const std::vector<Token>& ends,
                          Index length, bool split) {
    const std::unique_ptr<llama_sampler, decltype(&llama_sampler_free)> greedy(llama_sampler_init_greedy(),
                                                                               llama_sampler_free);
    const Index vocab = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context)));
    const auto decode = [&](std::span<llama_token> tokens) {
        if (llama_decode(context, llama_batch_get_one(tokens.data(), static_cast<std::int32_t>(tokens.size()))) != 0)
            throw std::runtime_error("llama_decode failed");
    };
    llama_memory_clear(llama_get_memory(context), true);
    const std::span<llama_token> given(prompt);
    if (split) decode(given.first(given.size() - 1));
    decode(split ? given.last(1) : given);
    Noted text;
    for (;;) {
        text.rows.push_back(Eigen::Map<const Eigen::ArrayXf>(llama_get_logits_ith(context, -1), vocab));
        llama_token token = llama_sampler_sample(greedy.get(), context, -1);
        text.tokens.push_back(token);
        if (std::ssize(text.tokens) == length || std::ranges::find(ends, token) != ends.end()) return text;
        decode({&token, 1});
    }
}

/// A model at a temperature that remembers its last row after each prefix.
class Noting {
  public:
    Noting(LlamaModel& model, double temperature) : model_(&model), temperature_(temperature) {}

    auto operator()(std::span<const Token> prefix, Index n) {
        LlamaModel::Rows rows = (*model_)(prefix, n);
        for (std::size_t i = 0; i < rows.size(); ++i) note(prefix.first(prefix.size() + 1 + i - rows.size()), rows[i]);
        return logits_of(std::move(rows), temperature_);
    }

    auto operator()(std::span<const Token> prefix, const Tree<Token, Index>& tree) {
        LlamaModel::Rows rows = (*model_)(prefix, tree);
        std::vector<std::vector<Token>> texts{{prefix.begin(), prefix.end()}};
        for (std::size_t i = 0; i < tree.tokens.size(); ++i) {
            texts.push_back(texts[static_cast<std::size_t>(tree.parents[i] + 1)]);
            texts.back().push_back(tree.tokens[i]);
        }
        for (std::size_t i = 0; i < rows.size(); ++i) note(texts[i], rows[i]);
        return logits_of(std::move(rows), temperature_);
    }

    const Eigen::ArrayXf& row(const std::vector<Token>& prefix) const { return rows_.at(prefix); }

  private:
    void note(std::span<const Token> prefix, const LlamaModel::Rows::value_type& row) {
        rows_[{prefix.begin(), prefix.end()}] = row;
    }

    LlamaModel* model_;
    double temperature_;
    std::map<std::vector<Token>, Eigen::ArrayXf> rows_;
};

/// A draft model at a temperature.
struct Drafting {
    LlamaModel* model;
    double temperature;

    auto operator()(std::span<const Token> prefix) const { return Logits((*model)(prefix, 1)[0], temperature); }
};

inline constexpr std::uint64_t text_seed = 42;

/// The noise that a race adds to the logit of a token, on the logit's scale: temperature times a Gumbel variable.
inline double race_noise(double temperature, Index position, Token token) {
    const Rng rng = RoundRng(text_seed, 0, position).at(Purpose::race, 0);
    return -temperature * std::log(-std::log(rng.open_uniform(static_cast<std::uint32_t>(token))));
}

/// A text by Sampler. The pass that reads the prompt has no draft behind it, as in plain decoding.
template <class Draft, class Rule>
Noted sampled(const Draft& draft, LlamaModel& target, const Rule& rule, double temperature, Index lookahead,
              const std::vector<Token>& prompt, const Limits& limits) {
    Noting noting(target, temperature);
    std::vector<Token> text = prompt;
    const auto write = [&](Index drafted, Index most) {
        Sampler sampler(draft, std::ref(noting), {.lookahead = drafted, .seed = text_seed}, rule);
        Limits left = limits;
        left.max_new_tokens = most;
        const Generation made = sampler.generate(text, left);
        text.insert(text.end(), made.tokens.begin(), made.tokens.end());
        return made.finish == FinishReason::stop;
    };
    if (!write(0, 1)) write(lookahead, limits.max_new_tokens - 1);
    Noted result{{text.begin() + std::ssize(prompt), text.end()}, {}};
    for (auto i = std::ssize(prompt); i < std::ssize(text); ++i)
        result.rows.push_back(noting.row({text.begin(), text.begin() + i}));
    return result;
}

/// The comparison of two texts after one prompt.
struct Comparison {
    Index same = 0;            ///< tokens before the first difference
    bool is_same = false;      ///< true if there is no difference
    Index first_unlike = -1;   ///< the first row after the same prefix with other bits; -1: none
    float largest = 0;         ///< largest difference of two logits in rows after the same prefix
    Token one = 0, other = 0;  ///< the tokens that differ first
    double one_leads = 0;      ///< the lead of `one` over `other` in the row of its own text, noise included
    double other_leads = 0;    ///< the lead of `other` over `one`, likewise

    /// Texts may differ only where rows do.
    bool is_right() const { return is_same || first_unlike >= 0; }
};

/// The lead of a token over another: the difference of their logits, with noise.
/// @param noise   noise(i, token) is added to the logit of a token at place i
template <class Noise>
double lead(const Noted& text, Index place, Token one, Token other, const Noise& noise) {
    const Eigen::ArrayXf& row = text.rows[static_cast<std::size_t>(place)];
    return static_cast<double>(row[one]) - static_cast<double>(row[other]) + noise(place, one) - noise(place, other);
}

template <class Noise>
Comparison compare(const Noted& a, const Noted& b, const Noise& noise) {
    Comparison result;
    result.same = std::ranges::mismatch(a.tokens, b.tokens).in1 - a.tokens.begin();
    result.is_same = a.tokens == b.tokens;
    const auto at = static_cast<std::size_t>(result.same);
    const std::size_t both = std::min(a.tokens.size(), b.tokens.size());
    for (std::size_t i = 0; i < std::min(both, at + 1); ++i) {
        const float difference = (a.rows[i] - b.rows[i]).abs().maxCoeff();
        if (difference > 0 && result.first_unlike < 0) result.first_unlike = static_cast<Index>(i);
        result.largest = std::max(result.largest, difference);
    }
    if (at == both) return result;
    result.one = a.tokens[at];
    result.other = b.tokens[at];
    result.one_leads = lead(a, result.same, result.one, result.other, noise);
    result.other_leads = lead(b, result.same, result.other, result.one, noise);
    return result;
}

/// The first token that its own row, with the noise, does not choose; -1: none. Ties and differences by rounding are
/// allowed.
template <class Noise>
Index first_wrong(const Noted& text, const Noise& noise) {
    constexpr double rounding = 1e-4;
    for (Index place = 0; place < std::ssize(text.tokens); ++place) {
        const Eigen::ArrayXf& row = text.rows[static_cast<std::size_t>(place)];
        const Token chosen = text.tokens[static_cast<std::size_t>(place)];
        for (Token id = 0; id < row.size(); ++id)
            if (lead(text, place, chosen, id, noise) < -rounding) return place;
    }
    return -1;
}

}  // namespace exact
