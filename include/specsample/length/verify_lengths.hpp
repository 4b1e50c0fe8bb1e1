// How much of the drafts that were made a target pass verifies, for each request of a batch.
//
// A length that is chosen after drafting may look at the drafts, and most ways to do that are biased: a token that is
// verified because of what it is, or because of what follows it, is no longer distributed as its row says. The lengths
// here are exact, because a token is admitted by the confidences of the tokens before it and of itself, and each
// confidence is computed from a row before a token is drawn from it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/theory/speedup.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// The first tokens of the drafts that are not admitted yet, the likeliest to be emitted on top.
///
/// They wait in bins of about equal survival, and only the tokens of the highest bin are ordered: with one heap of all
/// requests a token takes more than twice as long.
class Frontier {
    struct Candidate {
        double survival = 0;  // the probability that the token and all drafted tokens before it are accepted
        Index request = 0;
        double before = 1;  // the same of the token before it
        Index next = -1;    // the next candidate in its bin, by request

        bool operator<(const Candidate& other) const {
            return survival < other.survival || (survival == other.survival && request > other.request);
        }
    };

  public:
    Frontier(std::span<const double> confidence, Index most, std::span<Index> lengths)
        : confidence_(confidence), most_(most), lengths_(lengths) {
        constexpr auto where = "verify_lengths";
        require(most >= 0, where, "most", most, "0 or more");
        const Index numbers = std::ssize(confidence), requests = std::ssize(lengths);
        require(most == 0 ? numbers == 0 : numbers % most == 0 && numbers / most == requests, where,
                "size of confidence", numbers, "most for each request");
        require_memory(where, "confidence", confidence);
        require_memory(where, "lengths", lengths);
        std::ranges::fill(lengths, Index{0});
        if (most == 0) return;
        first_.fill(-1);
        waiting_.resize(lengths.size());
        likeliest_.reserve(lengths.size());
        for (Index request = 0; request < requests; ++request) wait({confidence_of(request), request});
        fill_up();
    }

    /// Return the survival of the token on top; 0 if no token is left that can be accepted.
    double survival() const { return likeliest_.empty() ? 0 : likeliest_.front().survival; }

    /// Return the expected cost of its rejection.
    double replay(const theory::Replay& replay) const {
        const Candidate& token = likeliest_.front();
        return (token.before - token.survival) * replay.after(lengths_[at(token.request)]);
    }

    /// Admit the token on top. Only now is the confidence of the token after it read.
    void admit() {
        std::pop_heap(likeliest_.begin(), likeliest_.end());
        Candidate token = likeliest_.back();
        likeliest_.pop_back();
        if (++lengths_[at(token.request)] < most_) {
            token.before = token.survival;
            token.survival *= confidence_of(token.request);
            wait(token);
        }
        fill_up();
    }

  private:
    static constexpr std::size_t bins = 1024;

    static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
    static std::size_t bin_of(double survival) { return static_cast<std::size_t>(survival * (bins - 1)); }

    /// Return the confidence of the first token of a request that is not admitted.
    double confidence_of(Index request) const {
        const double confidence = confidence_[at(request * most_ + lengths_[at(request)])];
        require(is_finite(confidence) && confidence >= 0 && confidence <= 1, "verify_lengths", "confidence", confidence,
                "in [0, 1]");
        return confidence;
    }

    /// Put a token into its bin. A token that cannot be accepted is dropped.
    void wait(Candidate token) {
        if (!(token.survival > 0)) return;
        const std::size_t bin = bin_of(token.survival);
        if (bin == highest_) {
            likeliest_.push_back(token);
            return std::push_heap(likeliest_.begin(), likeliest_.end());
        }
        token.next = std::exchange(first_[bin], token.request);
        waiting_[at(token.request)] = token;
    }

    /// Go on with the next bin that has tokens, once all tokens of the highest are admitted.
    void fill_up() {
        while (likeliest_.empty() && highest_ > 0) {
            for (Index request = first_[--highest_]; request >= 0; request = waiting_[at(request)].next)
                likeliest_.push_back(waiting_[at(request)]);
            std::make_heap(likeliest_.begin(), likeliest_.end());
        }
    }

