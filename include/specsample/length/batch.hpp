// The best number of tokens to draft for each of several requests that share a target pass.
//
// Greedy choice: TETRIS (arXiv:2502.15197); goodput: SmartSpec (arXiv:2406.14066).
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <specsample/core/eigen.hpp>
#include <specsample/theory/speedup.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// A token that could be drafted. It is emitted if it and all drafted tokens before it are accepted: with probability
/// `survival`.
struct Prospect {
    double survival;
    Index depth;
    Index request;
};

/// List all such tokens in descending order of survival. The sort is stable, so no token comes before its predecessor.
inline std::vector<Prospect> prospects(std::span<const double> acceptance, Index most) {
    std::vector<Prospect> all;
    all.reserve(acceptance.size());
    double survival = 1;
    for (Index i = 0; i < static_cast<Index>(acceptance.size()); ++i) {
        const double here = acceptance[static_cast<std::size_t>(i)];
        require(is_finite(here) && here >= 0 && here <= 1, "best_lookaheads", "acceptance", here, "in [0, 1]");
        survival = i % most == 0 ? here : survival * here;
        all.push_back({survival, i % most, i / most});
    }
    std::ranges::stable_sort(all, std::greater{}, &Prospect::survival);
    return all;
}

/// A draft of a batch: the `count` likeliest of the tokens at positions below `depth`.
struct BatchDraft {
    Index depth = 0;
    Index count = 0;
};

template <theory::VerifyCost Cost>
BatchDraft best_batch_draft(std::span<const Prospect> all, Index requests, Index most, double draft_cost,
                            const Cost& verify_cost) {
    constexpr auto where = "best_lookaheads";
    const double plain = static_cast<double>(requests);
    double fastest = plain / pass_cost(where, verify_cost, requests);
    BatchDraft best;
    for (Index depth = 1; depth <= most; ++depth) {
        double tokens = plain;
        Index count = 0;
        for (const Prospect& token : all) {
            if (token.depth >= depth) continue;
            tokens += token.survival;
            const double cost =
                rounded(static_cast<double>(depth) * draft_cost) + pass_cost(where, verify_cost, requests + ++count);
            const double speed = tokens / cost;
            if (speed <= fastest) continue;
            fastest = speed;
            best = {depth, count};
        }
    }
    return best;
}

}  // namespace detail

namespace theory {

/// Find the lookaheads with the most expected tokens per cost over a batch.
///
///     argmax over K_1 .. K_R of sum_r (1 + a_r0 + a_r0 a_r1 + ..) / (c max K_r + cost(R + sum K_r))
///
/// For a given depth and number of drafted tokens, the best tokens are the likeliest to be emitted, of any request.
/// Every depth and every number is tried, so the cost may be any function. The choice is made before anything is drawn,
/// so it is lossless; a choice by the probabilities of drawn tokens would not be lossless.
///
/// @param acceptance    [R x most] row-major: conditional acceptance of each request at each position, as
///                      `GoodputLength::estimate` gives it
/// @param most          the largest lookahead of a request, 0 or more
/// @param draft_cost    c: a draft pass over the batch, in plain target passes over one position, 0 or more
/// @param verify_cost   the cost of a target pass over n positions of all requests together, as in `speedup`
/// @param lookaheads    [R] filled in; 0 for requests that are best not drafted for
/// @throws              std::invalid_argument if sizes do not agree, outside these ranges, and for a table with fewer
///                      than R (most + 1) entries
/// @cost                O(R most (most + log(R most)))
/// @edge                ties go to the shallower draft, then to fewer tokens
/// @source              greedy choice: TETRIS, arXiv:2502.15197; goodput: SmartSpec, arXiv:2406.14066
template <VerifyCost Cost>
void best_lookaheads(std::span<const double> acceptance, Index most, double draft_cost, const Cost& verify_cost,
                     std::span<Index> lookaheads) {
    constexpr auto where = "best_lookaheads";
    const auto requests = static_cast<Index>(lookaheads.size());
    detail::require(most >= 0, where, "most", most, "0 or more");
    const Index numbers = std::ssize(acceptance);
    detail::require(most == 0 ? numbers == 0 : numbers % most == 0 && numbers / most == requests, where,
                    "size of acceptance", numbers, "most for each request");
    detail::require_memory(where, "acceptance", acceptance);
    detail::require_memory(where, "lookaheads", lookaheads);
    detail::require(detail::is_finite(draft_cost) && draft_cost >= 0, where, "draft_cost", draft_cost,
                    "finite and 0 or more");
    std::ranges::fill(lookaheads, Index{0});
    if (requests == 0) return;

    const std::vector<detail::Prospect> all = detail::prospects(acceptance, most);
    auto [depth, left] = detail::best_batch_draft(std::span(all), requests, most, draft_cost, verify_cost);
    for (const detail::Prospect& token : all) {
        if (left == 0) return;
        if (token.depth >= depth) continue;
        ++lookaheads[static_cast<std::size_t>(token.request)];
        --left;
    }
}

}  // namespace theory

}}  // namespace specsample
