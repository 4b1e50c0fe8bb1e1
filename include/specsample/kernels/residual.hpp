// The residual of a row after rejections, max(0, p - sum_k factor_k q_k), never materialised.
#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include <specsample/core/eigen.hpp>
#include <specsample/kernels/excess.hpp>
#include <specsample/kernels/weights.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// An empty list of subtractions, for residuals that subtract a single row.
struct NothingElse {
    static void each(const auto&, const auto&) {}
};

}  // namespace detail

namespace kernels {

/// The weights max(0, p - sum_k factor_k q_k), with some ids set to zero.
///
/// Subtracting the q_k one after the other, each under a maximum with 0, equals subtracting their sum under one
/// maximum, because no q_k is negative. So a block of p is read once, every q_k is subtracted from it in the cache, and
/// nothing is stored.
///
/// @tparam P, Q    the types of the rows
/// @tparam Taken   what supplies the rows to subtract: the rejected children of a node
template <class P, class Q, class Taken = detail::NothingElse>
class ResidualWeights {
    using Value = std::common_type_t<typename detail::Blocks<P>::Value, typename detail::Blocks<Q>::Value>;
    using QValue = typename detail::Blocks<Q>::Value;
    using Buffer = Eigen::Array<Value, detail::block_size, 1>;
    using QBuffer = typename detail::Blocks<Q>::Buffer;

  public:
    /// Make the residual of one rejection: max(0, p - factor q).
    /// @pre p and q are over the same ids
    ResidualWeights(const P& p, const Q& q, double factor = 1)
        requires std::same_as<Taken, detail::NothingElse>
        : p_(p), only_(q), factor_(factor) {}

    /// Make the residual of any number of rejections.
    /// @param taken   borrowed; taken.each(row, id) calls row(view, without, factor) per subtracted row, which is zero
    ///                at the ids in `without`, and id(token) per token whose residual is zero
    ResidualWeights(const P& p, const Taken& taken)
        requires(!std::same_as<Taken, detail::NothingElse>)
        : p_(p), taken_(&taken) {
        Index count = 0;
        const auto keep = [&](const Q& row, std::span<const Token> without, double factor) {
            ++count;
            if (!without.empty()) ++count;
            only_.emplace(row);
            factor_ = factor;
        };
        taken.each(keep, [&](Token) { count += 2; });
        if (count != 1) only_.reset();
    }

    // Places are the places of p, because the residual is zero elsewhere.
    Index size() const { return p_.size(); }
    Index id(Index place) const { return p_.id(place); }
    double operator[](Index place) const { return left_of(p_[place], p_.id(place)); }
    bool are_in_halves() const
        requires(detail::is_entries_row<P>)
    {
        return p_.are_powers();
    }

    /// Return the exchange with the ranks that hold p. Split rows only: see SharedWeights.
    auto share() const
        requires(detail::Blocks<P>::is_split)
    {
        return p_.share().changed();
    }

    /// Return the residual at an id.
    double residual_at(Index id) const { return left_of(p_.at(id), id); }

    [[gnu::flatten]] double sum(Index first, Index count) const {
        Scratch scratch;
        double total = 0;
        detail::for_blocks(first, count, [&](Index begin, Index n) {
            total += only_ ? less_only(begin, n, scratch) : less_all(begin, n, scratch, scratch.left, scratch.q);
        });
        return total / 2;
    }

    /// A block of what rejections have left, not yet bounded by 0, and of the weights of the last row of logits that
    /// was subtracted from it.
    struct Block {
        Buffer left;
        QBuffer q;
    };

    /// Sum a range as `sum` does, from what the first `done` rejections left of it, and keep what all of them leave.
    /// @param blocks   the blocks of the whole row
    [[gnu::flatten]] double sum_kept(Index first, Index count, Block* blocks, Index done) const {
        Scratch scratch;
        double total = 0;
        detail::for_blocks(first, count, [&](Index begin, Index n) {
            Block& block = blocks[begin / detail::block_size];
            total += less_all(begin, n, scratch, block.left, block.q, done);
        });
        return total / 2;
    }

  private:
    struct Scratch {
        typename detail::Blocks<P>::Buffer p;
        QBuffer q, without;
        Buffer left;
    };

    double left_of(double residual, Index id) const {
        if (only_) {
            residual -= detail::rounded(factor_ * only_->at(id));
        } else {
            taken_->each(
                [&](const Q& q, std::span<const Token> without, double factor) {
                    if (!detail::is_among(without, id))
                        residual -= detail::rounded(factor * static_cast<double>(q.coeff(id)));
                },
                [&](Token token) { residual = token == id ? 0 : residual; });
        }
        return residual > 0 ? residual : 0;
    }