    std::span<const double> confidence_;
    Index most_;
    std::span<Index> lengths_;
    std::array<Index, bins> first_;       ///< the first request in each bin, or -1
    std::vector<Candidate> waiting_{};    ///< by request
    std::vector<Candidate> likeliest_{};  ///< a heap of the highest bin that has tokens
    std::size_t highest_ = bins;          ///< that bin
};

}  // namespace detail

namespace theory {

/// Choose how many of the drafted tokens of each request the next target pass verifies: the likeliest to be emitted,
/// for as long as each raises the expected tokens per cost.
///
///     s_rk = c_r1 .. c_rk,   by descending s:  admit while (R + sum s) / cost(R + tokens admitted) rises
///
/// With a replay, the cost has sum (s_r(k-1) - s_rk) replay.after(k - 1) on top, over the admitted tokens.
///
/// The rest of a draft is dropped: verify(tokens.first(lengths[r]), ..). This is lossless under every rule that is
/// lossless for all lookaheads, for each request and for all of them together: token k is admitted by c_r1 .. c_rk,
/// which are read from the rows of the tokens before it, and no confidence after the last admitted token's successor is
/// read. A search for the best lengths by the same confidences is not lossless (total variation 1/8 on two tokens), and
/// neither is dropping a token by its own probability.
///
/// @param confidence    [R x most] row-major: c_rk, an estimate of the probability that token k of request r is
///                      accepted if those before it were. It may depend on the text and on tokens 1 .. k - 1 of the
///                      draft (the largest probability of the row that token k is drawn from, say), and on nothing
///                      that is drawn later, token k included. 0 past the end of a shorter draft
/// @param most          the largest number of drafted tokens of a request, 0 or more
/// @param verify_cost   the cost of a target pass over n positions of all requests together, as in `speedup`. It must
///                      not depend on this round's drafts
/// @param lengths       [R] filled in
/// @param replay        what a rejection costs a target with a recurrent state
/// @throws              std::invalid_argument if sizes do not agree, and for a confidence outside [0, 1] or a cost that
///                      is not above 0 where one is read
/// @cost                O(R + N) for N admitted tokens, O(R + N log R) if many are about as likely; some 10 us for 256
///                      requests with a token admitted each, on Sapphire Rapids. It allocates O(R)
/// @edge                ties go to the request of the lowest number. A cost that jumps and stays flat ends the
///                      search at the jump, although a later token might pay for it: looking past it is what is
///                      biased
/// @source              DSpark, arXiv:2607.05147, Algorithm 1
template <VerifyCost Cost>
void verify_lengths(std::span<const double> confidence, Index most, const Cost& verify_cost, std::span<Index> lengths,
                    const Replay& replay = {}) {
    detail::require_replay("verify_lengths", replay);
    detail::Frontier frontier(confidence, most, lengths);
    double tokens = static_cast<double>(lengths.size()), replayed = 0;
    Index positions = std::ssize(lengths);
    if (positions == 0) return;
    double speed = tokens / detail::pass_cost("verify_lengths", verify_cost, positions);
    while (frontier.survival() > 0) {
        tokens += frontier.survival();
        replayed += frontier.replay(replay);
        const double next = tokens / (detail::pass_cost("verify_lengths", verify_cost, ++positions) + replayed);
        if (!(next > speed)) return;
        speed = next;
        frontier.admit();
    }
}

/// Choose the likeliest `budget` drafted tokens of all requests. All else is as above.
/// @param budget   how many drafted tokens to verify, 0 or more. It may be any function of earlier rounds, and must not
///                 depend on this round's drafts
/// @source         DSpark, arXiv:2607.05147, section 5.2
inline void verify_lengths(std::span<const double> confidence, Index most, Index budget, std::span<Index> lengths) {
    detail::require(budget >= 0, "verify_lengths", "budget", budget, "0 or more");
    detail::Frontier frontier(confidence, most, lengths);
    for (; budget > 0 && frontier.survival() > 0; --budget) frontier.admit();
}

}  // namespace theory

}}  // namespace specsample
