// What is wrong on one rank is the same named fault on all of them, and no rank waits for ever.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shard/ranks.hpp"
#include "support/catch.hpp"

#include <specsample/shard.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;

namespace {

constexpr Index vocab = 1100;
constexpr double infinity = std::numeric_limits<double>::infinity(),
                 not_a_number = std::numeric_limits<double>::quiet_NaN();

using Numbers = Eigen::ArrayXf;

/// A round of two drafted tokens, in which everything may be wrong on one rank.
struct Case {
    ranks::Split split = ranks::equal(vocab, 3);
    std::vector<Numbers> rows = std::vector<Numbers>(3, Numbers::Constant(vocab, 1.f / vocab));
    bool logits = false;
    double temperature = 1;
    Check check = Check::every_row;

    // Of rank 2 alone.
    Index first_more = 0, count_more = 0, vocab_more = 0;
    Index tokens = 2;
    std::uint64_t seed = 1;
    Token second = 7;
    std::optional<RoundLimits> limits{};
    Index missing_rows = 0, missing_distributions = 0;

    std::optional<double> other_temperature{};

    bool are_computed = false;  ///< whether all ranks compute their rows when these are asked for
};

std::string text_of(const Round& round) { return round.fault ? message(*round.fault) : "no fault"; }

template <class Rule>
std::string whole(const Case& given, const Rule& rule) {
    const std::vector<Token> tokens{5, 7};
    Workspace workspace;
    const RoundLimits limits{.check = given.check};
    const RoundRng rng(1, 0, 0);
    if (given.logits)
        return text_of(
            verify(tokens, PointMass{}, logits_of(given.rows, given.temperature), rule, rng, limits, workspace));
    return text_of(verify(tokens, PointMass{}, given.rows, rule, rng, limits, workspace));
}

const std::vector<Token> same_stops{1}, other_stops{2};

/// The message on every rank, which must be the same.
template <class Rule>
std::string sliced(const Case& given, const Rule& rule) {
    const auto all = ranks::on_ranks(
        given.split.ranks(),
        [&](Index rank, shard::Ranks& ranks) {
            const bool odd = rank == 2;
            std::vector<Token> tokens{5, 7};
            if (odd) tokens[1] = given.second;
            tokens.resize(static_cast<std::size_t>(odd ? given.tokens : 2), 9);
            const RoundRng rng(odd ? given.seed : 1, 0, 0);
            RoundLimits limits{.stop_tokens = same_stops, .check = given.check};
            if (odd && given.limits) limits = *given.limits;
            const std::vector<PointMass> distributions(tokens.size() -
                                                       static_cast<std::size_t>(odd ? given.missing_distributions : 0));
            const auto judge = [&](auto slice_of) {
                const auto row = [&](Index i) {
                    return shard::Sharded(slice_of(given.rows[static_cast<std::size_t>(std::clamp<Index>(i, 0, 2))]),
                                          given.split.first(rank) + (odd ? given.first_more : 0),
                                          vocab + (odd ? given.vocab_more : 0), ranks);
                };
                std::vector<decltype(row(0))> rows;
                for (Index i = odd ? given.missing_rows : 0; i <= std::ssize(tokens); ++i) rows.push_back(row(i));
                Workspace workspace;
                if (given.are_computed)
                    return text_of(verify(tokens, distributions, row, rule, rng, limits, workspace));
                return text_of(verify(tokens, distributions, rows, rule, rng, limits, workspace));
            };
            const auto numbers = [&](const Numbers& row) {
                return Eigen::Map<const Numbers>(row.data() + given.split.first(rank),
                                                 given.split.count(rank) + (odd ? given.count_more : 0));
            };
            if (!given.logits) return judge(numbers);
            return judge([&](const Numbers& row) {
                return Logits(numbers(row),
                              odd ? given.other_temperature.value_or(given.temperature) : given.temperature);
            });
        },
        10);
    for (const std::string& one : all) CHECK(one == all[0]);
    return all[0];
}

}  // namespace

