// Decodes one input into a draft, its distributions, the target's rows and the limits of a round.
#pragma once

#include <limits>
#include <vector>

#include <specsample/verify.hpp>

#include "fuzz/kinds.hpp"
#include "fuzz/round.hpp"

namespace fuzz {

/// Ends a text at a length and at a token.
struct Until {
    Index length = 0;
    Token token = -1;
    StopDecision at_length = StopDecision::go_on, at_token = StopDecision::go_on;

    StopDecision operator()(std::span<const Token> tokens) const {
        if (std::ssize(tokens) == length) return at_length;
        return tokens.back() == token ? at_token : StopDecision::go_on;
    }
};

/// Distributions without a row.
struct NoRow {};

/// Distributions by the kind of the rows behind them, and the memory of those.
template <class Kind>
struct DistributionsOf {
    using Memory = typename Kind::Memory;
    using type = std::vector<Mixed<detail::row_view_t<decltype(Kind::row(std::declval<const Memory&>()))>>>;
};
template <>
struct DistributionsOf<NoRow> {
    using Memory = NoRow;
    using type = PointMass;
};

/// A round's data, good by design for one half of all inputs.
///
/// @tparam P   the kind of the target's rows
/// @tparam Q   the kind of the rows behind the distributions, or NoRow
template <class P, class Q, bool is_tree>
struct Input {
    static constexpr bool has_rows = !std::same_as<Q, NoRow>;

    bool only_good = false, is_good = true, must_refuse = false;
    Index vocab = 1, position = 0;
    std::uint64_t seed = 0;
    Given given;
    std::vector<Token> stops;
    Until until;
    std::vector<std::vector<Token>> without;
    std::vector<Numbers> draft_numbers, target_numbers;
    std::vector<typename DistributionsOf<Q>::Memory> draft_memory;
    std::vector<typename P::Memory> target_memory;
    typename DistributionsOf<Q>::type distributions;

    explicit Input(Bytes& bytes) {
        only_good = !bytes.one_in(2);
        vocab = bytes.one_in(16) ? 500 + bytes.below(700) : 1 + bytes.below(12);
        if constexpr (is_shaped<P>) P::read_settings(bytes, vocab, only_good);
        read_shape(bytes);
        read_draft(bytes);
        read_target(bytes);
        read_limits(bytes);
    }
    Input(const Input&) = delete;

    Index size() const { return std::ssize(given.tokens); }

    /// Is there nothing wrong with what a round is given?
    bool is_good_round() const {
        return is_good && std::ssize(target_memory) == size() + 1 && has_all_distributions() &&
               std::ranges::all_of(given.tokens, [&](std::int64_t id) { return id >= 0 && id < vocab; }) &&
               std::ranges::all_of(stops, [&](Token id) { return id >= 0 && id < vocab; }) && are_drawn();
    }

    /// Must verify refuse it? A rule that shares noise also refuses tokens that were drawn from a row without it.
    template <class Rule>
    bool is_refused_by() const {
        if (must_refuse) return true;
        if constexpr (has_rows && detail::shares_noise<Rule>)
            return has_all_distributions() &&
                   std::ranges::any_of(distributions, [](const auto& one) { return !one.is_point(); });
        return false;
    }

  private:
    void read_shape(Bytes& bytes) {
        const Index size = bytes.below(7);
        for (Index node = 0; node < size; ++node)
            given.parents.push_back(is_tree ? bytes.below(node + 1) - 1 : node - 1);
        if (is_tree && !only_good && bytes.one_in(8)) {
            given.parents.resize(static_cast<std::size_t>(bytes.below(7)), 0);
            for (std::int64_t& parent : given.parents)
                if (bytes.one_in(4)) parent = static_cast<std::int64_t>(bytes.word());
        }
        given.tokens.resize(static_cast<std::size_t>(size));
        must_refuse = given.parents.size() != given.tokens.size();
        for (Index node = 0; node < std::ssize(given.parents); ++node)
            must_refuse |= given.parent(node) < -1 || given.parent(node) >= node;
    }

    Numbers read_row(Bytes& bytes, const Format& format, std::vector<double> chances) {
        Numbers row = good_row(bytes, format, std::move(chances));
        if (!only_good && bytes.one_in(3)) spoil(bytes, row);
        return row;
    }

    /// The nodes of the same parent before this one.
    std::vector<Index> siblings_before(Index node) const {
        std::vector<Index> result;
        for (Index other = 0; other < node; ++other)
            if (!must_refuse && given.parent(other) == given.parent(node)) result.push_back(other);
        return result;
    }

