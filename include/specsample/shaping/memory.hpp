// Memory that shaping reuses from row to row: nothing is allocated once it has met the longest one.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <specsample/kernels/select_cut.hpp>
#include <specsample/kernels/select_typical.hpp>

namespace specsample {

namespace detail {

/// What is needed while a row is shaped.
template <std::floating_point Value>
struct ShapingScratch {
    std::vector<Token> places;          ///< of what a filter keeps
    std::vector<Value> weights;         ///< of the candidates
    std::vector<std::uint32_t> counts;  ///< of tokens in a window; all 0 between two shapers
    std::vector<Value> maxima;          ///< of tiles of the numbers that were given
    kernels::SelectionScratch<Value> selection;
    kernels::TypicalScratch typical;
};

/// What a shaped row points at. The vectors only grow: how much of them is the row's, the row knows.
template <std::floating_point Value>
struct ShapedNumbers {
    std::vector<Value> numbers;
    std::vector<Token> ids;
};

/// Make room without ever giving it back: a vector that shrinks and grows again would be filled with zeros each time.
template <class T>
void grow(std::vector<T>& memory, std::size_t size) {
    if (memory.size() < size) memory.resize(size);
}

}  // namespace detail

namespace filters {

/// Memory for one shaped row, float or double as the row computes: float for half precision.
template <std::floating_point Value>
struct ShapedMemory {
    detail::ShapedNumbers<Value> row;
    detail::ShapingScratch<Value> scratch;
};

}  // namespace filters
}  // namespace specsample
