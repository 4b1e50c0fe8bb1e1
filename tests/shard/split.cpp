// Who holds which ids.
#include <vector>

#include "support/catch.hpp"

#include <specsample/shard/split.hpp>

using namespace specsample;
using shard::detail::Split;

TEST_CASE("even slices lie one after the other, and no border cuts a block") {
    for (const Index vocab : {1, 511, 512, 513, 32000, 128256, 262144, 300001})
        for (const Index ranks : {1, 2, 3, 4, 7, 8, 64, 1000}) {
            CAPTURE(vocab, ranks);
            std::vector<shard::SliceBounds> slices;
            for (Index rank = 0; rank < ranks; ++rank) slices.push_back(shard::even_slice(vocab, rank, ranks));
            Split split;
            REQUIRE(!split.assign(slices));
            CHECK(split.cut_size() == 0);
            for (const shard::SliceBounds& slice : slices)
                CHECK(slice.count <= vocab / ranks + 2 * split.block_length());
        }
}

TEST_CASE("a block has a holder, unless a border cuts it") {
    Split split;
    const std::vector<shard::SliceBounds> slices{{0, 600, 2000}, {600, 0, 2000}, {600, 936, 2000}, {1536, 464, 2000}};
    REQUIRE(!split.assign(slices));
    CHECK(split.blocks() == 4);
    CHECK(split.holder(0) == 0);
    CHECK(split.holder(511) == 0);
    CHECK(split.holder(512) == -1);
    CHECK(split.holder(1023) == -1);
    CHECK(split.holder(1024) == 2);
    CHECK(split.holder(1999) == 3);
    CHECK(split.owner(599) == 0);
    CHECK(split.owner(600) == 2);
    CHECK(split.cut_size() == 512);
    CHECK(split.place_in_cut(600) == 88);
    std::vector<Index> seen;
    for (Index rank = 0; rank < 4; ++rank)
        split.for_cut(rank, [&](Index first, Index count) { seen.insert(seen.end(), {rank, first, count}); });
    CHECK(seen == std::vector<Index>{0, 512, 88, 2, 600, 424});
}

TEST_CASE("a long vocabulary has blocks of a multiple of 512 ids") {
    Split split;
    REQUIRE(!split.assign(std::vector<shard::SliceBounds>{{0, 200000, 600000}, {200000, 400000, 600000}}));
    CHECK(split.block_length() == 1536);
    CHECK(split.holder(200000) == -1);
    CHECK(split.holder(201216) == 1);
}
