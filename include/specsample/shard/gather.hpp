// The exchanges that a round begins with. They collect everything that its rule reads from all rows, with one exchange
// for each step that needs the results of the step before.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include <specsample/random/address.hpp>
#include <specsample/shard/row_state.hpp>
#include <specsample/tree/links.hpp>
#include <specsample/verify/lists.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard::detail {

/// Compute a digest of everything that must be equal on all ranks in a round.
template <class Ids, class Shape, class Source, class Limits>
std::uint64_t digest_of_round(const Ids& given, const Shape& shape, const Source& rng, const Limits& limits) {
    Digest digest;
    digest.add(shape.size()).add(limits.max_tokens).add(limits.check);
    for (const Token stop : limits.stop_tokens) digest.add(stop);
    for (Index node = 0; node < shape.size(); ++node) digest.add(shape.parent(node));
    for (const auto id : given) digest.add(static_cast<std::int64_t>(id));
    if constexpr (requires { rng.at(Purpose::accept, 0).bits(); })
        digest.add(rng.at(Purpose::accept, 0).bits()).add(rng.at(Purpose::race, 0).bits());
    return digest.value();
}

/// Return the state of a split row; null for any other row.
template <class View>
auto* state_behind(const View& view) {
    if constexpr (specsample::detail::Blocks<View>::is_split) {
        return &view.functor().numbers().state();
    } else {
        return static_cast<RankRow*>(nullptr);
    }
}

/// The rows of a round: all rows if they are supplied, else only the first, because the others are made when they are
/// read.
template <class Rows, class Distributions>
class RoundRows {
    using Row = std::remove_cvref_t<specsample::detail::Element<Rows>>;
    static constexpr bool are_supplied = specsample::detail::is_supplied<Rows>;
    static_assert(
        !are_supplied || std::is_lvalue_reference_v<specsample::detail::Element<Rows>>,
        "specsample::Sharded: rows[i] must return the same row every time, not one made for the call, so that "
        "what was exchanged about it is kept; store the rows in a std::vector");

  public:
    /// @param first   the first row, if rows are not supplied
    RoundRows(Rows& rows, const Row* first, Distributions& distributions, Index nodes)
        : rows_(rows), first_(first), distributions_(distributions), nodes_(nodes) {
        count_ = first != nullptr ? 1 : std::min(row_count(), nodes + 1);
        if (count_ > 0) list_ = &ranks().list();
    }

    /// Begin the round. Ranks that differ in the digest, or in the number of rows or distributions, find that out at
    /// their next exchange.
    void begin(std::uint64_t digest) {
        if (count_ > 0) ranks().begin_round(Digest().add(digest).add(row_count()).add(distribution_count()).value());
    }

    /// Ask for what a rule that compares probabilities reads: the entries of drafted tokens, and the normalisers.
    template <class Ids, class Shape>
    void want_entries(const Ids& given, const Shape& shape, bool check_all) {
        for (Index row = 0; row < count_; ++row) {
            if (Row::are_logits) want_normaliser(at(row));
            want_check(at(row), check_all);
            add(at(row).state());
        }
        for (Index node = 0; node < shape.size(); ++node) {
            const Index parent = shape.parent(node);
            const auto id = static_cast<Index>(given[static_cast<std::size_t>(node)]);
            if (parent + 1 < count_) at(parent + 1).state().want_entry(id);
            for (Index sibling = shape.first_child(parent); sibling != no_node; sibling = shape.next_sibling(sibling))
                want_draft_entry(sibling, id);
        }
    }

    /// Ask for what a rule that judges every row alone reads: decide(row, node) sets the wants of one row.
    template <class Want>
    void want(const Want& decide) {
        for (Index row = 0; row < count_; ++row) {
            decide(at(row), row - 1);
            add(at(row).state());
        }
    }

    /// Exchange everything that was asked for.
    /// @param sums   whether logits need their normalisers
    std::optional<RowFault> exchange(bool sums) {
        if (list_->empty()) return std::nullopt;
        const RankRow& first = *list_->front();
        ranks().exchange(Topic::open, *list_);
        if constexpr (Row::are_logits)
            if (sums && !first.fault()) exchange_sums();
        return first.fault();
    }

