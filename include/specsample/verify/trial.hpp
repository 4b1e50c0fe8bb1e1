// What a walk is given, what it decides, and how the data on its way is checked.
#pragma once

#include <optional>
#include <span>

#include <specsample/kernels/inspect.hpp>
#include <specsample/verify/laws.hpp>
#include <specsample/verify/round.hpp>

namespace specsample {

/// A draft before its judge. `tokens` are inside the vocabulary already.
template <class Laws, class Rows, class Source>
struct Trial {
    std::span<const Token> tokens;
    Laws& laws;
    Rows& rows;
    const Source& coins;
    const RoundLimits& limits;
    Index vocab;
};

/// What a walk decided.
struct Outcome {
    Index evaluated = 0;
    Index accepted = 0;
    Last last = Last::stopped;
    Token token = 0;  ///< the last token, unless stopped
    std::optional<RowFault> fault{};
};

namespace detail {

/// Look at a row as far as `check` asks: at its size always, at all of it under Check::every_row.
template <Row R>
std::optional<RowFault> check_row(const R& row, Party party, Index number, Index vocab, Check check) {
    if (row.size() == 0) return RowFault{.party = party, .cause = Cause::empty, .row = number};
    if (row.size() != vocab)
        return RowFault{.party = party,
                        .cause = Cause::wrong_size,
                        .row = number,
                        .value = static_cast<double>(row.size()),
                        .bound = static_cast<double>(vocab)};
    return check == Check::every_row ? inspect(row, party, number) : std::nullopt;
}

/// Can `mass`, the entry of `token` in a row of these scalars, be a probability? A token's own law must give it some.
template <Floating Scalar>
std::optional<RowFault> check_entry(double mass, Token token, Party party, Index number) {
    RowFault fault{.party = party, .row = number, .value = mass, .bound = 1 + sum_tolerance<Scalar>, .id = token};
    if (!is_finite(mass)) {
        fault.cause = Cause::not_finite;
    } else if (mass < 0) {
        fault.cause = Cause::negative;
    } else if (mass > fault.bound) {
        fault.cause = Cause::above_one;
    } else if (mass == 0 && party == Party::draft) {
        fault.cause = Cause::zero_at_token;
    } else {
        return std::nullopt;
    }
    return fault;
}

/// The row behind a law, and its entry at the token drawn from it.
template <Law L>
std::optional<RowFault> check_law(const L& law, Token token, Index node, Index vocab, Check check) {
    if constexpr (RowLaw<L>) {
        if (const auto bad = check_row(law.row(), Party::draft, node, vocab, check)) return bad;
        using Scalar = row_scalar_t<decltype(law.row())>;
        return check_entry<Scalar>(law.mass(token), token, Party::draft, node);
    } else {
        return std::nullopt;
    }
}

}  // namespace detail
}  // namespace specsample
