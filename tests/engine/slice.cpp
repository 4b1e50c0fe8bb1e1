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

TEST_CASE("rows that are appended to a selection have the bits of the whole matrix, also after others were dropped") {
    for (const auto& weights : all_weights()) {
        const PackedMatrix& whole = weights->classifier();
        RowMatrix x = RowMatrix::Zero(2, round_up(whole.columns(), 32));
        testing::Uniform uniform(3);
        for (Index i = 0; i < 2; ++i)
            for (Index k = 0; k < whole.columns(); ++k) x(i, k) = static_cast<float>(uniform() - 0.5);
        RowMatrix expected(2, whole.rows());
        multiply(whole, x, expected);
        std::vector<Index> rows{5, 0, 3};
        PackedMatrix some = whole.select(rows, 20);
        for (int round = 0; round < 3; ++round) {
            for (int i = 0; i < 20; ++i) {
                rows.push_back(uniform.below(whole.rows()));
                some.append(whole, rows.back());
                REQUIRE(some.rows() == std::ssize(rows));
                RowMatrix y(2, some.rows());
                multiply(some, x, y);
                CAPTURE(whole.columns(), round, i);
                for (std::size_t r = 0; r < rows.size(); ++r)
                    CHECK(y.col(static_cast<Index>(r)) == expected.col(rows[r]));
            }
            rows.resize(3);
            some.truncate(3);
        }
    }
}
