// Gathering the part of a split row that a pipeline reads, by all ranks together.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include <specsample/shard/row_state.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard::detail {

template <class Scalar>
template <class Wide, class Change>
auto RowState<Scalar>::gather(const filters::Outlook& outlook, std::span<const Token> context,
                              std::vector<Wide>& numbers, std::vector<Token>& ids, const Change& change) -> Gathered {
    const filters::Reach reach = outlook.reach();
    Digest digest;
    digest.add(Base::digest_of(context)).add(reach.most).add(reach.distance).add(reach.mass).add(reach.temperature);
    const std::uint64_t key = digest.value();
    Gathered gathered{-1, {}};
    if (reach.most < vocab() || specsample::detail::is_finite(reach.distance)) {
        gathered.count = Base::gather_reached(reach, outlook.changed(), key, numbers, ids);
    } else if (reach.mass < 1) {
        Base::find_changed(outlook.changed());
        gathered = gather_nucleus(reach, key, numbers, ids, change);
    }
    return gathered.count < 0 ? Base::gather_all(context, numbers) : gathered;
}

template <class Scalar>
template <class Wide, class Change>
auto RowState<Scalar>::gather_nucleus(const filters::Reach& reach, std::uint64_t key, std::vector<Wide>& numbers,
                                      std::vector<Token>& ids, const Change& change) -> Gathered {
    const double largest = Base::largest_unchanged(Base::copy_mine(numbers), Base::changed(), key);
    const auto changed = static_cast<std::size_t>(Base::write_listed(numbers, ids));
    if (changed > 0) change(static_cast<Index>(changed));
    nucleus_.start(reach, largest, std::span(ids).first(changed), std::span(numbers).first(changed));
    find_sums(nucleus_.weights_of(*this), std::nullopt);
    const double total = std::accumulate(by_block_.begin(), by_block_.end(), 0.);
    if (fault_ || !specsample::detail::is_positive(total)) return {-1, {}};

    nucleus_.list(changed_mine(numbers), total, ranks_->size(), ids);
    const bool are_many = std::ssize(ids) * 10 * ranks_->size() > vocab();
    if (!Base::exchange_ids(ids, are_many || Base::has_bad(), key)) return {-1, {}};

    const auto listed = static_cast<std::size_t>(Base::write_listed(numbers, ids));
    nucleus_.change(std::span(ids).first(listed), std::span(numbers).first(listed));
    const Wide least = nucleus_.least(std::span<const Wide>(numbers).first(listed), total, ids);
    kernels::select_at_least(changed_mine(numbers), least, ids);
    if (!Base::exchange_ids(ids, false, key)) return {-1, {}};
    return {Base::write_listed(numbers, ids), total};
}

}}}  // namespace specsample::shard::detail
