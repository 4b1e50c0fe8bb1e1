// Random texts and all texts, for the tests of lookup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <specsample/core/types.hpp>
#include <specsample/random/rng.hpp>

namespace texts {

using specsample::Index;
using specsample::Token;
using Text = std::vector<Token>;

/// An integer below a bound, the i-th of a seed.
inline Index below(Index bound, std::uint64_t seed, Index i) {
    return static_cast<Index>(specsample::Rng({.seed = seed, .position = i}).bits() %
                              static_cast<std::uint64_t>(bound));
}

/// Integers below bounds, one after the other.
struct Dice {
    std::uint64_t seed;
    Index thrown = 0;

    Index operator()(Index bound) { return below(bound, seed, thrown++); }
};

inline Text random_text(Index size, Index alphabet, std::uint64_t seed) {
    Text text;
    for (Index i = 0; i < size; ++i) text.push_back(static_cast<Token>(below(alphabet, seed, i)));
    return text;
}

/// All texts of up to `length` tokens.
inline std::vector<Text> all_texts(Index vocab, Index length) {
    std::vector<Text> texts{{}};
    for (std::size_t i = 0; i < texts.size(); ++i)
        for (Index token = 0; token < vocab && std::ssize(texts[i]) < length; ++token) {
            Text longer = texts[i];
            longer.push_back(static_cast<Token>(token));
            texts.push_back(std::move(longer));
        }
    return texts;
}

}  // namespace texts