    void read_draft(Bytes& bytes) {
        const bool one_row_per_family = bytes.one_in(2);
        const Index way = bytes.below(4);
        without.resize(given.tokens.size());
        draft_memory.reserve(given.tokens.size());
        std::vector<Index> row_of;
        for (Index node = 0; node < size(); ++node) {
            const auto siblings = siblings_before(node);
            if constexpr (has_rows) {
                const bool is_shared = one_row_per_family && !siblings.empty();
                row_of.push_back(is_shared ? row_of[static_cast<std::size_t>(siblings[0])] : std::ssize(draft_numbers));
                if (!is_shared) {
                    draft_numbers.push_back(read_row(bytes, Q::format, weights(bytes, vocab)));
                    draft_memory.emplace_back(draft_numbers.back());
                }
            }
            auto& removed = without[static_cast<std::size_t>(node)];
            if (way == 2)
                for (const Index other : siblings) removed.push_back(static_cast<Token>(token(other)));
            if (way == 3 && !only_good)
                for (Index left = bytes.below(3); left > 0; --left)
                    removed.push_back(static_cast<Token>(bytes.one_in(8) ? bytes.word(4) : bytes.word(1)));
            const bool is_point = way == 1 && bytes.one_in(2);
            if constexpr (has_rows) {
                add_distribution(bytes, is_point, row_of.back(), removed);
            } else {
                given.tokens[static_cast<std::size_t>(node)] = bytes.below(vocab);
            }
            if (!only_good && bytes.one_in(8)) {
                const bool is_small = bytes.one_in(2);
                const std::uint64_t any = bytes.word(is_small ? 1 : 8);
                given.tokens[static_cast<std::size_t>(node)] =
                    is_small ? static_cast<std::int8_t>(any) : static_cast<std::int64_t>(any);
            }
        }
        if constexpr (has_rows) {
            if (!only_good && !distributions.empty() && bytes.one_in(16)) distributions.pop_back();
        }
    }

    std::int64_t token(Index node) const { return given.tokens[static_cast<std::size_t>(node)]; }

    /// A distribution, and a token of positive probability under it: the first one from an id on.
    void add_distribution(Bytes& bytes, bool is_point, Index row_number, std::span<const Token> removed) {
        const Numbers& numbers = draft_numbers[static_cast<std::size_t>(row_number)];
        const auto& row = Q::row(draft_memory[static_cast<std::size_t>(row_number)]);
        std::int64_t& drafted = given.tokens[distributions.size()];
        const Index start = bytes.below(vocab);
        drafted = start;
        if (is_point) {
            distributions.emplace_back(PointMass{});
            return;
        }
        const WithoutWeights left(detail::as_row(row), removed);
        std::optional<double> rest = left.sum(0, left.size());
        if (!bytes.one_in(4) || !detail::is_positive(*rest)) rest.reset();
        const Sampled distribution(row, removed, rest);
        distributions.emplace_back(distribution);
        is_good = is_good && numbers.is_good();
        const Index common = std::min(vocab, detail::row_size(row));
        for (Index i = 0; i < common; ++i) {
            const Index id = (start + i) % common;
            if (!(distribution.weight(id) > 0)) continue;
            drafted = id;
            return;
        }
        is_good = false;
    }

    void read_target(Bytes& bytes) {
        Index count = size() + 1;  // a callable cannot say how many it has
        if (!is_shaped<P> && !only_good && bytes.one_in(8)) count = bytes.below(size() + 3);
        if constexpr (IsMatrix<P>) count = std::max<Index>(count, 1);
        target_memory.reserve(static_cast<std::size_t>(count));
        for (Index i = 0; i < count; ++i) {
            auto chances = weights(bytes, vocab);
            if (!draft_numbers.empty() && bytes.one_in(3)) {  // that of a draft, but for a bit of an entry
                chances = draft_numbers[static_cast<std::size_t>(i) % draft_numbers.size()].meant();
                chances.resize(static_cast<std::size_t>(vocab), 0);
                double& entry = chances[static_cast<std::size_t>(bytes.below(vocab))];
                if (bytes.one_in(2)) entry = bytes.one_in(2) ? 0 : std::nextafter(entry, 1.0);
            }
            target_numbers.push_back(read_row(bytes, P::format, std::move(chances)));
        }
        if constexpr (IsMatrix<P>) P::align(target_numbers);
        for (const Numbers& row : target_numbers) {
            is_good = is_good && row.is_good() && row.vocab == vocab;
            target_memory.emplace_back(row);
        }
        for (const Numbers& row : draft_numbers) is_good = is_good && row.vocab == vocab;
        if constexpr (is_shaped<P>) is_good = is_good && only_good;
    }

    void read_limits(Bytes& bytes) {
        RoundLimits& limits = given.limits;
        if (bytes.one_in(3)) limits.max_tokens = 1 + bytes.below(8);
        if (!only_good && bytes.one_in(32)) limits.max_tokens = static_cast<Index>(bytes.word());
        must_refuse |= limits.max_tokens < 1;
        if (bytes.one_in(3))
            for (Index left = 1 + bytes.below(3); left > 0; --left)
                stops.push_back(static_cast<Token>(!only_good && bytes.one_in(8) ? bytes.word(4)
                                                                                 : std::uint64_t(bytes.below(vocab))));
        limits.stop_tokens = stops;
        if (bytes.one_in(4)) {
            constexpr std::array answers{StopDecision::go_on, StopDecision::include, StopDecision::exclude};
            until.length = bytes.below(4);
            until.token = static_cast<Token>(bytes.below(vocab));
            until.at_length = answers[static_cast<std::size_t>(bytes.below(3))];
            until.at_token = answers[static_cast<std::size_t>(bytes.below(3))];
            limits.until = until;
        }
        seed = bytes.word(4);
        position = static_cast<Index>(bytes.one_in(8) ? 0xffff'ff00 : bytes.word(1));
    }

    bool has_all_distributions() const {
        if constexpr (has_rows) return std::ssize(distributions) == size();
        return true;
    }
    bool are_drawn() const {
        if constexpr (has_rows) {
            for (std::size_t node = 0; node < distributions.size(); ++node)
                if (!(distributions[node].weight(given.tokens[node]) > 0)) return false;
        }
        return true;
    }
};

}  // namespace fuzz
