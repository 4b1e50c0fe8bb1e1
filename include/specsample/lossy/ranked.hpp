// Relaxations of greedy decoding: a drafted token is accepted if the target ranks it high enough, and the last token is
// always the target's likeliest.
//
// At the strictest setting these rules decode greedily; no setting samples from the target. Their output distribution
// at one position is q on the accepted ids, with the q mass of all other ids on the likeliest id. thresholds.hpp has
// the table of all rules of this kind.
#pragma once

#include <cmath>

#include <specsample/lossy/distribution.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace lossy {

/// Accept x if it is among the target's n likeliest ids and p(x) >= max p - delta.
///
/// TensorRT-LLM uses this rule in the thinking phase of a text, with n = 10 .. 15 and delta = 0.5 .. 0.6. Outside of
/// that phase it decides like GreedyMatch.
///
/// @param n       >= 1; 1 is greedy decoding
/// @param delta   >= 0
/// @draws         none
/// @cost          one pass over the row of every position reached, and at most one per child judged; for logits one
///                more pass per position
struct RelaxedTopN {
    static constexpr bool lossless = false;
    static constexpr auto recovery = Recovery::likeliest;

    Index n = 1;
    double delta = 0;

    void check() const {
        detail::require(n >= 1, "RelaxedTopN", "n", n, "at least 1");
        detail::require_not_negative("RelaxedTopN", "delta", delta);
    }
    walks::Ratio chance(DraftedToken& x) const {
        const double mass = x.p();
        return decide(mass > 0 && mass >= x.largest_p() - delta && x.rank() < n);
    }

    template <class T>
    Outcome operator()(const T& round) const {
        return judge(round, *this);
    }
};

/// Accept x if it is among the target's k likeliest ids.
///
/// @param k   >= 1; 1 is greedy decoding
/// @draws     none
/// @cost      the cost of RelaxedTopN
/// @source    Stern, Shazeer, Uszkoreit: "Blockwise parallel decoding for deep autoregressive models", NeurIPS 2018
///            (arXiv:1811.03115), section 5.1
struct TopKMembership {
    static constexpr bool lossless = false;
    static constexpr auto recovery = Recovery::likeliest;

    Index k = 1;

    void check() const { detail::require(k >= 1, "TopKMembership", "k", k, "at least 1"); }
    walks::Ratio chance(DraftedToken& x) const { return decide(x.p() > 0 && x.rank() < k); }

    template <class T>
    Outcome operator()(const T& round) const {
        return judge(round, *this);
    }
};

/// Accept x if p(x) >= l max p: lenience at temperature 0.
///
/// @param l   in (0, 1]; 1 is greedy decoding, but accepts every one of several likeliest ids
/// @draws     none
/// @cost      one pass over the row of every position reached; for logits two
/// @source    Leviathan et al. 2023, arXiv:2211.17192, appendix A.5
struct GreedyLenience {
    static constexpr bool lossless = false;
    static constexpr auto recovery = Recovery::likeliest;

    double l = 1;

    void check() const { detail::require(l > 0 && l <= 1, "GreedyLenience", "l", l, "in (0, 1]"); }
    walks::Ratio chance(DraftedToken& x) const {
        const double mass = x.p();
        return decide(mass > 0 && mass >= l * x.largest_p());
    }

    template <class T>
    Outcome operator()(const T& round) const {
        return judge(round, *this);
    }
};

/// Accept the likeliest id, and the runner-up where the target hardly prefers the first: log max p - log p(x) <=
/// margin.
///
/// The paper takes its margin from the target's raw logits. A difference of log-probabilities is the difference of the
/// logits over the temperature, so that this margin is in nats and needs no logits.
///
/// @param margin   >= 0; 0 is greedy decoding, but accepts either of two likeliest ids
/// @draws          none
/// @cost           the cost of RelaxedTopN
/// @source         Song et al.: "MARS: unleashing the power of speculative decoding via margin-aware verification",
///                 2026 (arXiv:2601.15498)
struct RunnerUp {
    static constexpr bool lossless = false;
    static constexpr auto recovery = Recovery::likeliest;

    double margin = 0;

    void check() const { detail::require_not_negative("RunnerUp", "margin", margin); }
    walks::Ratio chance(DraftedToken& x) const {
        const double mass = x.p();
        return decide(mass > 0 && std::log(x.largest_p()) - std::log(mass) <= margin && x.rank() < 2);
    }

    template <class T>
    Outcome operator()(const T& round) const {
        return judge(round, *this);
    }
};

}}}  // namespace specsample::lossy
