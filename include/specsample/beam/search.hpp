// BeamSearch: the beams of a plain beam search, several steps per pass of the target.
//
// Qin et al.: "Dynamic-width speculative beam decoding for efficient LLM inference" (arXiv:2409.16560).
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/beam/options.hpp>
#include <specsample/beam/tree.hpp>
#include <specsample/core/contract.hpp>
#include <specsample/core/one_call.hpp>
#include <specsample/models/host.hpp>
#include <specsample/models/shared.hpp>
#include <specsample/sampler/options.hpp>
#include <specsample/sampler/requirements.hpp>
#include <specsample/sampler/scorer.hpp>
#include <specsample/tree/draft_tree.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace beam {

/// Speculative beam search: finds the same beams as plain beam search with the target, whatever the draft model.
///
///     BeamSearch search(draft, target, {.width = 4, .lookahead = 4});
///     const BeamResult found = search.generate(prompt, {.max_new_tokens = 64, .stop_tokens = {eos}});
///
/// A step extends all beams by one token and keeps the `width` likeliest results; a finished beam competes unchanged.
/// Ties go to the better beam, then to the lowest id. A round makes as many steps as it can. First the draft model
/// searches ahead from all beams at once; it ranks a text by the target's log-probability of the beam plus its own of
/// the new tokens. Then the target scores the tree of all drafted tokens. Last, the target's own search follows that
/// tree as long as every beam that it keeps was drafted. The step that leaves the tree is known as well, so a round
/// makes 1 to lookahead + 1 steps.
///
/// The search holds its models and rolls them back as a Sampler does. Target rows that are equal to the bit give equal
/// beams.
///
/// @tparam Draft    draft(prefix) -> row, or draft(prefix, tree) -> the rows of a TreeModel
/// @tparam Target   target(prefix) -> row, target(prefix, n) -> n rows, target(prefix, tree) -> the rows of a TreeModel
/// @draws    none
/// @cost     per round, the target makes one pass over the drafted tokens and the tokens in which the beams differ (a
///           TreeModel), one pass per path (a BatchModel), or one call per beam and step (any other). The draft model
///           makes one call per drafted step (a TreeModel), else one per drafted beam and step. Two passes over each
///           row
/// @source   Qin et al. (arXiv:2409.16560), for beam search instead of beam sampling: a set of beams is accepted only
///           if it is the target's own
template <class Draft, class Target>
class BeamSearch {
    static constexpr bool usable = detail::Requirements<Draft, Target>::all;  // says in a sentence what is wrong
    static_assert(
        !usable || detail::SearchedModel<Draft>,
        "specsample::beam::BeamSearch: draft(prefix) must return a row of probabilities, for its beams are ranked "
        "by them");
    static constexpr bool scores_many = BatchModel<Target> || TreeModel<Target>;

  public:
    /// Make a search with two models.
    /// @throws std::invalid_argument unless 1 <= width <= draft_width <= most_drafted, 0 <= lookahead <= most_drafted,
    ///         and the penalty is finite; and if one model with rollback is both draft and target, by std::ref
    BeamSearch(Draft draft, Target target, BeamOptions options = {})
        : draft_(std::move(draft)), target_(std::move(target)), options_(options), tree_(options.width) {
        constexpr auto where = "BeamSearch";
        detail::require_length(where, "options.width", options.width, 1);
        detail::require_length(where, "options.draft_width", draft_width(), 1);
        if (draft_width() < options.width)
            detail::invalid(where, "options.draft_width", draft_width(),
                            "at least the width, " + detail::to_text(options.width));
        detail::require_length(where, "options.lookahead", options.lookahead, 0);
        detail::SharedModels models(where);
        models.add(draft_);
        models.add(target_);
        detail::require(detail::is_finite(options.length_penalty), where, "options.length_penalty",
                        options.length_penalty, "finite");
    }

    /// Search until every beam is finished or at its limit.
    ///
    /// @param prompt   token ids of any integral type; may be empty, and may be written {1, 2, 3}
    /// @param limits   max_new_tokens, max_length, stop_tokens and prompt_size; `until` is refused, the others are not
    ///                 read
    /// @returns        the beams, best first
    /// @throws         Fault on bad rows, and on a stop token outside the vocabulary, with the best beam of the
    ///                 completed rounds; it numbers rows in the order of a TreeModel. std::invalid_argument on bad
    ///                 limits; what the models throw
    /// @edge           tokens of probability 0 are never kept. max_new_tokens = 0: one empty beam. Where the draft
    ///                 model makes no token of the target's vocabulary possible, it searches no further
    template <class Prompt>
    [[nodiscard]] BeamResult generate(const Prompt& prompt, const Limits& limits = {}) {
        static_assert(sizeof(detail::PromptRequirement<Prompt>) > 0);
        const detail::OneCall::Guard guard(call_, "BeamSearch");
        const Index most = begin(std::span(prompt), limits);
        BeamResult result{.beams = {Beam{}}};
        while (result.steps < most && !std::ranges::all_of(result.beams, &Beam::finished))
            round(result, limits, most - result.steps);
        std::ranges::stable_sort(result.beams, std::ranges::greater{}, [&](const Beam& beam) { return score(beam); });
        return result;
    }

    /// Search as above, for a prompt written {1, 2, 3}.
    [[nodiscard]] BeamResult generate(std::initializer_list<Token> prompt, const Limits& limits = {}) {
        return generate(std::span(prompt), limits);
    }

