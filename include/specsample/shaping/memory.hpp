// Memory that shaping reuses from row to row: nothing is allocated once it has served the longest row.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

#include <specsample/kernels/select_cut.hpp>
#include <specsample/kernels/select_typical.hpp>
#include <specsample/shaping/lowering.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Scratch memory, in use while a row is shaped.
template <std::floating_point Value>
struct ShapingScratch {
    Index prompt_size = 0;       ///< leading tokens of every context that are the prompt
    std::vector<Token> places;   ///< places that a filter keeps
    std::vector<Value> weights;  ///< weights of the candidates
    std::vector<Value> levels;   ///< logarithms of the numbers
    std::vector<Value> maxima;   ///< largest value of each tile of the numbers
    WindowCounts windows;        ///< counts of the tokens that penalties count
    Lowerings<Value> lowerings;  ///< what the numbers wait for
    kernels::SelectionScratch<Value> selection;
    kernels::TypicalScratch<Value> typical;
};

/// The memory that a shaped row views. The vectors only grow; the row knows how much of them it uses.
template <std::floating_point Value>
struct ShapedNumbers {
    std::vector<Value> numbers;
    std::vector<Token> ids;
    std::vector<ShapedNumbers> outgrown{};  ///< too small for later rows, but earlier rows may still view it

    /// Make room for a row of at most `size` numbers, so that nothing moves while the row is made. The room doubles, so
    /// that no more was outgrown than is in use.
    void open(std::size_t size) {
        if (size <= std::min(numbers.capacity(), ids.capacity())) return;
        const std::size_t room = std::max(size, 2 * std::max(numbers.capacity(), ids.capacity()));
        if (numbers.size() + ids.size() > 0) outgrown.push_back({std::exchange(numbers, {}), std::exchange(ids, {})});
        numbers.reserve(room), ids.reserve(room);
    }
};

/// Make room, without ever giving it back: a vector that shrinks and grows again would be filled with zeros each time.
template <class T>
void grow(std::vector<T>& memory, std::size_t size) {
    if (memory.size() < size) memory.resize(size);
}

}  // namespace detail

namespace filters {

/// Memory for one shaped row. Value is double for a row of doubles and float for any other, half precision included;
/// for a row that is a value it is Row.
template <class Value>
struct ShapedMemory;

template <std::floating_point Value>
struct ShapedMemory<Value> {
    /// Take the size of the prompt of the rows to come, for what skips a whole_prompt: 0 until it is told.
    void begin_text(Index prompt_size) { scratch.prompt_size = prompt_size; }

    detail::ShapedNumbers<Value> row;
    detail::ShapingScratch<Value> scratch;
};

}  // namespace filters

}}  // namespace specsample