TEMPLATE_TEST_CASE("bad numbers are the same fault as in the whole row", "", TokenVerification, BlockVerification,
                   GreedyMatch, SampleMatch, GumbelMatch) {
    for (const Check check : {Check::every_row, Check::entries_read})
        for (const std::size_t row : {0u, 2u})
            for (const Index id : {3, 500, 1099})
                for (const double bad : {not_a_number, infinity, -1e-3, -5., 7.}) {
                    CAPTURE(row, id, bad, check == Check::every_row);
                    Case given{.check = check};
                    given.rows[row][id] = static_cast<float>(bad);
                    CHECK(sliced(given, TestType()) == whole(given, TestType()));
                    for (const double temperature : {0., 1.}) {
                        given.logits = true;
                        given.temperature = temperature;
                        CHECK(sliced(given, TestType()) == whole(given, TestType()));
                    }
                }
    Case masked{.logits = true};
    for (Numbers& row : masked.rows) row = static_cast<float>(-infinity);
    for (masked.temperature = 0; masked.temperature < 2; ++masked.temperature) {
        CHECK(sliced(masked, TestType()) == whole(masked, TestType()));
        CHECK_THAT(whole(masked, TestType()), ContainsSubstring("makes no token possible"));
    }
    for (const Index first : {0, 400}) {  // one slice has all the mass
        Case given{.logits = true};
        for (Numbers& row : given.rows) {
            row = static_cast<float>(-infinity);
            row.segment(first, 100) = 1;
        }
        CHECK(sliced(given, TestType()) == whole(given, TestType()));
        CHECK(whole(given, TestType()) == "no fault");
    }
}

TEST_CASE("slices that do not fit together are a fault of all ranks") {
    const auto message_of = [](const Case& given) { return sliced(given, TokenVerification()); };
    CHECK(message_of({}) == "no fault");
    CHECK(message_of({.count_more = -1}) ==
          "target row 0 has a slice on rank 2 that ends at id 1099, but must end at 1100");
    CHECK(message_of({.first_more = 1, .count_more = -1}) ==
          "target row 0 has a slice on rank 2 that begins at id 734, but must begin at 733, where the one before it "
          "ends");
    CHECK(message_of({.first_more = -1}) ==
          "target row 0 has a slice on rank 2 that begins at id 732, but must begin at 733, where the one before it "
          "ends");
    CHECK(message_of({.vocab_more = 1}) ==
          "target row 0 is of a vocabulary of 1101 ids on rank 2, but must be of 1100 ids as on the other ranks");
}

TEST_CASE("a rank in another round is a fault of all ranks") {
    const std::string differs =
        "target row 0 is read by rank 2 in another round than by rank 0, but seed, request, text, draft, limits and "
        "the "
        "order of calls must be the same on every rank";
    CHECK(sliced({.seed = 2}, TokenVerification()) == differs);
    CHECK(sliced({.tokens = 3}, TokenVerification()) == differs);
    CHECK(sliced({.tokens = 1}, BlockVerification()) == differs);
    CHECK(sliced({.second = 8}, GumbelMatch()) == differs);
}