    /// Return twice the sum of one block, with the only row subtracted in the summing pass.
    double less_only(Index begin, Index n, Scratch& scratch) const {
        if (!p_.are_powers()) p_.expect(begin + n, n);  // a pass over logits prefetches by itself
        if (!only_->are_powers()) only_->expect(begin + n, n);
        const detail::Scaled<Value> scaled(static_cast<Value>(factor_));
        const auto left = [&scaled](const auto& x, const auto& y) {
            return x.template cast<Value>().binaryExpr(y.template cast<Value>().unaryExpr(detail::ByReference(scaled)),
                                                       detail::TwiceExcess<Value>());
        };
        return detail::visit_both(p_, *only_, begin, n, scratch.p, scratch.q, [&](const auto& x, const auto& y) {
            return detail::block_sum<Value>(n, left, x, y);
        });
    }

    /// Return whether nothing in `taken` touches this block: single tokens touch few blocks of a vocabulary.
    bool is_whole(Index begin, Index n) const {
        bool is_whole = true;
        taken_->each([&](const Q&, std::span<const Token>, double) { is_whole = false; },
                     [&](Token token) {
                         const Index place = p_.place_of(token);
                         is_whole = is_whole && (place < begin || place >= begin + n);
                     });
        return is_whole;
    }

    /// Return twice the sum of one block, with everything in `taken` subtracted in `left`, unless nothing touches the
    /// block. If the first `done` have been subtracted before, `q` has the weights of the last row of logits among
    /// them.
    [[gnu::noinline]] double less_all(Index begin, Index n, Scratch& scratch, Buffer& left, QBuffer& q,
                                      Index done = 0) const {
        if (done == 0) {
            const auto* entries = p_.read(begin, n, scratch.p);
            if constexpr (std::same_as<typename detail::Blocks<P>::Value, Value>)
                if (is_whole(begin, n)) return twice_positive(entries, n);
            left.head(n) = map(entries, n);
        }
        std::optional<detail::Blocks<Q>> held;  // the row of which a block is in q
        taken_->each(
            [&](const Q& view, std::span<const Token> without, double factor) {
                const detail::Blocks<Q> row(view);
                bool is_kept = false;
                if constexpr (detail::is_entries_row<Q>) {
                    is_kept = held && are_same(*held, row);
                    if (row.are_powers()) held.emplace(row);
                }
                if (done-- > 0) return;
                // Siblings often have one row: its logits become weights once.
                const QValue* block =
                    is_kept ? q.data() : detail::read_at(p_, row, begin, n, row.are_powers() ? q : scratch.without);
                block = less_ids(block, without, begin, n, scratch.without);
                left.head(n) -= map(block, n).unaryExpr(detail::Scaled<Value>(static_cast<Value>(factor)));
            },
            [&](Token token) {
                const Index place = p_.place_of(token);
                if (place >= begin && place < begin + n) left[place - begin] = 0;  // again, if it was before
                --done;
            });
        return twice_positive(left.data(), n);
    }

    static double twice_positive(const Value* entries, Index n) {
        const auto positive = [](const auto& x) { return x + x.abs(); };  // keeps a NaN, unlike a maximum
        return detail::block_sum<Value>(n, positive, entries);
    }

    template <class Entry>
    static auto map(const Entry* entries, Index n) {
        return Eigen::Map<const Eigen::Array<Entry, Eigen::Dynamic, 1>>(entries, n).template cast<Value>();
    }

    /// Return a block at the places of p with the ids `without` at zero, in `buffer` if there are any.
    const QValue* less_ids(const QValue* block, std::span<const Token> without, Index begin, Index n,
                           QBuffer& buffer) const {
        for (const Token token : without) {
            const Index place = p_.place_of(token);
            if (place < begin || place >= begin + n) continue;
            if (block != buffer.data()) std::copy_n(block, n, buffer.data());
            block = buffer.data();
            buffer[place - begin] = 0;
        }
        return block;
    }

    detail::Blocks<P> p_;
    const Taken* taken_ = nullptr;
    std::optional<detail::Blocks<Q>> only_;  ///< the only subtraction, if that is one whole row: then `taken` is not
                                             ///< called again
    double factor_ = 0;
};

template <class P, class Q, class... Factor>
ResidualWeights(const P&, const Q&, Factor...) -> ResidualWeights<P, Q>;

}  // namespace kernels

}}  // namespace specsample
