// What a pipeline will read of a row of logits, found before it has the row: ranks that hold slices exchange no more.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include <specsample/core/types.hpp>
#include <specsample/shaping/stages.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace filters {

/// How far down a row a pipeline looks for candidates: so many of the largest logits, those so far below the largest
/// one, or those that have a share of the probability. Logits that the pipeline changes are left out of account, but
/// for the probability.
struct Reach {
    Index most = std::numeric_limits<Index>::max();             ///< the candidates that are left at most
    double distance = std::numeric_limits<double>::infinity();  ///< how far below the largest logit they are at most
    double mass = 1;         ///< what the largest must have together, of the probability at `temperature`
    double temperature = 1;  ///< of the given logits
};

/// Asks the shapers of a pipeline, in order, what they do to logits, up to the first that limits the candidates.
///
/// A shaper answers by foresee(outlook, context); one without this member is taken to read the whole row. The new logit
/// of a token must depend only on the one before and on the context, in all shapers that answer.
class Outlook {
  public:
    /// @param temperature   of the logits
    /// @param memory        for the tokens whose logits change
    Outlook(double temperature, std::vector<Token>& memory) : changed_(memory), temperature_(temperature) {
        changed_.clear();
    }

    /// Ask a shaper, unless the answer is known.
    template <class Shaper>
    void ask(const Shaper& shaper, std::span<const Token> context) {
        if (is_known_) return;
        if constexpr (requires { shaper.foresee(*this, context); }) {
            shaper.foresee(*this, context);
        } else {
            static_assert(
                !requires { &Shaper::foresee; },
                "specsample::filters::Outlook: a shaper's foresee must be callable as foresee(outlook, "
                "context) on a const shaper, with an Outlook& and a std::span<const Token>");
            limit({});
        }
    }

    // What a shaper answers.

    /// It may change the logit of a token; one outside the vocabulary is ignored.
    void change(Token token) { changed_.push_back(token); }
    /// It divides all logits by a temperature; at 0 the end of the pipeline leaves the largest.
    void heat(double temperature) { temperature_ = detail::heated_once(temperature_, temperature); }
    /// It leaves some candidates only.
    void limit(const Reach& reach) {
        reach_ = reach;
        is_known_ = true;
    }
    /// The temperature so far, and whether it is 0: then filters have nothing to do.
    double temperature() const { return temperature_; }
    bool is_greedy() const { return temperature_ == 0; }

    // The result.

    bool is_known() const { return is_known_; }
    Reach reach() const { return !is_known_ && is_greedy() ? Reach{.most = 1} : reach_; }
    std::span<const Token> changed() const { return changed_; }

  private:
    std::vector<Token>& changed_;
    double temperature_;
    Reach reach_;
    bool is_known_ = false;
};

}  // namespace filters

namespace detail {

/// Let the stages of a pipeline that come before the first limit change some logits.
/// @param outlook   a new one
template <class P, class Row>
void change_logits(const P& pipeline, Row& row, std::span<const Token> context, filters::Outlook outlook) {
    for_each_stage(pipeline, [&](const auto& stage) {
        outlook.ask(stage, context);
        if (!outlook.is_known()) stage(row, context);
    });
}

}  // namespace detail

}}  // namespace specsample