  private:
    Index draft_width() const { return options_.draft_width.value_or(options_.width); }

    double score(const Beam& beam) const {
        const auto length = static_cast<double>(std::max<std::size_t>(beam.tokens.size(), 1));
        return beam.log_prob / std::pow(length, options_.length_penalty);
    }

    /// Begin a text with the prompt.
    /// @returns   the steps that limits allow
    Index begin(auto prompt, const Limits& limits) {
        constexpr auto where = "BeamSearch";
        detail::require(limits.max_new_tokens >= 0, where, "limits.max_new_tokens", limits.max_new_tokens,
                        "at least 0");
        detail::require(limits.prompt_size.value_or(Index{0}) >= 0, where, "limits.prompt_size",
                        limits.prompt_size.value_or(Index{0}), "at least 0");
        detail::require(!limits.until, where, "limits.until", "a predicate",
                        "left out: stop tokens alone end a beam, for its text changes while it is searched");
        detail::require_memory(where, "prompt", prompt);
        const Index size = std::ssize(prompt);
        if (limits.max_length < size)
            detail::invalid(where, "limits.max_length", limits.max_length,
                            "at least the " + detail::to_text(size) + " tokens there are");
        std::vector<Token> text;
        for (const auto id : prompt) {
            detail::require(id >= 0 && std::in_range<Token>(id), where, "a token of the prompt", id,
                            "a token id of 31 bits");
            text.push_back(static_cast<Token>(id));
        }
        const detail::TextBegins begins{limits.prompt_size.value_or(size)};
        begins(draft_), begins(target_);
        tree_.begin(std::move(text));
        known_ = 0;
        return std::min(limits.max_new_tokens, limits.max_length - size);
    }

    /// Make a round.
    /// @param left   steps that limits allow
    void round(BeamResult& result, const Limits& limits, Index left) {
        tree_.plant(result.beams, limits.stop_tokens, beams_);
        const Index planted = tree_.nodes().size();
        auto fault = search_ahead(std::min(options_.lookahead, left - 1));
        scored_ = tree_.nodes();
        Index steps = 0;
        if (!fault) fault = follow(steps);
        if (!fault) fault = detail::check_ids(limits.stop_tokens, Side::limits, *tree_.vocab());
        if (fault) detail::raise(Fault(*fault, std::move(result.beams.front().tokens), "BeamSearch"));
        known_ = std::ssize(tree_.text());
        result.rounds += 1;
        result.steps += steps;
        result.drafted += scored_.size() - planted;
        result.beams = tree_.harvest(beams_, std::move(result.beams));
    }

    /// Search ahead from all beams with the draft model, which is asked about a whole level in one call if it takes
    /// trees.
    std::optional<RowFault> search_ahead(Index depth) {
        ahead_ = beams_;
        for (Index level = 0; level < depth && any_goes_on(ahead_); ++level)
            if (const auto bad = step_ahead()) return bad;
        return std::nullopt;
    }

    std::optional<RowFault> step_ahead() {
        if constexpr (TreeModel<Draft>) {
            auto&& rows = draft_.ask_about(tree_.text(), 0, tree_.nodes().view());
            detail::require_rows("BeamSearch", rows, tree_.nodes().size() + 1);
            const auto row_after = [&](Index node) -> decltype(auto) { return detail::element(rows, node + 1); };
            return tree_.step(ahead_, draft_width(), Side::draft, row_after);
        } else {
            const auto row_after = [&](Index node) -> decltype(auto) {
                return draft_.ask_about(tree_.prefix(node), 0);
            };
            return tree_.step(ahead_, draft_width(), Side::draft, row_after);
        }
    }

    /// Follow the tree with the target's own search, on the target's rows.
    std::optional<RowFault> follow(Index& steps) {
        if constexpr (scores_many) {
            const auto judge = [&](auto& rows) -> Round {
                const auto row_after = [&](Index node) -> decltype(auto) { return detail::element(rows, node + 1); };
                return {.fault = walk(row_after, steps)};
            };
            return target_.score(tree_.text(), known_, scored_, judge).fault;
        } else {
            return walk([&](Index node) -> decltype(auto) { return target_.ask_about(tree_.prefix(node), 0); }, steps);
        }
    }

    /// Make steps for as long as all beams have rows.
    template <class RowAfter>
    std::optional<RowFault> walk(const RowAfter& row_after, Index& steps) {
        const auto has_row = [&](const detail::RoundBeam& beam) { return beam.finished || beam.node < scored_.size(); };
        do {
            if (const auto bad = tree_.step(beams_, options_.width, Side::target, row_after)) return bad;
            ++steps;
        } while (any_goes_on(beams_) && std::ranges::all_of(beams_, has_row));
        return std::nullopt;
    }

    detail::Host<Draft> draft_;
    std::conditional_t<scores_many, detail::Scorer<Target>, detail::Host<Target>> target_;
    BeamOptions options_;
    detail::BeamTree tree_;
    DraftTree<PointMass> scored_;       ///< a copy for the target, which may read it while steps add nodes
    detail::RoundBeams beams_, ahead_;  ///< the beams of the target's search, and of the draft's
    Index known_ = 0;                   ///< leading tokens of the text that the target was shown before
    detail::OneCall call_;
};

}  // namespace beam

}}  // namespace specsample