TEST_CASE("a rank that is given something else is a fault of all ranks, and none waits for it") {
    const RoundLimits same{.stop_tokens = same_stops, .check = Check::entries_read};
    const auto with = [&](const auto& change) {
        RoundLimits limits = same;
        change(limits);
        return limits;
    };
    for (const bool are_computed : {false, true})
        for (const bool logits : {false, true}) {
            CAPTURE(are_computed, logits);
            const auto message_of = [&](Case given) {
                given.logits = logits;
                given.are_computed = are_computed;
                given.check = Check::entries_read;
                return sliced(given, TokenVerification());
            };
            const auto differs = ContainsSubstring("target row 0 is read by rank 2 in another round");
            CHECK(message_of({.limits = same}) == "no fault");
            CHECK_THAT(message_of({.limits = with([](auto& one) { one.max_tokens = 1; })}), differs);
            CHECK_THAT(message_of({.limits = with([](auto& one) { one.max_tokens = 0; })}), differs);
            CHECK_THAT(message_of({.limits = with([](auto& one) { one.stop_tokens = other_stops; })}), differs);
            CHECK_THAT(message_of({.limits = with([](auto& one) { one.stop_tokens = {}; })}), differs);
            CHECK_THAT(message_of({.limits = with([](auto& one) { one.check = Check::every_row; })}), differs);
            CHECK_THAT(message_of({.seed = 2, .limits = same}), differs);
            CHECK_THAT(message_of({.tokens = 1, .limits = same}), differs);
            CHECK_THAT(message_of({.second = 8, .limits = same}), differs);
            if (logits) CHECK_THAT(message_of({.limits = same, .other_temperature = 0}), differs);
            CHECK_THAT(message_of({.limits = same, .missing_distributions = 1}), differs);
            CHECK_THAT(message_of({.limits = same, .missing_distributions = -1}), differs);
            if (are_computed) continue;
            CHECK_THAT(message_of({.limits = same, .missing_rows = 1}), differs);
            CHECK_THAT(message_of({.limits = same, .missing_rows = -1}), differs);
        }
}

TEST_CASE("a rank that judges by another rule is a fault of all ranks") {
    const ranks::Split split{{0, 512, vocab}};
    const Numbers row = Numbers::LinSpaced(vocab, 1, 3) / (2 * vocab);
    const auto form = [](const auto& numbers, bool are_logits, const auto& f) {
        return are_logits ? f(Logits(numbers)) : f(numbers);
    };
    const auto compare = [&](const auto& same, const auto& other, bool are_logits, const std::vector<Token>& tokens) {
        CAPTURE(are_logits, tokens.size());
        const auto texts = ranks::on_ranks(
            2,
            [&](Index rank, shard::Ranks& ranks) {
                return form(split.slice(row, rank), are_logits, [&](const auto& slice) {
                    const std::vector rows(tokens.size() + 1, shard::Sharded(slice, split.first(rank), vocab, ranks));
                    Workspace workspace;
                    const auto judge = [&](const auto& rule) {
                        return text_of(verify(tokens, PointMass{}, rows, rule, RoundRng(1, 0, 0), {}, workspace));
                    };
                    return rank == 1 ? judge(other) : judge(same);
                });
            },
            10);
        for (const std::string& text : texts)
            CHECK_THAT(text, ContainsSubstring("is read by rank 1 in another round than by rank 0"));
    };
    for (const bool are_logits : {false, true}) {
        compare(TokenVerification(), SampleMatch(), are_logits, {700});
        compare(TokenVerification(), GreedyMatch(), are_logits, {700});
        compare(TokenVerification(), GumbelMatch(), are_logits, {});
        compare(GreedyMatch(), GumbelMatch(), are_logits, {});
        compare(SampleMatch(), GumbelMatch(), are_logits, {});
    }
}

TEST_CASE("a rank that checks more, or is given another tree, is a fault of all ranks") {
    const auto differs = ContainsSubstring("target row 0 is read by rank 2 in another round");
    const RoundLimits more{.stop_tokens = same_stops, .check = Check::every_row};
    CHECK_THAT(sliced({.logits = true, .check = Check::entries_read, .limits = more}, GreedyMatch()), differs);

    const std::vector<float> row(static_cast<std::size_t>(vocab), 1.f / vocab);
    const ranks::Split split = ranks::equal(vocab, 3);
    for (const std::string& text : ranks::on_ranks(3, [&](Index rank, shard::Ranks& ranks) {
             const std::vector<shard::Sharded<std::vector<float>>> rows(
                 3, shard::Sharded(std::vector<float>(row.begin(), row.begin() + split.count(rank)), split.first(rank),
                                   vocab, ranks));
             const std::vector<Token> tokens{5, 5};
             const std::vector<Index> parents{-1, rank == 2 ? -1 : 0};
             Workspace workspace;
             return text_of(verify(Tree<Token, Index>{tokens, parents}, PointMass{}, rows, GreedyMatch(),
                                   RoundRng(1, 0, 0), {}, workspace));
         }))
        CHECK_THAT(text, differs);
}

