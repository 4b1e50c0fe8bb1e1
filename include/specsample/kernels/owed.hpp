// What the target still owes after rejections: max(0, p - sum of what was taken), never materialised.
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
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

    // Numbered by the places of p: nothing is owed elsewhere.
    Index size() const { return p_.size(); }
    Index id(Index place) const { return p_.id(place); }
    double operator[](Index place) const { return left_of(p_[place], p_.id(place)); }

    /// What is owed to an id.
    double owed_to(Index id) const { return left_of(p_.at(id), id); }

    [[gnu::flatten]] double sum(Index first, Index count) const {
        Scratch scratch;
        double total = 0;
        detail::for_blocks(first, count, [&](Index begin, Index n) { total += block(begin, n, scratch); });
        return total / 2;
    }

  private:
    double left_of(double owed, Index id) const {
        taken_->each(
            [&](const Q& q, std::span<const Token> without, double factor) {
                if (std::ranges::find(without, id) == without.end()) owed -= factor * static_cast<double>(q.coeff(id));
            },
            [&](Token token) { owed = token == id ? 0 : owed; });
        return owed > 0 ? owed : 0;
    }

    struct Scratch {
        typename detail::Blocks<P>::Buffer p;
        typename detail::Blocks<Q>::Buffer q;
        Eigen::Array<Value, detail::block_size, 1> owed;
    };

    /// Twice the sum of one block. The last row to come off is taken in the summing pass; those before it are taken
    /// off in a buffer, which a single rejection never fills.
    double block(Index begin, Index n, Scratch& scratch) const {
        std::optional<detail::Blocks<Q>> last;  // the row that is still to come off, without these ids
        std::span<const Token> last_without;
        Value factor = 0;
        bool copied = false;
        const auto settle = [&] {
            if (!copied) scratch.owed.head(n) = map(p_.read(begin, n, scratch.p), n);
            if (last) scratch.owed.head(n) -= factor * map(read(*last, last_without, begin, n, scratch.q), n);
            copied = true;
            last.reset();
        };
        taken_->each(
            [&](const Q& row, std::span<const Token> without, double by) {
                if (last) settle();
                last.emplace(row);
                last_without = without;
                factor = static_cast<Value>(by);
            },
            [&](Token token) {
                const Index place = p_.place_of(token);
                if (place < begin || place >= begin + n) return;
                settle();
                scratch.owed[place - begin] = 0;
            });
        const Value* owed = scratch.owed.data();
        if (last) {
            const auto sum = [&](const auto& x, const auto& y) { return sum_left(n, factor, x, y); };
            const auto less_last = [&](const auto& x) {
                if (!last_without.empty()) return sum(x, read(*last, last_without, begin, n, scratch.q));
                return detail::visit_at(p_, *last, begin, n, scratch.q, [&](const auto& y) { return sum(x, y); });
            };
            return copied ? less_last(owed) : p_.visit(begin, n, scratch.p, less_last);
        }
        const auto positive = [](const auto& x) { return x + x.abs(); };  // keeps a NaN, unlike a maximum
        if (copied) return detail::block_sum<Value>(n, positive, owed);
        const auto all = [](const auto& x) { return 2 * x.template cast<Value>(); };
        return p_.visit(begin, n, scratch.p, [&](const auto& x) { return detail::block_sum<Value>(n, all, x); });
    }

    template <class X, class Y>
    static Value sum_left(Index n, Value factor, const X& row, const Y& taken) {
        const auto left = [factor](const auto& x, const auto& y) {
            return x.template cast<Value>().binaryExpr(factor * y.template cast<Value>(), detail::TwiceExcess<Value>());
        };
        return detail::block_sum<Value>(n, left, row, taken);
    }

    template <class Entry>
    static auto map(const Entry* entries, Index n) {
        return Eigen::Map<const Eigen::Array<Entry, Eigen::Dynamic, 1>>(entries, n).template cast<Value>();
    }

    /// A block of a row at the places of p, with some ids at zero: in place where there are none.
    const QValue* read(const detail::Blocks<Q>& row, std::span<const Token> without, Index begin, Index n,
                       typename detail::Blocks<Q>::Buffer& buffer) const {
        const QValue* entries = detail::read_at(p_, row, begin, n, buffer);
        for (const Token token : without) {
            const Index place = p_.place_of(token);
            if (place < begin || place >= begin + n) continue;
            if (entries != buffer.data()) std::copy_n(entries, n, buffer.data());
            entries = buffer.data();
            buffer[place - begin] = 0;
        }
        return entries;
    }

    detail::Blocks<P> p_;
    const Taken* taken_;
};

}  // namespace specsample
