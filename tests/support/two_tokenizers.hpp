// Two tokenizers of one text, for drafts that change between them.
#pragma once

#include <span>
#include <vector>

#include <specsample/core/types.hpp>

namespace two_tokenizers {

using specsample::Token;
using Ids = std::vector<Token>;

/// The target's ids are the texts a, b, c and ab; those of the draft are a, b and c. The target writes ab where it can.
inline Ids to_draft(std::span<const Token> text) {
    Ids ids;
    for (const Token token : text) {
        if (token == 3)
            ids.insert(ids.end(), {0, 1});
        else
            ids.push_back(token);
    }
    return ids;
}
inline Ids to_target(std::span<const Token> drafted) {
    Ids ids;
    for (const Token token : drafted) {
        if (token == 1 && !ids.empty() && ids.back() == 0)
            ids.back() = 3;
        else
            ids.push_back(token);
    }
    return ids;
}

}  // namespace two_tokenizers
