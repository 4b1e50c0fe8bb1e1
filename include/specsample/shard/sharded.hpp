// Rows that are split over ranks: every rank holds one slice.
//
//     shard::Ranks ranks(communicator);
//     auto target = [&](std::span<const Token> prefix) {
//         return shard::Sharded(Logits(my_logits(prefix), 0.8), my_first_id, vocab, ranks);
//     };
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/rows/logits.hpp>
#include <specsample/rows/owner.hpp>
#include <specsample/shard/candidates.hpp>
#include <specsample/shard/gather.hpp>
#include <specsample/shard/slice.hpp>
#include <specsample/verify/match.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard {

/// A row split over ranks: this rank holds the ids [first_id, first_id + size of the slice), the other ranks the rest.
///
/// It is accepted wherever a row of probabilities or logits is accepted, and gives every rank the same results as the
/// whole row, to the bit. All ranks must make the same calls in the same order, with the same seed, text and limits. A
/// rank that deviates is a fault on every rank (Cause::ranks_differ), and so are slices that do not fit together. No
/// rank may read a row alone, and only one thread at a time may read rows of the same Ranks. If a rank gives up,
/// because its model or a callback throws or `until` ends its text alone, the communicator must report that to the
/// other ranks.
///
/// Every rule takes such rows except KSeq, which reads whole rows several times. Rules and drafters may read any
/// entry. The ranks find draws, races, the largest entries and the entries of drafted tokens together; for any other
/// entry they send each other their slices of that row, once. Draft rows may belong to another Ranks with other slices;
/// a rule that judges by ratios then has the draft rows sent whole, too.
///
/// Shaping gathers the candidates that the pipeline can leave. For logits these are a few ids if the first filter is
/// top-k, top-p or min-p, also after penalties, biases and temperatures. Shaping gathers the whole row for
/// probabilities, for typical-p, for masks, for shapers that filters::Outlook does not know, and where the nucleus of
/// top-p is more than about a tenth of the vocabulary.
///
/// @cost   per round of supplied rows, whatever its length: 1 exchange for GreedyMatch and GumbelMatch, 2 for
///         SampleMatch, at most 3 for TokenVerification, and for BlockVerification one more per token given up. Logits
///         without a stated normaliser take one exchange more, except under GreedyMatch and GumbelMatch. A rank sends
///         one sum per row and 512 of its ids, and the ids that share a block of 512 with another rank (even_slice:
///         none). No allocation when warm
/// @tparam R   the slice: probabilities or Logits in contiguous memory; an owner (moved in), a view, or `const Owner&`
template <class R>
class Sharded {
    using Stored = specsample::detail::StoredAs<R>;
    using Scalar = typename specsample::detail::StoredScalar<specsample::detail::row_view_t<Stored>>::type;
    using Value = specsample::detail::Compute<Scalar>;
    using State = detail::RowState<Scalar>;
    using Slice = detail::Slice<Scalar>;

  public:
    static constexpr bool are_logits = specsample::detail::form_of<Stored>.logits;  ///< false: probabilities
    static constexpr specsample::detail::RowForm form{.logits = are_logits, .split = true};
    static constexpr bool owns = specsample::detail::owns_part<R>;   ///< the slice is destroyed with this row
    static constexpr bool borrows = specsample::detail::borrows<R>;  ///< the slice is viewed
    /// True if the row may be returned by the function that makes it.
    static constexpr bool outlives_its_making = !std::is_reference_v<R> && specsample::detail::ReturnedRow<R>;
    using Owned = Sharded<typename specsample::detail::CopyOf<Stored>::type>;

    Sharded() = default;

    /// @param slice      [n] probabilities of this rank's ids, or Logits of them
    /// @param first_id   the id of the slice's first entry
    /// @param vocab      the size of the vocabulary
    /// @param ranks      the ranks that hold the other slices; borrowed
    /// @edge             slices that do not fit together are a fault when the row is read
    template <class Given>
    Sharded(Given&& slice, Index first_id, Index vocab, Ranks& ranks)
        : slice_(specsample::detail::store_row<R>(std::forward<Given>(slice))), state_(ranks.state<State>()) {
        state_->start(ranks, {first_id, specsample::detail::row_size(slice_), vocab});
    }

    Index size() const { return state_->vocab(); }

    /// Return the probabilities as an expression.
    auto probs() const { return entries(encoding()).row(); }

    /// Return the temperature of the logits.
    double temperature() const
        requires(are_logits)
    {
        return slice_.temperature();
    }

    /// Return the weights that a token is drawn from; for logits only.
    auto weights() const
        requires(are_logits)
    {
        return kernels::LogitWeights<Slice>(slice(), slice_.temperature(), size());
    }

    /// Tell whether the row needs no further check. Unnormalised logits need none if argmax finds a largest one,
    /// because it finds none next to a bad number.
    bool is_sound() const {
        if constexpr (are_logits) return !slice_.is_normalised() && argmax() >= 0;
        return false;
    }

    static constexpr bool has_logits() { return are_logits; }

    /// Return the id of the largest entry of all slices.
    Index argmax() const { return slice().state().largest_id(); }

