// The nucleus of top-p in a split row, found by all ranks together.
//
// 1. The ranks find the largest logit and sum the weights by block. Shaping a whole row finds the same total.
// 2. Each rank lists its largest logits, and leaves out at most its share of the probability that the nucleus leaves
//    out. So the lists of all ranks weigh enough for a nucleus of that total. They lack some logits of the row, so
//    this nucleus reaches down at least as far as the nucleus of the row.
// 3. Each rank lists its logits down to the smallest one of that nucleus: the nucleus of the row is among them.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <specsample/core/eigen.hpp>
#include <specsample/kernels/select_mass.hpp>
#include <specsample/kernels/wide_sum.hpp>
#include <specsample/shaping/candidates.hpp>
#include <specsample/shaping/outlook.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard::detail {

/// The computations of one rank on the way to a nucleus. Their memory is used again for the next row.
template <class Wide>
class NucleusSearch {
  public:
    /// Begin with a row.
    /// @param largest   the largest of the logits that do not change
    /// @param ids       the ids whose logits change, in ascending order
    /// @param logits    the new logits of these ids
    void start(const filters::Reach& reach, double largest, std::span<const Token> ids, std::span<const Wide> logits) {
        mass_ = reach.mass;
        changed_ids_.assign(ids.begin(), ids.end());
        changed_.assign(logits.begin(), logits.end());
        for (const Wide logit : logits) largest = std::max(largest, static_cast<double>(logit));
        power_ = specsample::detail::power_at<Wide>(largest, reach.temperature);
    }

    /// Overwrite the logits that shaping has changed; `logits[i]` belongs to id `first + i`.
    void change(Index first, std::span<Wide> logits) const {
        const Index end = first + std::ssize(logits);
        for (auto at = find(changed_ids_, first); at < changed_ids_.size() && changed_ids_[at] < end; ++at)
            logits[static_cast<std::size_t>(changed_ids_[at] - first)] = changed_[at];
    }
    /// Do the same for listed ids: `logits[i]` belongs to `ids[i]`.
    void change(std::span<const Token> ids, std::span<Wide> logits) const {
        for (std::size_t i = 0; i < changed_.size(); ++i)
            if (const std::size_t at = find(ids, changed_ids_[i]); at < ids.size() && ids[at] == changed_ids_[i])
                logits[at] = changed_[i];
    }

    /// Return the weights of a row, summed as shaping sums them. They must not outlive this search.
    template <class Row>
    auto weights_of(Row& row) {
        return WeightsOf<Row>{*this, row};
    }

    /// List a rank's largest logits.
    /// @param mine    the rank's logits
    /// @param total   the weight of the whole row
    /// @param ids     the result: ids counted from the rank's first id
    void list(std::span<const Wide> mine, double total, Index ranks, std::vector<Token>& ids) {
        constexpr double rounding = 1e-9;  // exceeds the rounding of any sum here; an id too many is harmless
        const double left_out = (1 - mass_) * total / static_cast<double>(ranks) * (1 - rounding);
        const std::span<const Wide> weights = weigh(mine);
        const double listed = specsample::detail::wide_sum(weights.data(), std::ssize(weights)) - left_out;
        ids.clear();
        if (listed > 0) kernels::select_mass(weights, 2 * listed, .5, ids, scratch_);
    }

    /// Find the smallest logit in the nucleus of the logits that all ranks have listed.
    /// @param places   memory
    Wide least(std::span<const Wide> all, double total, std::vector<Token>& places) {
        kernels::select_mass(weigh(all), total, mass_, places, scratch_);
        Wide least = std::numeric_limits<Wide>::max();
        for (const Token place : places) least = std::min(least, all[static_cast<std::size_t>(place)]);
        return least;
    }

  private:
    /// Find the place of an id, or of the next higher id.
    static std::size_t find(std::span<const Token> ids, Index id) {
        return static_cast<std::size_t>(std::ranges::lower_bound(ids, id) - ids.begin());
    }

    template <class Row>
    struct WeightsOf {
        NucleusSearch& search;
        Row& row;

        double sum(Index first, Index count) const {
            const auto [numbers, before] = row.numbers_from(first);
            typename std::remove_cvref_t<decltype(numbers)>::Buffer buffer;
            specsample::detail::grow(search.weights_, static_cast<std::size_t>(count));
            const auto weights = std::span(search.weights_).first(static_cast<std::size_t>(count));
            for (Index begin = 0; begin < count; begin += specsample::detail::block_size) {
                const Index n = std::min(specsample::detail::block_size, count - begin);
                std::copy_n(numbers.read(first - before + begin, n, buffer), n, weights.data() + begin);
            }
            search.change(first, weights);
            search.weigh(weights.data(), count, weights.data());
            return specsample::detail::wide_sum(weights.data(), count);
        }
    };

    std::span<const Wide> weigh(std::span<const Wide> logits) {
        specsample::detail::grow(weights_, logits.size());
        weigh(logits.data(), std::ssize(logits), weights_.data());
        return std::span(weights_).first(logits.size());
    }
    void weigh(const Wide* logits, Index count, Wide* weights) const {
        specsample::detail::weigh(logits, count, power_, weights);
    }

    double mass_ = 1;
    std::vector<Token> changed_ids_;
    std::vector<Wide> changed_;  ///< the new logits of these ids
    specsample::detail::ScaledExp2<Wide> power_ = specsample::detail::power_at<Wide>(0, 1);
    std::vector<Wide> weights_;
    kernels::SelectionScratch<Wide> scratch_;
};

}}}  // namespace specsample::shard::detail
