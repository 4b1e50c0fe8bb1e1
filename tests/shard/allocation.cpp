// A warm round on rows of slices allocates nothing: what ranks send each other is kept. The allocations of the thread
// that asks are counted.
#include <vector>

#include "sampler/allocations.hpp"
#include "shard/ranks.hpp"
#include "support/catch.hpp"

#include <specsample/shard.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;

namespace {

/// The allocations of the rounds after the first few.
template <class Rule>
long allocations_of(const Rule& rule) {
    constexpr Index vocab = 1300;
    const auto counts = ranks::on_ranks(3, [&](Index rank, shard::Ranks& ranks) {
        const ranks::Split split = ranks::equal(vocab, 3);
        const Eigen::ArrayXf logits = Eigen::ArrayXf::LinSpaced(vocab, -3, 3);
        const std::vector<Token> tokens{7, 1200};
        std::vector<shard::Sharded<Logits<decltype(split.slice(logits, rank))>>> rows;
        rows.reserve(tokens.size() + 1);
        Workspace workspace;
        filters::ShapedMemory<float> memory;
        long before = 0;
        for (Index start = 0; start < 40; ++start) {
            if (start == 20) before = allocations;
            rows.clear();
            for (std::size_t i = 0; i <= tokens.size(); ++i)
                rows.emplace_back(Logits(split.slice(logits, rank)), split.first(rank), vocab, ranks);
            (void)verify(tokens, PointMass{}, rows, rule, RoundRng(1, 0, start), {.check = Check::every_row},
                         workspace);
            shape(rows[0], SamplingParams{.top_k = 40}, {}, memory);
            shape(rows[1], SamplingParams{.temperature = .02, .top_p = .9, .repetition_penalty = 1.1}, tokens, memory);
        }
        return allocations - before;
    });
    long all = 0;
    for (const long count : counts) all += count;
    return all;
}

}  // namespace

TEMPLATE_TEST_CASE("a warm round on rows of slices allocates nothing", "", TokenVerification, BlockVerification,
                   GreedyMatch, SampleMatch, GumbelMatch) {
    CHECK(allocations_of(TestType()) == 0);
}
