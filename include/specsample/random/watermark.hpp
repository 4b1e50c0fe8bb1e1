// Watermarks by address: the target's noise at a position is a keyed function of the tokens before it, so that whoever
// has the key can compute it again and tell whether a text was written with it.
//
//   watermark::Mark       the key, and how many tokens a position's noise depends on
//   watermark::Source     the random source of a round of a marked text, for GumbelMatch
//   watermark::evidence   how well a text agrees with the noise of a mark
//
// Under GumbelMatch a token is the first of a race, so its arrival time is small for the noise that it was drawn with,
// and is exponential with mean 1 for any other noise. Noise that is a function of the text is what GumbelMatch needs
// for texts that do not depend on drafts, so speculation neither weakens the mark nor changes the text.
//
// Aaronson: "Watermarking GPT outputs", 2022; Kirchenbauer et al.: "A watermark for large language models", ICML 2023
// (arXiv:2301.10226): noise by the tokens before; Hu, Huang: "Inevitable trade-off between watermark strength and
// speculative sampling efficiency", NeurIPS 2024 (arXiv:2410.20418); Fernandez et al.: "Three bricks to consolidate
// watermarks", 2023 (arXiv:2308.00113): repeated contexts are not scored.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/kernels/race.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/random/rng.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace watermark {

/// What marks a text. The key should be secret and random; Philox is a good generator, and no cipher.
struct Mark {
    std::uint64_t key = 0;
    Index context = 4;  ///< tokens that a position's noise depends on, at least 1
};

}  // namespace watermark

namespace detail {

inline void require_mark(std::string_view where, const watermark::Mark& mark) {
    require_length(where, "mark.context", mark.context, 1);
}

/// Tell whether the last `count` tokens occurred before in a text.
inline bool repeats(std::span<const Token> text, std::size_t count) {
    const auto last = text.last(count);
    for (std::size_t end = count; end < text.size(); ++end)
        if (text[end - 1] == last.back() && std::ranges::equal(text.subspan(end - count, count), last)) return true;
    return false;
}

/// Return the noise of the position after `reply`; nothing where the position is not marked: after fewer tokens than
/// the context has, and after a context that has occurred before.
inline std::optional<Rng> marked_noise(const watermark::Mark& mark, std::span<const Token> reply) {
    const auto count = static_cast<std::size_t>(mark.context);
    if (reply.size() < count || repeats(reply, count)) return std::nullopt;
    std::uint64_t seed = mark.key;
    for (const Token token : reply.last(count))
        seed = Rng({.seed = seed, .position = token, .purpose = Purpose::split}).bits();
    return Rng({.seed = seed, .purpose = Purpose::race});
}

/// Return the time at which an id of probability 1 arrives in a race.
inline double race_time(const Rng& noise, Token id) {
    const BlockNoise block(noise.open_uniform(block_lane(id / race_block)));
    if (id % race_block == block.first) return block.least;
    return block.least - std::log(noise.open_uniform(static_cast<std::uint32_t>(id)));
}

}  // namespace detail

namespace watermark {

/// The random source of one round of a marked text, in place of a RoundRng.
///
///     const watermark::Source rng(mark, text, prompt_size, RoundRng(seed, request, start), start);
///     const auto [token, origin] = draft_token(GumbelMatch{}, rng, i, row);
///     round = verify(drafted, SharedNoise{}, rows, GumbelMatch{}, rng, limits, workspace);
///
/// The noise of a position depends on the last tokens of the reply before it, drafted tokens included: the text must
/// end with the draft while the draft is judged. A position whose context has occurred before in the reply is not
/// marked, and races with the numbers of its place: used again, the same noise would make texts repeat themselves. So
/// over random keys and seeds every text has exactly the target's probability.
///
/// It is for chains under GumbelMatch. A rule that judges by ratios draws with numbers of the round, which no detector
/// can tell from the text, and a bottom-up rule must not use a number in two rounds: both are refused. SampleMatch and
/// GreedyMatch write texts of the target, in which `evidence` finds nothing. The nodes of a tree must not stand behind
/// the text: they do not follow each other, so that their positions would race with the noise of other contexts.
class Source {
  public:
    /// @param text          borrowed: the text, the drafted tokens behind it; it may grow
    /// @param prompt_size   leading tokens that are the prompt, which a detector need not know
    /// @param rng           the source of positions that are not marked
    /// @param round_start   the length of the text before the round
    /// @throws              std::invalid_argument for a context below 1 or above most_drafted, a negative prompt_size,
    ///                      or a round that begins inside the prompt
    Source(const Mark& mark, const std::vector<Token>& text, Index prompt_size, const RoundRng& rng, Index round_start)
        : mark_(mark), text_(&text), prompt_size_(prompt_size), round_start_(round_start), rng_(rng) {
        constexpr auto where = "watermark::Source";
        detail::require_mark(where, mark);
        detail::require(prompt_size >= 0, where, "prompt_size", prompt_size, "at least 0");
        detail::require(round_start >= prompt_size, where, "round_start", round_start,
                        "at least prompt_size, " + detail::to_text(prompt_size));
    }