    /// Return the row for a race, which needs no normaliser.
    auto unnormalised() const { return entries(race_encoding()).row(); }

    /// Copy this row to a row that owns its slice and has exchanged nothing yet.
    void copy_to(Owned& copy) const {
        specsample::detail::copy_row(slice_, copy.slice_);
        copy.state_ = state_->ranks().template state<State>();
        copy.state_->start(state_->ranks(), state_->bounds());
    }

    /// Exchange everything that the rule of a round reads from its rows, in as few messages as possible. `verify` calls
    /// it first.
    /// @param first   the first row if rows are made when they are asked for, else null
    /// @returns       the fault that the ranks found, if any
    /// @cost          one exchange; one more if logits need a normaliser, and one more for a rule that draws from every
    ///                row
    template <class Rule, class Ids, class Shape, class Distributions, class Rows, class Source, class Limits>
    static std::optional<RowFault> gather(const Ids& given, const Shape& shape, Distributions& distributions,
                                          Rows& rows, const Sharded* first, const Source& rng, const Limits& limits) {
        const bool check_all = limits.check == Check::every_row;
        detail::RoundRows<Rows, Distributions> all(rows, first, distributions, shape.size());
        all.begin(detail::digest_of_round(given, shape, rng, limits));
        if constexpr (requires { Rule::decision; }) {
            const auto rng_at = [&](Index node) {
                return rng.at(Purpose::race, node == root_node ? 0 : shape.depth(node));
            };
            all.want([&](const Sharded& row, Index node) {
                if (Rule::decision == walks::Decision::draw) all.want_normaliser(row);
                all.want_check(row, check_all);
                if (Rule::decision == walks::Decision::largest) row.state().wants().largest = true;
                if constexpr (Rule::decision == walks::Decision::race) row.start_race(rng_at(node));
            });
            auto bad = all.exchange(Rule::decision == walks::Decision::draw);
            if constexpr (Rule::decision == walks::Decision::draw && requires { rng_at(0).bits(); })
                if (!bad) bad = all.exchange_draws(rng_at);
            return bad;
        } else {
            all.want_entries(given, shape, check_all);
            if (const auto bad = all.exchange(true)) return bad;
            return all.changed_row(shape.size());
        }
    }

    /// Race the ids of this rank, so that the next exchange finds the winner.
    template <class Rng>
    void start_race(const Rng& rng) const {
        if (is_greedy()) {
            state().wants().largest = true;
        } else if constexpr (requires { rng.open_uniform(std::uint32_t{}); }) {
            state().race_mine(specsample::detail::noise_of(rng));
            state().wants().race = true;
        }
    }

    /// Return the state of the row, for exchanges about several rows.
    State& state() const { return slice().state(); }
    /// Return the weights whose sums give the normaliser of the logits; see LogitWeights. The ranks exchange the pivot
    /// if it is not known yet.
    auto weights_to_sum() const
        requires(are_logits)
    {
        const double pivot = state_->largest(false);
        const double scale = slice_.unnormalised_encoding().scale();
        return entries({specsample::detail::is_finite(pivot) ? pivot : 0, scale, 1});
    }
    /// Tell whether the logits have a normaliser that must be found.
    bool needs_sums() const {
        if constexpr (are_logits) return slice_.temperature() > 0 && !slice_.is_normalised();
        return false;
    }
    /// Tell whether all weight is on the largest logit.
    bool is_greedy() const {
        if constexpr (are_logits) return slice_.temperature() == 0;
        return false;
    }

  private:
    template <class>
    friend class Sharded;

    Slice slice() const {
        const auto numbers = specsample::detail::as_row(numbers_of_slice());
        static_assert(std::same_as<std::remove_const_t<decltype(numbers)>, specsample::detail::Column<Scalar>>,
                      "specsample::Sharded: a slice must be contiguous in memory; copy it to a vector");
        state_->attach(numbers.data(), race_encoding());
        return Slice(*state_);
    }
    decltype(auto) numbers_of_slice() const {
        if constexpr (are_logits) {
            return slice_.numbers();
        } else {
            return (slice_);
        }
    }

    auto entries(const specsample::detail::Encoding<Value>& encoding) const {
        return specsample::detail::Entries(slice(), specsample::detail::EveryId{}, size(), encoding);
    }

    specsample::detail::Encoding<Value> encoding() const {
        if constexpr (are_logits) {
            if (slice_.is_normalised() && slice_.temperature() > 0) return slice_.encoding();
            return weights().encoding();
        } else {
            return {};
        }
    }
    /// Return the encoding in which the slice races.
    specsample::detail::Encoding<Value> race_encoding() const {
        if constexpr (are_logits) {
            if (slice_.temperature() == 0) return specsample::detail::Encoding<Value>::peak(-1);
            return slice_.unnormalised_encoding();
        } else {
            return {};
        }
    }

    Stored slice_;
    std::shared_ptr<State> state_;
};

template <class Given>
Sharded(Given&&, Index, Index, Ranks&) -> Sharded<specsample::detail::Part<Given>>;

}}}  // namespace specsample::shard
