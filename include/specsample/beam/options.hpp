// The options of a beam search, and its result.
#pragma once

#include <optional>
#include <vector>

#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace beam {

/// The options of a beam search, fixed for its life. Draft width and lookahead change the speed, never the beams that
/// are found.
struct BeamOptions {
    Index width = 4;                     ///< beams, >= 1; 1 is greedy decoding
    std::optional<Index> draft_width{};  ///< beams that the draft follows, at least `width`, which is the default
    Index lookahead = 4;                 ///< steps that a round drafts, >= 0; 0 is plain beam search
    double length_penalty = 0;           ///< at the end, beams are ranked by log_prob / length ^ length_penalty
};

/// A text that a search found.
struct Beam {
    std::vector<Token> tokens;  ///< without the prompt
    double log_prob = 0;        ///< sum of ln p in the target's rows
    bool finished = false;      ///< true if a stop token, its last token, ended it
};

/// The beams that a search found, and the work that it took.
struct BeamResult {
    std::vector<Beam> beams;  ///< best first; fewer than the width where there are fewer possible texts
    Index rounds = 0;         ///< rounds; a target that takes trees makes one pass in each
    Index steps = 0;          ///< steps of plain beam search, which would make one round for each
    Index drafted = 0;        ///< tokens in the drafted trees
};

}  // namespace beam

}}  // namespace specsample
