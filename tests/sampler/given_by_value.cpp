// What a model, a list or a setting hands over by value is kept for as long as it is read: run by a sanitizer.
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <specsample/drafters/heads.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::filters;

namespace {

constexpr Index vocab = 4096;

std::vector<float> uniform() { return std::vector<float>(vocab, 1.f / vocab); }

/// The probability of an id that all words of a mask allow.
double with_mask(const SamplingParams& params) {
    filters::ShapedMemory<float> memory;
    const auto row = uniform();
    const auto left = shape(row, params, {}, memory);
    double least = 1;
    for (Index id = 0; id < vocab; ++id) least = std::min(least, double{left.probs().coeff(id)});
    return least;
}

/// Rows that are made when they are read.
struct Made {
    std::size_t count;
    double number = .5;

    std::size_t size() const { return count; }
    std::vector<double> operator[](std::size_t i) const {
        std::vector<double> row(64, 0);
        row[7 + i] = row[20] = number;
        return row;
    }
};

/// A view of memory, by a type that is not a span.
struct View {
    const double* first;
    std::size_t count;

    const double* data() const { return first; }
    std::size_t size() const { return count; }
    const double* begin() const { return first; }
    const double* end() const { return first + count; }
};

}  // namespace

TEST_CASE("a mask that a callable returns by value, or that is given as words, is kept until it is applied") {
    const auto words = [](std::span<const Token>) { return std::vector<std::uint32_t>(vocab / 32, ~0u); };
    const double each = 1. / vocab;
    CHECK(with_mask({.mask = words}) == each);
    CHECK(with_mask({.mask = std::cref(words)}) == each);
    CHECK(with_mask({.mask = std::function<std::vector<std::uint32_t>(std::span<const Token>)>(words)}) == each);
    CHECK(with_mask({.mask = [](std::span<const Token>) { return std::vector<std::int32_t>(vocab / 32, -1); }}) ==
          each);
    CHECK(with_mask({.mask = [](std::span<const Token>) {
              std::array<std::uint32_t, vocab / 32> all{};
              all.fill(~0u);
              return all;
          }}) == each);
    CHECK(with_mask({.mask = std::vector<std::uint32_t>(vocab / 32, ~0u)}) == each);
    const std::vector<std::uint32_t> kept(vocab / 32, ~0u);
    CHECK(with_mask({.mask = [&](std::span<const Token>) -> const std::vector<std::uint32_t>& { return kept; }}) ==
          each);
    CHECK(with_mask({.mask = std::span<const std::uint32_t>(kept)}) == each);
    CHECK(with_mask({.mask = {}}) == each);
    CHECK(with_mask({.mask = std::function<std::span<const std::uint32_t>(std::span<const Token>)>()}) == each);
    CHECK(with_mask({.mask = std::vector<std::uint32_t>(1, ~0u)}) == 0);
}

TEST_CASE("heads whose rows are made when they are read draft from rows that stay") {
    const auto heads_model = [](std::span<const Token>) { return Made{2}; };
    const auto target = [](std::span<const Token>) { return std::vector<double>(64, 1. / 64); };
    const auto text_of = [&](auto drafter) {
        return Sampler(std::move(drafter), target, {.lookahead = 2, .seed = 4})
            .generate({1}, {.max_new_tokens = 40})
            .tokens.size();
    };
    CHECK(text_of(heads::HeadsDrafter(heads_model, 2)) == 40);
    const auto logits_model = [](std::span<const Token>) { return logits_of(Made{2, 3}, .5); };
    CHECK(text_of(heads::HeadsDrafter(logits_model, 2)) == 40);
}

TEST_CASE("one buffer seen through a view of any type is copied between calls, as a span is") {
    std::vector<double> buffer(8);
    const auto fill = [&](std::span<const Token> prefix) {
        std::fill(buffer.begin(), buffer.end(), .5 / 7);
        buffer[prefix.size() % 8] = .5;
    };
    const auto by_value = [&](std::span<const Token> prefix) { return fill(prefix), buffer; };
    const auto by_view = [&](std::span<const Token> prefix) { return fill(prefix), View{buffer.data(), 8}; };
    const auto text = [&](const auto& draft) {
        const auto target = [](std::span<const Token>) { return std::vector<double>(8, 1. / 8); };
        return Sampler(draft, target, {.lookahead = 4, .seed = 3}).generate({1}, {.max_new_tokens = 60}).tokens;
    };
    CHECK(text(by_view) == text(by_value));
}

TEST_CASE("a sparse row that views its ids and owns its numbers is shaped into memory of its own") {
    const std::vector<int> ids{1, 2, 5};
    filters::ShapedMemory<float> memory;
    const auto row = shape(Sparse(std::span(ids), std::vector<float>{.5f, .25f, .25f}, 10), TopP{1}, {}, memory);
    CHECK(row.probs().coeff(1) == .5f);
    CHECK(row.probs().coeff(5) == .25f);
}
