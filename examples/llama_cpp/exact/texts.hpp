// Texts with the logits that every token was chosen from, and where two of them part.
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

/// Greedy decoding as llama.cpp does it: its own calls alone.
inline Noted plain_greedy(llama_context* context, const std::vector<Token>& prompt, const std::vector<Token>& ends,
                          Index length) {
    const std::unique_ptr<llama_sampler, decltype(&llama_sampler_free)> greedy(llama_sampler_init_greedy(),
                                                                               llama_sampler_free);
    const Index vocab = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context)));
    llama_memory_clear(llama_get_memory(context), true);
    Noted text;
    std::vector<llama_token> given = prompt;
    while (std::ssize(text.tokens) < length) {
        if (llama_decode(context, llama_batch_get_one(given.data(), static_cast<std::int32_t>(given.size()))) != 0)
            throw std::runtime_error("llama_decode failed");
        text.rows.push_back(Eigen::Map<const Eigen::ArrayXf>(llama_get_logits_ith(context, -1), vocab));
        given = {llama_sampler_sample(greedy.get(), context, -1)};
        text.tokens.push_back(given[0]);
        if (std::ranges::find(ends, given[0]) != ends.end()) break;
    }
    return text;
}

/// A text and its rows when it is decoded again in one batch: what the engine's arithmetic makes of the same prefixes
/// where nobody drafts.
inline Noted in_one_batch(llama_context* context, std::vector<Token> prompt, const std::vector<Token>& tokens) {
    const auto count = std::ssize(tokens);
    prompt.insert(prompt.end(), tokens.begin(), tokens.end() - 1);  // nothing follows the last one
    Noted text{tokens, {}};
    for (const auto& row : LlamaModel(context)(prompt, count)) text.rows.emplace_back(row);
    return text;
}

/// A model at a temperature that remembers the row that it gave last after each prefix.
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

/// What a race adds to the logit of a token, on the logit's scale: temperature times a number of Gumbel's law.
inline double race_noise(double temperature, Index position, Token token) {
    const Coin coin = Coins(text_seed, 0, position).at(Purpose::race, 0);
    return -temperature * std::log(-std::log(coin.open_uniform(static_cast<std::uint32_t>(token))));
}

/// A text by Sampler.
template <class Draft, class Rule>
Noted sampled(LlamaModel& target, const Draft& draft, const Rule& rule, double temperature, Index lookahead,
              std::vector<Token> prompt, const Limits& limits) {
    Noting noting(target, temperature);
    Sampler sampler(draft, std::ref(noting), {.lookahead = lookahead, .seed = text_seed}, rule);
    Noted text{sampler.generate(prompt, limits).tokens, {}};
    for (const Token token : text.tokens) {
        text.rows.push_back(noting.row(prompt));
        prompt.push_back(token);
    }
    return text;
}

/// How two texts of one prompt compare.
struct Comparison {
    Index same = 0;            ///< tokens before the first difference
    bool is_same = false;      ///< there is none
    Index first_unlike = -1;   ///< the first row after the same prefix that is not the same to the bit, -1: none
    float largest = 0;         ///< difference of two numbers in rows after the same prefix
    float there = 0;           ///< in the rows of the first token that differs
    float margin = 0;          ///< by which the first text's token there leads the other's, noise included
    Token one = 0, other = 0;  ///< the tokens there

    /// Is a difference no more than what the engine's arithmetic made of the same prefix?
    bool is_arithmetic() const { return is_same || (margin >= 0 && margin <= 2 * there); }
};

/// @param noise   noise(i, token) is what decides beside the logit of a token at place i, on its scale
template <class Noise>
Comparison compare(const Noted& a, const Noted& b, const Noise& noise) {
    Comparison result;
    result.same = std::ranges::mismatch(a.tokens, b.tokens).in1 - a.tokens.begin();
    result.is_same = a.tokens == b.tokens;
    const auto rows = std::min({a.rows.size(), b.rows.size(), static_cast<std::size_t>(result.same) + 1});
    for (std::size_t i = 0; i < rows; ++i) {
        const float difference = (a.rows[i] - b.rows[i]).abs().maxCoeff();
        if (difference > 0 && result.first_unlike < 0) result.first_unlike = static_cast<Index>(i);
        result.largest = std::max(result.largest, difference);
        result.there = difference;
    }
    if (result.is_same || rows <= static_cast<std::size_t>(result.same)) return result;
    const auto at = static_cast<std::size_t>(result.same);
    result.one = a.tokens[at];
    result.other = b.tokens[at];
    result.margin = a.rows[at][result.one] - a.rows[at][result.other] +
                    static_cast<float>(noise(result.same, result.one) - noise(result.same, result.other));
    return result;
}

}  // namespace exact