TEST_CASE("a text that is another on one rank is a fault of all ranks where its rows are shaped") {
    const ranks::Split split = ranks::equal(vocab, 3);
    const Numbers row = Numbers::LinSpaced(vocab, -3, 3);
    const std::vector<Token> same(70, 4);
    std::vector<Token> longer(71, 4), other = same;
    other.back() = 5;
    for (const SamplingParams& params : {SamplingParams{.top_k = 4}, SamplingParams{.top_p = .5},
                                         SamplingParams{.min_p = .5}, SamplingParams{.typical_p = .5}})
        for (const auto& context : {same, longer, other}) {
            CAPTURE(params.top_k, params.top_p, params.min_p, context.size());
            for (const bool faulted : ranks::on_ranks(3, [&](Index rank, shard::Ranks& ranks) {
                     filters::ShapedMemory<float> memory;
                     try {
                         shape(shard::Sharded(Logits(split.slice(row, rank)), split.first(rank), vocab, ranks), params,
                               rank == 2 ? context : same, memory);
                     } catch (const Fault& fault) {
                         return fault.fault.cause == Cause::ranks_differ;
                     }
                     return false;
                 }))
                CHECK(faulted == (context != same));
        }
}

TEST_CASE("a pipeline that is another on one rank is a fault of all ranks") {
    const ranks::Split split = ranks::equal(vocab, 3);
    const Numbers row = Numbers::LinSpaced(vocab, -3, 3);
    const std::vector<std::pair<SamplingParams, SamplingParams>> pairs{
        {{.top_k = 4}, {.top_k = 5}},   {{.min_p = .5}, {.min_p = .4}},
        {{.top_p = .5}, {.top_p = .4}}, {{.temperature = .5, .top_p = .5}, {.temperature = .4, .top_p = .5}},
        {{.top_k = 4}, {.top_p = .5}},  {{.top_k = 4}, {.typical_p = .5}}};
    for (const auto& [same, other] : pairs)
        for (const bool faulted : ranks::on_ranks(3, [&](Index rank, shard::Ranks& ranks) {
                 filters::ShapedMemory<float> memory;
                 try {
                     shape(shard::Sharded(Logits(split.slice(row, rank)), split.first(rank), vocab, ranks),
                           rank == 2 ? other : same, {}, memory);
                 } catch (const Fault& fault) {
                     return fault.fault.cause == Cause::ranks_differ;
                 }
                 return false;
             }))
            CHECK(faulted);
}

TEST_CASE("a split that changes is a fault of all ranks, and the one before it goes on") {
    const std::vector<float> row(static_cast<std::size_t>(vocab), 1.f / vocab);
    const auto seen = ranks::on_ranks(2, [&](Index rank, shard::Ranks& ranks) {
        std::string all;
        for (const Index border : {600, 512, 600}) {
            const Index first = rank == 0 ? 0 : border, count = rank == 0 ? border : vocab - border;
            std::vector<shard::Sharded<std::span<const float>>> rows;
            rows.emplace_back(std::span(row).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                              first, vocab, ranks);
            Workspace workspace;
            all += text_of(verify(std::vector<Token>(), PointMass{}, rows, TokenVerification(), RoundRng(1, 0, 0), {},
                                  workspace)) +
                   "; ";
        }
        return all;
    });
    const std::string expected =
        "no fault; target row 0 has a slice on rank 0 that ends at id 512, but must end at 600; no fault; ";
    CHECK(seen[0] == expected);
    CHECK(seen[1] == expected);
}

TEST_CASE("a rank that gives up is reported to the others") {
    shard::ThreadGroup group(2, .2);
    shard::Thread communicator(group, 0);
    shard::Ranks ranks(communicator);
    const std::vector<float> half(4, .125f);
    const shard::Sharded row(std::span<const float>(half), 0, 8, ranks);
    CHECK_THROWS_WITH(row.argmax(), ContainsSubstring("a rank did not come to an exchange"));
    CHECK_THROWS_WITH(row.argmax(), ContainsSubstring("a rank did not come to an exchange"));
}