    /// Draw a token from every row, and exchange the places of all draws.
    template <class RngAt>
    std::optional<RowFault> exchange_draws(const RngAt& rng_at) {
        if (count_ == 0) return std::nullopt;
        ranks().collect([&] {
            for (Index row = 0; row < count_; ++row) draw(rng_at(row - 1), at(row));
        });
        list_->clear();
        for (Index row = 0; row < count_; ++row)
            if (at(row).state().is_picking()) add(at(row).state());
        ranks().exchange(Topic::pick, *list_);
        return at(0).state().fault();
    }

    /// Return the fault of the first draft row that an exchange found changed since its token was drawn.
    /// @param size   the number of drafted tokens
    std::optional<RowFault> changed_row(Index size) {
        using L = std::remove_cvref_t<decltype(specsample::detail::distribution_at(distributions_, Index{}))>;
        if constexpr (specsample::detail::RowDistribution<L>) {
            for (Index node = 0; node < size; ++node) {
                const auto distribution = specsample::detail::distribution_at(distributions_, node);
                if (distribution.is_point()) continue;
                const auto* const state = state_behind(distribution.row());
                if (state == nullptr || !state->fault()) continue;
                RowFault fault = *state->fault();
                fault.row = node;
                return fault;
            }
        }
        return std::nullopt;
    }

    static void want_normaliser(const Row& row) {
        Wants& wants = row.state().wants();
        wants.pivot = row.needs_sums();
        wants.largest = row.is_greedy();
        wants.sums = !Row::are_logits;
    }
    static void want_check(const Row& row, bool check_all) {
        if (check_all) (Row::are_logits ? row.state().wants().largest : row.state().wants().sums) = true;
    }

  private:
    /// Exchange the sums from which the normalisers of logits follow.
    void exchange_sums() {
        list_->clear();
        for (Index row = 0; row < count_; ++row) {
            if (!at(row).needs_sums()) continue;
            at(row).state().sum_mine(kernels::RowWeights(at(row).weights_to_sum().row()));
            add(at(row).state());
        }
        if (list_->empty()) return;
        ranks().exchange(Topic::sums, *list_);
        for (Index row = 0; row < count_; ++row) {
            if (!at(row).needs_sums()) continue;
            const auto encoding = at(row).weights_to_sum().encoding();
            at(row).state().keep_sums({encoding.pivot(), encoding.factor()});
        }
    }

    /// Add a row to the exchange, unless it is part of it already.
    void add(RankRow& row) {
        if (std::ranges::find(*list_, &row) == list_->end()) list_->push_back(&row);
    }

    const Row& at(Index row) const {
        if constexpr (are_supplied) return specsample::detail::element(rows_, row);
        return *first_;
    }
    Ranks& ranks() const { return at(0).state().ranks(); }
    /// Return the number of rows, or the number that is needed if the source of the rows does not know it.
    Index row_count() const { return specsample::detail::element_count(rows_, nodes_ + 1); }
    Index distribution_count() const {
        if constexpr (DraftDistribution<std::remove_cvref_t<Distributions>>) {
            return nodes_;
        } else {
            return specsample::detail::element_count(distributions_, nodes_);
        }
    }

    /// Ask for an entry of a draft row, unless there is no such row or it belongs to another Ranks.
    void want_draft_entry(Index node, Index id) {
        if (node >= distribution_count()) return;
        using L = std::remove_cvref_t<decltype(specsample::detail::distribution_at(distributions_, node))>;
        if constexpr (specsample::detail::RowDistribution<L>) {
            const auto distribution = specsample::detail::distribution_at(distributions_, node);
            if (distribution.is_point()) return;
            auto* const state = state_behind(distribution.row());
            if (state == nullptr || &state->ranks() != &ranks()) return;
            if constexpr (requires { state->want_entry(id); }) {
                state->want_entry(id);
                add(*state);
            }
        }
    }

    Rows& rows_;
    const Row* first_;
    Distributions& distributions_;
    Index nodes_;
    Index count_ = 0;
    std::vector<RankRow*> own_;
    std::vector<RankRow*>* list_ = &own_;
};

}}}  // namespace specsample::shard::detail
