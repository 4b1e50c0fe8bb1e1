// Rules, drafters and measures that read more of a row than draws and drafted tokens get it of slices, too, and every
// rank the same.
#include <vector>

#include "shard/ranks.hpp"
#include "shard/toy.hpp"
#include "support/catch.hpp"

#include <specsample/drafters.hpp>
#include <specsample/kernels/overlap.hpp>
#include <specsample/length.hpp>
#include <specsample/lossy.hpp>
#include <specsample/metrics.hpp>
#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;
using namespace ranks;

namespace {

constexpr Index vocab = 700;
const std::vector<ranks::Split> some_splits{{{0, vocab}}, {{0, 0, 512, vocab}}, {{0, vocab, vocab}}, {{0, 300, vocab}}};

Eigen::ArrayXf random_logits(std::uint64_t seed, double spread) {
    const Rng rng({.seed = seed});
    Eigen::ArrayXf row(vocab);
    for (Index id = 0; id < vocab; ++id)
        row[id] = static_cast<float>(spread * rng.open_uniform(static_cast<std::uint32_t>(id)));
    return row;
}

/// The tokens of a round of two drafted tokens, and what may be measured of its rows.
template <class Rows, class Rule>
std::vector<double> round_of(const Rows& p, const Rows& q, const Rule& rule, std::uint64_t seed, Check check) {
    std::vector<Sampled<detail::row_view_t<decltype(q[0])>>> distributions;
    std::vector<Token> tokens;
    const RoundRng rng(seed, 0, 0);
    for (const auto& row : q) {
        tokens.push_back(static_cast<Token>(draw(rng.at(Purpose::draft, std::ssize(tokens)), row).index));
        distributions.emplace_back(row);
    }
    Workspace workspace;
    const Round round = verify(tokens, distributions, p, rule, rng, {.check = check}, workspace);
    std::vector<double> seen{round.fault ? 1. : 0., static_cast<double>(round.accepted)};
    seen.insert(seen.end(), round.tokens.begin(), round.tokens.end());
    return seen;
}

template <class Rule>
void compare(const Rule& rule) {
    for (std::uint64_t seed = 0; seed < 12; ++seed)
        for (const Check check : {Check::entries_read, Check::every_row}) {
            const auto rows_of = [&](Index count, std::uint64_t shift, const auto& make) {
                std::vector<decltype(make(random_logits(0, 1)))> rows;
                for (Index row = 0; row < count; ++row)
                    rows.push_back(make(random_logits(3 * seed + static_cast<std::uint64_t>(row), 12) +
                                        random_logits(100 + seed + shift, 2)));
                return rows;
            };
            const auto whole = [](Eigen::ArrayXf row) { return Logits(std::vector(row.begin(), row.end())); };
            const auto expected = round_of(rows_of(3, 0, whole), rows_of(2, 1, whole), rule, seed, check);
            for (const auto& split : some_splits)
                for (const auto& seen : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                         const auto sliced = [&](Eigen::ArrayXf row) {
                             const auto mine = split.slice(row, rank);
                             return shard::Sharded(Logits(std::vector(mine.begin(), mine.end())), split.first(rank),
                                                   vocab, ranks);
                         };
                         return round_of(rows_of(3, 0, sliced), rows_of(2, 1, sliced), rule, seed, check);
                     })) {
                    CAPTURE(seed, split.borders, check == Check::every_row);
                    CHECK(seen == expected);
                }
        }
}

}  // namespace

TEST_CASE("lossy rules judge rows of slices as whole ones") {
    compare(lossy::Transformed(lossy::TokenV1{.05}));
    compare(lossy::Transformed(lossy::Mentored{.05}, BlockVerification()));
    compare(lossy::Cactus{.delta = .2});
    compare(lossy::BigLittle{.fallback = .3});
    compare(lossy::Lenience{.l = .5});
    compare(lossy::TypicalAcceptance{});
    compare(lossy::RelaxedTopN{.n = 3, .delta = .1});
    compare(lossy::TopKMembership{.k = 3});
    compare(lossy::TreeThresholds{});
}

TEST_CASE("drafters that read whole rows draft from slices as from whole ones") {
    const Toy<float> draft{vocab, 1, .6}, target{vocab, 2, .6};
    const auto compare_drafter = [&](const auto& drafter) {
        const Text expected = text_of(drafter(whole(draft)), whole_rows(target), TokenVerification());
        REQUIRE(expected.tokens.size() > 5);
        for (const auto& split : some_splits)
            for (const Text& text : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                     return text_of(drafter(sliced(draft, split, rank, ranks)), sliced_rows(target, split, rank, ranks),
                                    TokenVerification());
                 }))
                CHECK(text == expected);
    };
    compare_drafter([](auto model) { return DynamicTreeDrafter(std::move(model), {.width = 3, .nodes = 6}); });
    compare_drafter([](auto model) { return BeamDrafter(std::move(model), 3); });
    compare_drafter([](auto model) { return ChainDrafter(std::move(model), EntropyStop(1.5)); });
}

TEST_CASE("measures of rows of slices are those of whole rows") {
    const Eigen::ArrayXf p = random_logits(1, 12), q = random_logits(2, 12);
    const auto measured = [](const auto& draft, const auto& row) {
        metrics::Audit audit;
        audit.observe(draft, row, 7);
        audit.observe(row, 600);
        return std::vector<double>{kernels::overlap(draft, row), audit.log_evidence(),
                                   static_cast<double>(row.probs().maxCoeff()),
                                   static_cast<double>(row.probs().coeff(699))};
    };
    const auto expected = measured(Logits(q), Logits(p));
    for (const auto& split : some_splits)
        for (const auto& seen : ranks::on_ranks(split.ranks(), [&](Index rank, shard::Ranks& ranks) {
                 const auto sliced = [&](const Eigen::ArrayXf& row) {
                     return shard::Sharded(Logits(split.slice(row, rank)), split.first(rank), vocab, ranks);
                 };
                 return measured(sliced(q), sliced(p));
             }))
            CHECK(seen == expected);
}
