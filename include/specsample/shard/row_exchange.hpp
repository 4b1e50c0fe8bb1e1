// The messages about a row: what each rank writes and reads in an exchange, by topic.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include <specsample/shard/row_state.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard::detail {

/// Merge the findings of the next ids into `odd`.
inline void add(OddNumbers& odd, const OddNumbers& next) {
    if (odd.not_finite_at < 0) {
        odd.not_finite_at = next.not_finite_at;
        odd.not_finite = next.not_finite;
    }
    if (odd.negative_at < 0) {
        odd.negative_at = next.negative_at;
        odd.negative = next.negative;
    }
    odd.like_logits |= next.like_logits;
    odd.has_finite |= next.has_finite;
}

template <class Scalar>
std::uint64_t RowState<Scalar>::wish() const {
    Digest digest;
    digest.add(is_open_).add(wants_.pivot).add(wants_.sums).add(wants_.largest).add(wants_.race);
    for (const Token id : wanted_) digest.add(id);
    return digest.value();
}

template <class Scalar>
void RowState<Scalar>::fail(const RowFault& fault) {
    if (!fault_) fault_ = fault;
    wanted_.clear();
    wants_ = {};
}

template <class Scalar>
void RowState<Scalar>::write(Topic topic, Writer& out) {
    switch (topic) {
        case Topic::open:
            return write_open(out);
        case Topic::sums:
            for (Index block = 0; block < split().blocks(); ++block)
                if (split().holder(block * length()) == ranks_->rank())
                    out.put(by_block_[static_cast<std::size_t>(block)]);
            return;
        case Topic::largest:
            return out.put(mine_.largest(vocab()));
        case Topic::pick:
            if (picking_rank_ == ranks_->rank()) out.put(picked_);
            return;
        case Topic::nearest:
            return out.put(nearest_);
        case Topic::odd:
            return out.put(odd_);
        case Topic::list:
            return this->write_list(out);
        case Topic::numbers:
            return this->write_numbers(out);
    }
}

template <class Scalar>
void RowState<Scalar>::read(Topic topic, Index rank, Reader& in) {
    switch (topic) {
        case Topic::open:
            return read_open(rank, in);
        case Topic::sums:
            for (Index block = 0; block < split().blocks(); ++block)
                if (split().holder(block * length()) == rank)
                    by_block_[static_cast<std::size_t>(block)] = in.take<double>();
            return;
        case Topic::largest: {
            const auto next = in.take<double>();
            known_.largest = std::max(known_.largest.value_or(next), next);
            return;
        }
        case Topic::pick:
            if (picking_rank_ == rank) picked_ = in.take<Picked<Scalar>>();
            return;
        case Topic::nearest: {
            const auto found = in.take<Nearest<Scalar>>();
            if (found.before.place >= 0) picked_ = found.before;  // ranks come in order: the last place stays
            if (found.after.place >= 0 && after_.place < 0) after_ = found.after;
            return;
        }
        case Topic::odd:
            if (const auto found = in.take<OddNumbers>(); all_odd_.not_finite_at < 0) add(all_odd_, found);
            return;
        case Topic::list:
            return this->read_list(in);
        case Topic::numbers:
            return this->read_numbers(rank, in);
    }
}

template <class Scalar>
void RowState<Scalar>::finish(Topic topic) {
    if (topic == Topic::open) finish_open();
}

/// Sum the negative numbers in the blocks that a rank holds; rank -1 stands for the blocks that borders cut.
template <class Scalar>
template <class Blocks>
double RowState<Scalar>::negative_sum(const Blocks& numbers, Index rank) const {
    typename Blocks::Buffer buffer;
    specsample::detail::CheckedSum sum;
    for (Index block = 0; block < vocab(); block += length()) {
        if (split().holder(block) != rank) continue;
        const Index before = rank < 0 ? block - split().place_in_cut(block) : bounds_.first;
        specsample::detail::for_blocks(block, count_at(block), [&](Index first, Index count) {
            sum.add(count, numbers.read(first - before, count, buffer));
        });
    }
    return sum.negative;
}

template <class Scalar>
void RowState<Scalar>::write_open(Writer& out) const {
    const Index rank = ranks_->rank();
    if (!is_open_)
        split().for_cut(rank, [&](Index first, Index count) {
            out.put_bytes(std::as_bytes(std::span(mine_.from(first), static_cast<std::size_t>(count))));
        });
    for (const Token id : wanted_)
        if (split().holder(id) == rank) out.put(mine_[id]);
    if (wants_.pivot) out.put(mine_.largest(specsample::detail::block_size));
    if (wants_.largest) out.put(mine_.largest_id());
    if (wants_.race) out.put(my_winner_);
    const std::optional<RowFault> changed = Base::changed_number();
    out.put(changed.has_value());
    if (changed) out.put(*changed);
    if (wants_.sums) {
        const kernels::RowWeights weights(mine_.row());
        for (Index first = 0; first < vocab(); first += length())
            if (split().holder(first) == rank) out.put(weights.sum(first - bounds_.first, count_at(first)));
        out.put(negative_sum(mine_.blocks(), rank));
    }
}

template <class Scalar>
void RowState<Scalar>::read_open(Index rank, Reader& in) {
    if (!is_open_) {
        cut_.resize(static_cast<std::size_t>(split().cut_size()));
        split().for_cut(rank, [&](Index first, Index count) {
            in.take_bytes(std::as_writable_bytes(std::span(cut_).subspan(
                static_cast<std::size_t>(split().place_in_cut(first)), static_cast<std::size_t>(count))));
        });
    }
    for (const Token id : wanted_)
        if (split().holder(id) == rank) remember(id, in.take<Scalar>());
    if (wants_.pivot) {
        const auto next = in.take<double>();
        known_.first_largest = std::max(known_.first_largest.value_or(next), next);
    }
    if (wants_.largest) {
        const auto next = in.take<Best>();
        if (!known_.largest_id) known_.largest_id.emplace();
        add_find(*known_.largest_id, next, next.number > known_.largest_id->number);
    }
    if (wants_.race) {
        if (rank == 0) winner_ = {};
        const auto next = in.take<Best>();
        add_find(winner_, next, next.number < winner_.number);
    }
    if (in.take<bool>())
        if (const auto changed = in.take<RowFault>(); !fault_) fault_ = changed;
    if (wants_.sums) {
        if (rank == 0) {
            row_sums_.assign(static_cast<std::size_t>(split().blocks()), 0);
            known_.negative = 0;
        }
        for (Index block = 0; block < split().blocks(); ++block)
            if (split().holder(block * length()) == rank)
                row_sums_[static_cast<std::size_t>(block)] = in.take<double>();
        *known_.negative += in.take<double>();
    }
}

template <class Scalar>
void RowState<Scalar>::finish_open() {
    is_open_ = true;
    if (wants_.sums) {
        const kernels::RowWeights weights(Column<Scalar>(cut_.data(), std::ssize(cut_)));
        for (Index first = 0; first < vocab(); first += length())
            if (is_cut(first))
                row_sums_[static_cast<std::size_t>(first / length())] =
                    weights.sum(split().place_in_cut(first), count_at(first));
        *known_.negative += negative_sum(cut_numbers(), -1);
        known_.sums_key = SumsKey{};
    }
    if (wants_.largest && known_.largest_id->index() >= 0)
        remember(known_.largest_id->id, static_cast<Scalar>(static_cast<Compute<Scalar>>(known_.largest_id->number)));
    if (wants_.race) known_.race_key = next_race_key_;
    wanted_.clear();
    wants_ = {};
}

}}}  // namespace specsample::shard::detail
