// The tree of a round of beam search: beams are its paths, and steps make them longer.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <specsample/beam/options.hpp>
#include <specsample/beam/step.hpp>
#include <specsample/rows/owner.hpp>
#include <specsample/tree/draft_tree.hpp>
#include <specsample/verify/verify.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// A beam in a round.
struct RoundBeam {
    Index beam;       ///< the number of the beam when the round began
    Index node;       ///< the node of its last token; the root if it adds none to the text or was finished before
    double log_prob;  ///< the sum over all of its tokens
    bool finished;    ///< true if a stop token ended it
};

using RoundBeams = std::vector<RoundBeam>;

inline bool any_goes_on(const RoundBeams& beams) { return !std::ranges::all_of(beams, &RoundBeam::finished); }

/// A text and the tree after it. The tokens that all unfinished beams begin with belong to the text; their other tokens
/// form the paths of the tree.
class BeamTree {
  public:
    /// @param width   beams that the target keeps
    explicit BeamTree(Index width) : width_(width) {}

    /// Begin a search.
    void begin(std::vector<Token> prompt) {
        text_ = std::move(prompt);
        prompt_size_ = std::ssize(text_);
    }

    /// Begin a round.
    /// @pre   not all beams are finished
    void plant(std::span<const beam::Beam> beams, std::span<const Token> stop_tokens, RoundBeams& placed) {
        const auto& first = std::ranges::find(beams, false, &beam::Beam::finished)->tokens;
        auto agreed = std::ssize(first);
        for (const beam::Beam& beam : beams)
            if (!beam.finished)
                agreed = std::min(agreed, std::ranges::mismatch(first, beam.tokens).in1 - first.begin());
        text_.resize(static_cast<std::size_t>(prompt_size_));
        text_.insert(text_.end(), first.begin(), first.begin() + agreed);
        constexpr Index any_id = 0x7fffffff;
        nodes_.open(unlimited, stop_tokens, vocab_.value_or(any_id));
        placed.clear();
        for (const beam::Beam& beam : beams) {
            Index node = root_node;
            if (!beam.finished)
                for (const Token token : std::span(beam.tokens).subspan(static_cast<std::size_t>(agreed)))
                    node = child(node, token);
            placed.push_back({std::ssize(placed), node, beam.log_prob, beam.finished});
        }
    }

    /// Make one step of a search. The extensions that it keeps become nodes of the tree, unless the tree has them
    /// already.
    /// @param width       beams to keep
    /// @param row_after   (node) -> row, called once for every unfinished beam
    /// @returns           the fault of a bad row, if there is one
    template <class RowAfter>
    std::optional<RowFault> step(RoundBeams& beams, Index width, Side side, const RowAfter& row_after) {
        extensions_.open(width);
        for (Index place = 0; place < std::ssize(beams); ++place) {
            const RoundBeam& beam = beams[static_cast<std::size_t>(place)];
            if (beam.finished) {
                extensions_.keep(place, beam.log_prob);
                continue;
            }
            const RowRef<decltype(row_after(Index{}))> row(row_after(beam.node));
            const auto bad = with_row(row.row(), [&](const auto& given) {
                const auto view = as_row(given);
                const Index size = side == Side::target ? vocab_.value_or(view.size()) : view.size();
                auto found = check_row(view, side, beam.node + 1, size, Check::every_row);
                if (found) return found;
                if (side == Side::target) vocab_ = size;
                extensions_.add(place, beam.log_prob, view);
                return found;
            });
            const bool has_no_token = bad && side == Side::draft && makes_nothing_possible(*bad);
            if (bad && !has_no_token) return bad;
        }
        next_.clear();
        for (const auto& [place, token, log_prob] : extensions_.best(width_)) {
            const RoundBeam& beam = beams[static_cast<std::size_t>(place)];
            next_.push_back(
                beam.finished ? beam : RoundBeam{beam.beam, child(beam.node, token), log_prob, nodes_.is_stop(token)});
            if (next_.back().node == DraftTree<PointMass>::declined) next_.pop_back();  // not an id of the target
        }
        beams.swap(next_);
        return std::nullopt;
    }

    /// Return the beams of a round as texts.
    /// @param before   the beams that the round began with
    std::vector<beam::Beam> harvest(const RoundBeams& placed, std::vector<beam::Beam> before) const {
        std::vector<beam::Beam> beams;
        for (const auto& [beam, node, log_prob, finished] : placed) {
            if (finished && node == root_node) {
                beams.push_back(std::move(before[static_cast<std::size_t>(beam)]));
                continue;
            }
            std::vector<Token> tokens(text_.begin() + prompt_size_, text_.end());
            nodes_.append_path(node, tokens);
            beams.push_back({std::move(tokens), log_prob, finished});
        }
        return beams;
    }

    const std::vector<Token>& text() const { return text_; }
    const DraftTree<PointMass>& nodes() const { return nodes_; }
    std::optional<Index> vocab() const { return vocab_; }  ///< the target's, once a row of it was seen

    /// Return the text, followed by the path to a node.
    const std::vector<Token>& prefix(Index node) {
        prefix_.assign(text_.begin(), text_.end());
        nodes_.append_path(node, prefix_);
        return prefix_;
    }

  private:
    /// Find the child of a node with this token, or add it.
    Index child(Index parent, Token token) {
        for (Index node = parent + 1; node < nodes_.size(); ++node)
            if (nodes_.parent(node) == parent && nodes_.token(node) == token) return node;
        return nodes_.add(parent, token, PointMass{});
    }

    Index width_;
    std::vector<Token> text_;
    Index prompt_size_ = 0;
    std::optional<Index> vocab_;
    DraftTree<PointMass> nodes_;
    Extensions extensions_;
    RoundBeams next_;
    std::vector<Token> prefix_;
};

}}}  // namespace specsample::detail
