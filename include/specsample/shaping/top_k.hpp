// Top-k sampling.
//
// Fan et al.: "Hierarchical neural story generation", ACL 2018 (arXiv:1805.04833), section 5.
#pragma once

#include <span>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/kernels/select_top.hpp>
#include <specsample/shaping/candidates.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace filters {

/// Keep the k most probable tokens, the lower ids first among equals. 0 keeps everything.
///
/// Never more than k are kept. transformers and vLLM keep all tokens that are as probable as the k-th, llama.cpp any k.
///
/// @cost   one pass, whatever the temperature (for logits none beyond the first look at them), then O(k)
class TopK {
  public:
    /// @throws std::invalid_argument unless top_k >= 0
    explicit TopK(Index top_k) : top_k_(top_k) { detail::require(top_k >= 0, "TopK", "top_k", top_k, "at least 0"); }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        // Impossible candidates are dropped even where no more than k are left: ranks that share a row list fewer of
        // them.
        if (top_k_ == 0 || row.is_greedy() || top_k_ >= row.vocab() || row.size() == 0) return;
        auto& scratch = row.scratch();
        if (row.has_maxima()) {
            scratch.selection.maxima = scratch.maxima;
            detail::select_top_by_maxima(row.numbers(), top_k_, row.impossible(), scratch.places, scratch.selection);
        } else {
            kernels::select_top(row.numbers(), top_k_, row.impossible(), scratch.places, scratch.selection);
        }
        row.keep(scratch.places);
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token>) const {
        if (top_k_ > 0 && !outlook.is_greedy()) outlook.limit({.most = top_k_});
    }

  private:
    Index top_k_;
};

}  // namespace filters

}}  // namespace specsample
