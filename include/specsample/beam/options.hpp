// What a beam search is told, and what it answers.
#pragma once

#include <optional>
#include <vector>

#include <specsample/core/types.hpp>

namespace specsample {

namespace beam {

/// How to search: fixed for the life of a search. Draft width and lookahead change its speed, never its beams.
struct BeamOptions {
    Index width = 4;                     ///< beams, >= 1; 1 is greedy decoding
    std::optional<Index> draft_width{};  ///< beams that the draft follows, at least `width`; as many where not given
    Index lookahead = 4;                 ///< steps that a round drafts, >= 0; 0 is plain beam search
    double length_penalty = 0;           ///< at the end, beams are ranked by log_prob / length ^ length_penalty
};

/// A text that a search found.
struct Beam {
    std::vector<Token> tokens;  ///< without the prompt
    double log_prob = 0;        ///< sum of ln p in the target's rows
    bool finished = false;      ///< did a stop token end it, which is its last?
};

/// What a search found, and what it took.
struct BeamResult {
    std::vector<Beam> beams;  ///< best first; fewer than the width where there are fewer possible texts
    Index rounds = 0;         ///< passes of a target that takes trees
    Index steps = 0;          ///< of a plain beam search, which would be as many rounds
    Index drafted = 0;        ///< tokens in the drafted trees
};
}  // namespace beam

}  // namespace specsample
