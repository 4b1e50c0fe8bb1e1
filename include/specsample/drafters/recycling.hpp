// The target's own rows as a draft model: what followed the same few tokens the last time, as the target saw it.
//
// Luo et al.: "Turning trash into treasure: accelerating inference of large language models with token recycling", ACL
// 2025 (arXiv:2408.08696): the likeliest tokens after each token. Song et al.: "STAND: accelerated test-time scaling
// with model-free speculative sampling" (arXiv:2506.04708): tokens drawn from such rows, by n-gram.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/drafters/ngram_index.hpp>
#include <specsample/kernels/top.hpp>
#include <specsample/models/row_adaptor.hpp>
#include <specsample/rows/sparse.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace recycling {

/// What a Table keeps.
struct TableOptions {
    Index context = 2;  ///< the longest n-gram whose following row is kept, at least 1; all shorter ones are kept too
    Index top = 8;      ///< how many ids of a row are kept, the likeliest ones, at least 1
    Index capacity = 65536;  ///< how many n-grams are kept, at least 1; rounded up to a power of two
};

/// The likeliest ids of past rows by the n-gram before them: a draft model that costs nothing. It is a model as any
/// other, so every drafter of models drafts from it, and every rule judges what is drafted:
///
///     recycling::Table table;
///     Sampler sampler(TreeDrafter(std::ref(table), {3, 2, 1}), recycling::Recorded(target, table), options,
///                     TraversalVerification{});
///
/// The row after a prefix is that of its longest known n-gram, over the ids that are kept, with their probabilities
/// divided by their sum. A new row replaces the row of the same n-gram, and also that of an n-gram whose hash has the
/// same last bits.
///
/// Recorded learns the rows of a sampler's target; an engine calls `learn` with the rows that it verified. What is
/// known affects acceptance but never the output distribution, because a draft is judged by the very row that it was
/// drawn from. Several samplers on one thread may share a table by std::ref: texts about one thing draft for each
/// other.
///
/// @cost    per row learnt: one pass for its likeliest ids, one more for the normaliser of logits, and
///          O(context * top); per row asked for: O(context). Memory: 16 + 12 * top bytes per n-gram, allocated at once
class Table {
  public:
    /// @throws   std::invalid_argument for an option below 1, a context or top above most_drafted, or a capacity
    ///           above 2^24
    explicit Table(TableOptions options = {}) : options_(options) {
        constexpr auto where = "recycling::Table";
        detail::require_length(where, "context", options.context, 1);
        detail::require_length(where, "top", options.top, 1);
        detail::require(options.capacity >= 1 && options.capacity <= Index{1} << 24, where, "capacity",
                        options.capacity, "1 to 2^24");
        const std::size_t places = std::bit_ceil(static_cast<std::size_t>(options.capacity));
        entries_.resize(places);
        ids_.resize(places * static_cast<std::size_t>(options.top));
        probs_.resize(ids_.size());
        order_.resize(static_cast<std::size_t>(options.top));
    }

    /// Keep the likeliest ids of the row that follows a context, for each n-gram at the context's end.
    /// @throws   std::invalid_argument for a row of another size than the rows before
    /// @edge     numbers that are not positive and finite are not kept, nor is a row without any others, or with an
    ///           empty context
    template <detail::AnyRow R>
    void learn(std::span<const Token> context, const R& row) {
        detail::with_row(row, [&](const auto& given) { learn_probs(context, detail::as_row(given)); });
    }

    /// Return the row after a prefix; a row without ids, after which nothing is drafted, where none is known.
    auto operator()(std::span<const Token> prefix) const {
        std::size_t begin = 0, count = 0;
        for (Index n = std::min(options_.context, std::ssize(prefix)); n >= 1 && count == 0; --n) {
            const std::uint64_t key = key_of(prefix, n);
            const Entry& entry = entries_[place_of(key)];
            if (entry.key == key) begin = first(place_of(key)), count = entry.count;
        }
        return Sparse(std::span(ids_).subspan(begin, count), std::span(probs_).subspan(begin, count), vocab_);
    }

    /// Return the length of the longest n-gram.
    Index context() const { return options_.context; }
    /// Forget all rows.
    void clear() {
        std::ranges::fill(entries_, Entry{});
        vocab_ = 0;
    }

