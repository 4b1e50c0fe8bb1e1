// A step of a beam search: the likeliest of all extensions of its beams.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <specsample/core/number.hpp>
#include <specsample/kernels/top.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// A beam with one more token; or a finished beam, unchanged.
struct Extension {
    Index place;      ///< the beam's place among all beams
    Token token;      ///< unused for a finished beam
    double log_prob;  ///< the sum over all of its tokens
};

/// The extensions of some beams in one total order: by log-probability, then by the place of the beam. Within a beam,
/// where rounding may make the log-probabilities of two tokens tie, the likelier token comes first, then the lower id.
class Extensions {
  public:
    /// Begin a step that keeps `width` beams, and therefore at most `width` extensions of each beam.
    void open(Index width) {
        list_.clear();
        places_.resize(static_cast<std::size_t>(width));
    }

    /// Add a finished beam, which competes unchanged. Beams are added in the order of their places.
    void keep(Index place, double log_prob) { list_.push_back({place, 0, log_prob}); }

    /// Add the extensions of a beam by the likeliest tokens of a row. Impossible tokens are left out.
    /// @cost   one pass over the row
    template <class View>
    void add(Index place, double log_prob, const View& row) {
        const Blocks stored(row);
        const auto most = std::min(places_.size(), static_cast<std::size_t>(row.size()));
        const Index found = largest_places(stored.numbers(), std::span(places_).first(most));
        for (const Index at : std::span(places_).first(static_cast<std::size_t>(found))) {
            const Index id = stored.id(at);
            if (!is_positive(static_cast<double>(row.coeff(id)))) return;
            list_.push_back({place, static_cast<Token>(id), log_prob + stored.log_weight(at)});
        }
    }

    /// Return the extensions that the step keeps. First come the extensions that a search of the first `favoured` beams
    /// alone would keep, so that a wider search covers the narrower one; then the best of all others.
    std::span<const Extension> best(Index favoured) {
        const auto likelier = [](const Extension& a, const Extension& b) { return a.log_prob > b.log_prob; };
        const auto of_favoured = [&](const Extension& each) { return each.place < favoured; };
        const auto own = std::ranges::partition_point(list_, of_favoured);
        std::stable_sort(list_.begin(), own, likelier);
        std::stable_sort(list_.begin() + std::min(favoured, own - list_.begin()), list_.end(), likelier);
        return std::span(list_).first(std::min(list_.size(), places_.size()));
    }

  private:
    std::vector<Extension> list_;
    std::vector<Index> places_;
};

}}}  // namespace specsample::detail
