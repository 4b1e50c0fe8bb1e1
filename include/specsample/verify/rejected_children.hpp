// The rejected children of a node: what residuals subtract from the node's row.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include <specsample/core/eigen.hpp>
#include <specsample/verify/lists.hpp>
#include <specsample/verify/round_context.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace walks {

/// The rejected children of a node, and what each of them subtracts from the node's row.
template <class Distributions>
class RejectedChildren {
  public:
    using Distribution =
        std::remove_cvref_t<decltype(detail::distribution_at(std::declval<Distributions&>(), Index{}))>;

    RejectedChildren(const DraftContext<Distributions>& draft, Index node) : draft_(draft), node_(node) {}

    bool empty() const { return last_child() == no_node; }
    /// Return the distribution of the child that was rejected last.
    const Distribution& last() const { return *last_; }

    /// Read the distribution of the child that was rejected last; in a chain, no other child is rejected.
    void read_last() {
        if (!empty()) last_.emplace(detail::distribution_at(draft_.distributions, last_child()));
    }

    /// Call f(child, distribution) for each rejected child, in order.
    template <class F>
    void for_each(F&& f) const {
        if (empty()) return;
        for (Index child = draft_.shape.first_child(node_); child != last_child();
             child = draft_.shape.next_sibling(child))
            f(child, detail::distribution_at(draft_.distributions, child));
        f(last_child(), last());
    }

    /// Call row(..) or point(..) for what each rejected child subtracts, as ResidualWeights takes it.
    template <class OfRow, class OfPoint>
    void each(OfRow&& row, OfPoint&& point) const {
        for_each([&](Index child, const Distribution& distribution) {
            if constexpr (detail::RowDistribution<Distribution>) {
                if (!draft_.state(child).is_point)
                    return row(distribution.row(), distribution.without(), draft_.state(child).factor);
            }
            point(draft_.token(child));
        });
    }

  private:
    Index last_child() const { return draft_.state(node_).rejected; }

    const DraftContext<Distributions>& draft_;
    Index node_;
    std::optional<Distribution> last_;
};

}  // namespace walks

}}  // namespace specsample