  private:
    struct Entry {
        std::uint64_t key = 0;
        std::uint32_t count = 0;  ///< of the ids that are kept; 0 for an unused place
    };

    template <class View>
    void learn_probs(std::span<const Token> context, const View& view) {
        if (view.size() == 0) return;
        if (vocab_ != 0 && view.size() != vocab_)
            detail::invalid("recycling::Table::learn", "the size of the row", view.size(),
                            "that of the rows before, " + detail::to_text(vocab_));
        vocab_ = view.size();
        const auto found = static_cast<std::size_t>(kernels::top_ids(view, std::span(order_)));
        const std::span<Token> ids = std::span(order_).first(found);
        std::ranges::sort(ids);
        double sum = 0;
        for (const Token id : ids) sum += static_cast<double>(view.coeff(id));
        if (!detail::is_finite(sum) || !(sum > 0)) return;
        for (Index n = 1; n <= std::min(options_.context, std::ssize(context)); ++n) {
            const std::uint64_t key = key_of(context, n);
            const std::size_t place = place_of(key);
            entries_[place] = {key, static_cast<std::uint32_t>(found)};
            for (std::size_t i = 0; i < found; ++i) {
                ids_[first(place) + i] = ids[i];
                probs_[first(place) + i] = static_cast<double>(view.coeff(ids[i])) / sum;
            }
        }
    }

    /// Return the key of the last n tokens: two n-grams have the same one with a probability of 2^-64.
    static std::uint64_t key_of(std::span<const Token> context, Index n) {
        return detail::ngram_hash(context.last(static_cast<std::size_t>(n))) + static_cast<std::uint64_t>(n);
    }
    std::size_t place_of(std::uint64_t key) const { return (key >> 7 ^ key) & (entries_.size() - 1); }
    std::size_t first(std::size_t place) const { return place * static_cast<std::size_t>(options_.top); }

    TableOptions options_;
    Index vocab_ = 0;
    std::vector<Entry> entries_;
    std::vector<Token> ids_;     // [places x top], ascending at a place
    std::vector<double> probs_;  // the same places
    std::vector<Token> order_;   // reused
};

/// A target whose rows a Table learns, also those behind a rejected token. Its rows are the target's, unchanged.
///
/// The rows of several positions are all read for it, so rows that are computed when they are read should be recorded
/// before: `shaped(Recorded(target, table), pipeline)` learns the target's rows as they were before shaping.
///
/// @tparam Target   a model of rows, by any of the three calls, or a std::ref of one
template <class Target>
class Recorded : public detail::Adaptor<Recorded<Target>, Target> {
    static_assert(detail::RowsModel<Target>,
                  "specsample::recycling::Recorded: the first argument must be a model that returns rows");
    friend class detail::Adaptor<Recorded, Target>;

  public:
    static constexpr bool stable_rows = detail::StableRows<Target>;

    /// @param table   borrowed; it must outlive this
    Recorded(Target target, Table& table) : detail::Adaptor<Recorded, Target>(std::move(target)), table_(&table) {}

  private:
    template <class Prefix>
    decltype(auto) ask(const Prefix& prefix) {
        decltype(auto) row = std::invoke(this->model(), prefix);
        table_->learn(prefix, row);
        return row;
    }
    template <class Prefix, class Asked>
    decltype(auto) ask(const Prefix& prefix, Asked asked) {
        decltype(auto) rows = std::invoke(this->model(), prefix, asked);
        contexts_.of(tail(prefix, asked), asked);
        const Index count = std::min(contexts_.size(), detail::element_count(rows, 0));
        for (Index i = 0; i < count; ++i) table_->learn(contexts_[i], detail::element(rows, i));
        return rows;
    }

    /// Return the last tokens of a prefix: the contexts of all rows that are asked for are made of these.
    std::span<const Token> tail(std::span<const Token> prefix, Index count) const {
        return prefix.last(std::min(prefix.size(), static_cast<std::size_t>(count - 1 + table_->context())));
    }
    std::span<const Token> tail(std::span<const Token> prefix, const Tree<Token, Index>&) const {
        return tail(prefix, Index{1});
    }

    Table* table_;
    detail::Contexts contexts_;
};

}}}  // namespace specsample::recycling
