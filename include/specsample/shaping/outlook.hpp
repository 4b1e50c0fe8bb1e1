// Finds what a pipeline will read of a row of logits, before the row is there: ranks that hold slices exchange no more.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include <specsample/core/types.hpp>
#include <specsample/shaping/stages.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace filters {

/// How far down a row a pipeline looks for candidates: a number of the largest logits, a distance below the largest
/// logit, or a share of the probability. Only the share takes account of logits that the pipeline changes.
struct Reach {
    Index most = std::numeric_limits<Index>::max();             ///< the largest number of candidates left
    double distance = std::numeric_limits<double>::infinity();  ///< the largest distance below the largest logit
    double mass = 1;         ///< the share of the probability, at `temperature`, that the largest logits must have
    double temperature = 1;  ///< the temperature that divides the given logits
};

/// Asks the shapers of a pipeline, in order, what they do to logits, up to the first that limits the candidates.
///
/// A shaper answers by its member foresee(outlook, context); a shaper without this member is taken to read the whole
/// row. In all shapers that answer, the new logit of a token must depend only on its old logit and on the context.
class Outlook {
  public:
    /// @param temperature   the temperature of the logits
    /// @param memory        memory for the tokens whose logits change
    /// @param prompt_size   leading tokens of the context that are the prompt
    Outlook(double temperature, std::vector<Token>& memory, Index prompt_size = 0)
        : changed_(memory), temperature_(temperature), prompt_size_(prompt_size) {
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

    /// Say that the shaper may change the logit of a token. A token outside the vocabulary is ignored.
    void change(Token token) { changed_.push_back(token); }
    /// Say that the shaper divides all logits by a temperature. At 0 the end of the pipeline leaves only the largest
    /// logit.
    void heat(double temperature) { temperature_ = detail::heated_once(temperature_, temperature); }
    /// Say that the shaper leaves some candidates only.
    void limit(const Reach& reach) {
        reach_ = reach;
        is_known_ = true;
    }
    /// Return the temperature so far. is_greedy() returns whether it is 0: then filters have nothing to do.
    double temperature() const { return temperature_; }
    bool is_greedy() const { return temperature_ == 0; }
    /// Return how many leading tokens of the context are the prompt.
    Index prompt_size() const { return prompt_size_; }

    // The result.

    bool is_known() const { return is_known_; }
    Reach reach() const { return !is_known_ && is_greedy() ? Reach{.most = 1} : reach_; }
    std::span<const Token> changed() const { return changed_; }

  private:
    std::vector<Token>& changed_;
    double temperature_;
    Index prompt_size_;
    Reach reach_;
    bool is_known_ = false;
};

}  // namespace filters

namespace detail {

/// Let the stages of a pipeline that come before the first limit change some logits.
/// @param outlook   a new Outlook
template <class P, class Row>
void change_logits(const P& pipeline, Row& row, std::span<const Token> context, filters::Outlook outlook) {
    for_each_stage(pipeline, [&](const auto& stage) {
        outlook.ask(stage, context);
        if (!outlook.is_known()) stage(row, context);
    });
}

}  // namespace detail

}}  // namespace specsample