    /// Refuse a temporary text.
    Source(const Mark&, const std::vector<Token>&&, Index, const RoundRng&, Index) = delete;

    /// Return the random numbers of one address.
    /// @throws   std::invalid_argument for a position behind the text, and for a rule that judges by ratios
    /// @cost     for a race, a search for the context in the reply
    Rng at(Purpose purpose, Index node) const {
        constexpr auto where = "watermark::Source";
        if (purpose == Purpose::accept || purpose == Purpose::last)
            detail::invalid(where, "the rule", "one that judges by ratios", "GumbelMatch, whose races can be repeated");
        if (purpose != Purpose::race) return rng_.at(purpose, node);
        const Index end = round_start_ + node;
        if (end > std::ssize(*text_))
            detail::invalid(where, "the size of the text", std::ssize(*text_),
                            "at least " + detail::to_text(end) + ", with the drafted tokens");
        const auto reply = std::span(*text_).subspan(static_cast<std::size_t>(prompt_size_),
                                                     static_cast<std::size_t>(end - prompt_size_));
        return detail::marked_noise(mark_, reply).value_or(rng_.at(purpose, node));
    }

    /// Return a source for part number `part` of a drafter, as RoundRng::split does.
    RoundRng split(Index part) const { return rng_.split(part); }

  private:
    Mark mark_;
    const std::vector<Token>* text_;
    Index prompt_size_;
    Index round_start_;
    RoundRng rng_;
};

/// How well a text agrees with the noise of a mark.
struct Evidence {
    Index positions = 0;  ///< that can be marked
    double time = 0;      ///< the sum of the arrival times of their tokens: about `positions` without this mark

    /// Return the probability that a text written without this mark agrees as well.
    /// @edge   1 where no position can be marked
    double p_value() const {
        // The sum of n exponential times has a gamma distribution: P(sum <= t) = e^-t sum_{k >= n} t^k / k!.
        const auto n = static_cast<double>(positions);
        if (positions == 0 || !(time > 0)) return positions == 0 ? 1 : 0;
        double term = std::exp(n * std::log(time) - time - std::lgamma(n + 1)), sum = term;
        for (double k = n + 1; k < time || term > sum * 0x1p-60; ++k) sum += term *= time / k;
        return std::min(sum, 1.);
    }
};

/// Compare a reply, without its prompt, with the noise of a mark.
/// @throws   std::invalid_argument for a context below 1 or above most_drafted, or a negative token
/// @cost     O(n^2) for n tokens, and two random numbers per token
inline Evidence evidence(const Mark& mark, std::span<const Token> reply) {
    detail::require_mark("watermark::evidence", mark);
    Evidence result;
    for (const Token token : reply) detail::require(token >= 0, "watermark::evidence", "a token", token, "at least 0");
    for (std::size_t i = static_cast<std::size_t>(mark.context); i < reply.size(); ++i) {
        const std::optional<Rng> noise = detail::marked_noise(mark, reply.first(i));
        if (!noise) continue;
        ++result.positions;
        result.time += detail::race_time(*noise, reply[i]);
    }
    return result;
}

}  // namespace watermark

}}  // namespace specsample
