// A context of llama.cpp as a model of specsample: a prefix to rows of logits, read where llama.cpp wrote them. The
// cache is compared with the prefix and rolled back where they differ, so the caller never reports what was accepted.
// A tree is decoded in one pass, with a sequence id per leaf; what leaves share is stored once.
#pragma once

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <llama.h>
#include <specsample/specsample.hpp>

/// Thrown where the abort callback of a context has stopped llama_decode.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

/// If a call throws, the cache holds what it held before, or less, and the next call continues from there.
class LlamaModel {
    using Index = specsample::Index;
    using Token = specsample::Token;
    using Text = std::span<const Token>;
    using TokenTree = specsample::Tree<Token, Index>;
    using Sequences = std::vector<llama_seq_id>;

  public:
    using Rows = std::vector<Eigen::Map<const Eigen::ArrayXf>>;  ///< valid until the next call

    /// The context is borrowed. Trees need kv_unified, and a sequence per leaf, with ids after that of the text.
    explicit LlamaModel(llama_context* context, llama_seq_id sequence = 0)
        : context_(context), memory_(llama_get_memory(context)), sequence_(sequence) {}
    LlamaModel(LlamaModel&&) = default;  // not copyable: copies would not know of each other's tokens in the cache

    /// The logits after the last n prefixes of a text, or after a text and each node of a tree behind it, in one pass.
    Rows operator()(Text prefix, Index n) { return score(prefix, n, {}); }
    Rows operator()(Text prefix, const TokenTree& tree) { return score(prefix, 1, tree); }

    /// Keeps what the cache has of a text, and nothing else; keep({}) empties the cache, which any memory can.
    void keep(Text text) {
        adopt(text.subspan(std::min(held_.size(), text.size())));
        held_.erase(std::ranges::mismatch(held_, text).in1, held_.end());
        require(forget_rest(), "this memory (recurrent, or a window without swa_full) cannot roll back a draft");
    }
    Index held() const { return std::ssize(held_); }  ///< tokens of the text in the cache

  private:
    static void require(bool holds, const std::string& otherwise) {
        if (!holds) throw std::runtime_error(otherwise);
    }

    Rows score(Text prefix, Index n, const TokenTree& tree) {
        const Index most = llama_n_batch(context_), nodes = std::ssize(tree.tokens);
        require(n >= 1 && std::ssize(prefix) >= n, "there are no logits before the first token of a text");
        require(n + nodes <= most, "a draft does not fit in n_batch, " + std::to_string(most));
        keep(prefix.first(prefix.size() - std::size_t(n)));
        for (Index left; (left = std::ssize(prefix) - held()) + nodes > most;)
            decode(prefix.subspan(held_.size(), std::size_t(std::min(most, left - n))), {}, 0);
        return decode(prefix.subspan(held_.size()), tree, n + nodes);
    }

    /// Decodes the next tokens of the text and a tree behind them. Returns the last n rows.
    Rows decode(Text text, const TokenTree& tree, Index n) {
        std::vector<llama_token> tokens(text.begin(), text.end());
        std::vector<llama_pos> places;
        for (Index i = 0; i < std::ssize(text); ++i) places.push_back(llama_pos(held() + i));
        for (std::size_t i = 0; i < tree.tokens.size(); ++i) {
            tokens.push_back(tree.tokens[i]);
            places.push_back(places[std::size_t(std::ssize(text) + tree.parents[i])] + 1);
        }
        auto sequences = share(text.size(), tree);
        std::vector<std::int32_t> counts;
        std::vector<llama_seq_id*> ids;
        for (auto& of_token : sequences) {
            counts.push_back(std::int32_t(of_token.size()));
            ids.push_back(of_token.data());
        }
        std::vector<std::int8_t> wanted(tokens.size(), 0);
        std::fill_n(wanted.rbegin(), n, std::int8_t{1});
        const auto size = std::int32_t(tokens.size());
        const llama_batch batch{size, tokens.data(), nullptr, places.data(), counts.data(), ids.data(), wanted.data()};
        check(llama_decode(context_, batch));
        held_.insert(held_.end(), text.begin(), text.end());
        const Index vocab = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context_)));
        Rows rows;
        for (int i = size - int(n); i < size; ++i) rows.emplace_back(llama_get_logits_ith(context_, i), vocab);
        return rows;
    }

    void check(int status) {
        if (status != 0) forget_rest();
        if (status == 2) throw Interrupted();
        require(status != 1, "the context is full: there is no room for more after " + std::to_string(held()));
        require(status == 0, "llama_decode failed with status " + std::to_string(status));
    }

    /// Gives each leaf a sequence of the text and the nodes on its path. Returns the sequences of each token.
    std::vector<Sequences> share(std::size_t texts, const TokenTree& tree) {
        std::vector<Sequences> result(texts + tree.tokens.size());
        Sequences all{sequence_};
        std::vector<std::vector<Token>> paths;
        for (std::size_t leaf = tree.tokens.size(); leaf-- > 0;) {
            if (!result[texts + leaf].empty()) continue;  // not a leaf
            all.push_back(all.back() + 1);
            paths.emplace_back();
            for (Index node = Index(leaf); node >= 0; node = tree.parents[std::size_t(node)]) {
                result[texts + std::size_t(node)].push_back(all.back());
                paths.back().insert(paths.back().begin(), tree.tokens[std::size_t(node)]);
            }
        }
        const bool unified = llama_n_ctx_seq(context_) == llama_n_ctx(context_);
        const Index most = unified ? llama_n_seq_max(context_) : sequence_ + 1;
        require(all.back() < most, "a tree needs kv_unified, and n_seq_max above the number of its leaves");
        for (llama_seq_id id = sequence_ + 1; id <= all.back(); ++id)
            llama_memory_seq_cp(memory_, sequence_, id, -1, -1);
        std::fill_n(result.begin(), texts, all);
        paths_.swap(paths);
        return result;
    }

    /// Keeps the longest path of the last decoded tree that `rest` begins with.
    void adopt(Text rest) {
        const auto same = [&](const auto& path) { return std::ranges::mismatch(path, rest).in1 - path.begin(); };
        const auto best = std::ranges::max_element(paths_, {}, same);
        if (best == paths_.end()) return;
        const llama_seq_id leaf = sequence_ + 1 + llama_seq_id(best - paths_.begin());
        llama_memory_seq_cp(memory_, leaf, sequence_, llama_pos(held()), llama_pos(held() + same(*best)));
        held_.insert(held_.end(), best->begin(), best->begin() + same(*best));
    }

    /// Removes from the cache what is not in held_; everything, if a part cannot be removed or some of held_ is gone.
    bool forget_rest() {
        for (; !paths_.empty(); paths_.pop_back())
            llama_memory_seq_rm(memory_, sequence_ + llama_seq_id(paths_.size()), -1, -1);
        const Index needed = std::max<Index>(0, held() + 1 - llama_model_n_swa(llama_get_model(context_)));
        const bool rolled_back = llama_memory_seq_rm(memory_, sequence_, llama_pos(held()), -1);
        if (rolled_back && llama_memory_seq_pos_min(memory_, sequence_) <= needed) return true;
        llama_memory_seq_rm(memory_, sequence_, -1, -1);
        held_.clear();
        return false;
    }

    llama_context* context_;
    llama_memory_t memory_;
    llama_seq_id sequence_;
    std::vector<Token> held_;                ///< the tokens of the text in the cache
    std::vector<std::vector<Token>> paths_;  ///< the tokens of a tree behind them, leaf by leaf
};
