// Masks of the target's ids in the draft's.
#include <cstdint>
#include <vector>

#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/vocabularies.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::vocabularies;

namespace {

std::vector<std::uint32_t> reduced(const IdMap& map, const std::vector<std::uint32_t>& words) {
    std::vector<std::uint32_t> draft(static_cast<std::size_t>(map.draft_vocab() + 31) / 32, ~0u);
    reduce_mask(map, words, std::span(draft));
    return draft;
}

}  // namespace

TEST_CASE("a draft id is allowed where its image is") {
    CHECK(reduced(IdMap(std::vector{2, 0, -1, 2, 5}, 6), {0b000100}) == std::vector<std::uint32_t>{0b01001});
    CHECK(reduced(IdMap(std::vector{2, 0, -1, 2, 5}, 6), {~0u}) == std::vector<std::uint32_t>{0b11011});
    CHECK(reduced(IdMap(std::vector{2, 40}, 41), {~0u}) == std::vector<std::uint32_t>{0b01});  // ids beyond the words
    CHECK(reduced(IdMap(std::vector{2, 40}, 41), {}) == std::vector<std::uint32_t>{0});
    const auto d2t = IdMap::from_offsets(std::vector<std::int64_t>(40, 30), 80);
    CHECK(reduced(d2t, {1u << 31, 0b101, 1u << 5}) == std::vector<std::uint32_t>{0b10110, 1u << 7});
}

TEST_CASE("a draft is masked before or after its map alike") {
    const Rng rng({.seed = 8});
    for (std::uint32_t lane = 0; lane < 200; ++lane) {
        std::vector<Token> images;
        Eigen::ArrayXd q(9);
        for (std::uint32_t id = 0; id < 9; ++id) {
            images.push_back(static_cast<Token>(rng.open_uniform(lane * 64 + id) * 8) - (id == 3 ? 99 : 0));
            if (images.back() < 0) images.back() = -1;
            q[id] = rng.open_uniform(lane * 64 + 16 + id);
        }
        const IdMap map(images, 8);
        const auto any_ids = static_cast<std::uint32_t>(rng.open_uniform(lane * 64 + 40) * 256);
        const std::vector<std::uint32_t> words{any_ids | 1u << images[0]};
        const std::vector<std::uint32_t> draft_words = reduced(map, words);
        filters::ShapedMemory<double> one, two, three, four;
        q /= q.sum();
        const auto after = shape(push_forward(map, q, one), filters::TokenMask(words), {}, two);
        const auto before = push_forward(map, shape(q, filters::TokenMask(draft_words), {}, three), four);
        for (Index id = 0; id < 8; ++id)
            CHECK(after.probs().coeff(id) == Approx(before.probs().coeff(id)).margin(1e-15));
    }
}

TEST_CASE("a mask at null is refused") {
    std::vector<std::uint32_t> draft{7};
    const std::span<const std::uint32_t> words(static_cast<const std::uint32_t*>(nullptr), 1);
    CHECK_THROWS_WITH(reduce_mask(IdMap(std::vector{1, 0}, 2), words, std::span(draft)),
                      ContainsSubstring("specsample::vocabularies::reduce_mask: the address of the words is null"));
    CHECK(draft[0] == 7);
}

TEST_CASE("the words of a draft's mask are as many as its ids need") {
    std::vector<std::uint32_t> draft(3);
    CHECK_THROWS_WITH(
        reduce_mask(IdMap(std::vector(64, 1), 2), std::vector{1u}, std::span(draft)),
        "specsample::vocabularies::reduce_mask: draft.size() is 3, but must be (draft vocab + 31) / 32, 2");
}
