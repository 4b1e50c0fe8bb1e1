// What the target still owes after rejections: max(0, p - sum of what was taken), never materialised.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>

#include <specsample/kernels/weights.hpp>

namespace specsample {

/// The weights max(0, p - sum_k factor_k q_k), with some ids at zero.
///
/// Laws that were subtracted one after the other, each with a maximum, are one sum under one maximum, because none of
/// them is negative. So a block of p is read once, every q_k is taken off it in the cache, and nothing is stored.
///
/// @tparam Taken   taken.each(row, id) calls row(view, without, factor) per subtracted row, the ids `without` of it
///                 left out, and id(token) per token that is owed nothing any more
template <class P, class Q, class Taken>
class OwedWeights {
    using Value = std::common_type_t<typename detail::Blocks<P>::Value, typename detail::Blocks<Q>::Value>;
    using QValue = typename detail::Blocks<Q>::Value;

  public:
    OwedWeights(const P& p, const Taken& taken) : p_(p), taken_(&taken) {}

    Index size() const { return p_.size(); }

    double operator[](Index i) const {
        double owed = p_[i];
        taken_->each(
            [&](const Q& q, std::span<const Token> without, double factor) {
                if (std::ranges::find(without, i) == without.end()) owed -= factor * static_cast<double>(q.coeff(i));
            },
            [&](Token token) { owed = token == i ? 0 : owed; });
        return owed > 0 ? owed : 0;
    }

    double sum(Index first, Index count) const {
        Scratch scratch;
        double total = 0;
        detail::for_blocks(first, count, [&](Index begin, Index n) { total += block(begin, n, scratch); });
        return total / 2;
    }

  private:
    struct Scratch {
        typename detail::Blocks<P>::Buffer p;
        typename detail::Blocks<Q>::Buffer q;
        Eigen::Array<Value, detail::block_size, 1> owed;
    };

    /// Twice the sum of one block. The last row to come off is taken in the summing pass; those before it are taken
    /// off in a buffer, which a single rejection never fills.
    double block(Index begin, Index n, Scratch& scratch) const {
        const auto* p = p_.read(begin, n, scratch.p);
        const QValue* q = nullptr;  // the row that is still to come off
        Value factor = 0;
        bool copied = false;
        const auto settle = [&] {
            if (!copied) scratch.owed.head(n) = map(p, n);
            if (q != nullptr) scratch.owed.head(n) -= factor * map(q, n);
            copied = true;
            q = nullptr;
        };
        taken_->each(
            [&](const Q& row, std::span<const Token> without, double by) {
                if (q != nullptr) settle();
                q = without_ids(detail::Blocks(row), without, begin, n, scratch.q);
                factor = static_cast<Value>(by);
            },
            [&](Token token) {
                if (token < begin || token >= begin + n) return;
                settle();
                scratch.owed[token - begin] = 0;
            });
        const auto all = [](const auto& x) { return 2 * x.template cast<Value>(); };
        const auto positive = [](const auto& x) { return x + x.abs(); };  // keeps a NaN, unlike a maximum
        const auto left = [factor](const auto& x, const auto& y) {
            const auto d = x.template cast<Value>() - factor * y.template cast<Value>();
            return d + d.abs();
        };
        const Value* owed = scratch.owed.data();
        if (q == nullptr)
            return copied ? detail::block_sum<Value>(n, positive, owed) : detail::block_sum<Value>(n, all, p);
        return copied ? detail::block_sum<Value>(n, left, owed, q) : detail::block_sum<Value>(n, left, p, q);
    }

    template <class Entry>
    static auto map(const Entry* entries, Index n) {
        return Eigen::Map<const Eigen::Array<Entry, Eigen::Dynamic, 1>>(entries, n).template cast<Value>();
    }

    /// A block of a row, with some ids at zero: in place where there are none.
    template <class Row, class Buffer>
    static const auto* without_ids(const Row& row, std::span<const Token> without, Index begin, Index n,
                                   Buffer& buffer) {
        const auto* entries = row.read(begin, n, buffer);
        for (const Token token : without) {
            if (token < begin || token >= begin + n) continue;
            if (entries != buffer.data()) std::copy_n(entries, n, buffer.data());
            entries = buffer.data();
            buffer[token - begin] = 0;
        }
        return entries;
    }

    detail::Blocks<P> p_;
    const Taken* taken_;
};

}  // namespace specsample
