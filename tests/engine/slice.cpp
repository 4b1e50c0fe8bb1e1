// A slice of a model's head: its logits are those of the whole head, to the bit.
#include "engine/slice.hpp"

#include <utility>
#include <vector>

#include "engine/model.hpp"
#include "engine/weights.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::all_weights;
using testing::same_bits;

TEST_CASE("slices of the head have the bits of the whole head") {
    for (const auto& weights : all_weights()) {
        const Index vocab = weights->config.vocab;
        const auto tokens = testing::random_tokens(20, vocab, 64);
        Model whole(weights);
        const Logits expected = whole.score(tokens, 20);
        for (const auto& [first, count] : std::vector<std::pair<Index, Index>>{
                 {0, vocab}, {0, 1}, {vocab - 1, 1}, {0, vocab / 3}, {vocab / 3, vocab / 3}, {7, 17}, {16, 8}}) {
            CAPTURE(weights->config.dim, vocab, first, count);
            Model model(sliced(*weights, first, count));
            CHECK(model.vocab() == vocab);
            CHECK(model.outputs() == count);
            CHECK(same_bits(model.score(tokens, 20), RowMatrix(expected.middleCols(first, count))));
        }
        CHECK_THROWS_WITH(sliced(*weights, vocab - 3, 4), ContainsSubstring("a slice of 4 ids from"));
        CHECK_THROWS_WITH(sliced(*weights, -1, 4), ContainsSubstring("a slice of 4 ids from -1 on"));
        CHECK_THROWS_WITH(sliced(*weights, 3, 0), ContainsSubstring("a slice of 0 ids from 3 on"));
    }
}
