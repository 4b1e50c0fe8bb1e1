// Random rounds over one to four ranks are the rounds of the whole rows: the same tokens, scores, fault or exception on
// every rank, and no rank comes to more exchanges than another.
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "shard/ranks.hpp"
#include "support/catch.hpp"

#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>

using namespace specsample;

namespace {

using Numbers = Eigen::ArrayXf;
using Column = Eigen::Map<const Numbers>;
constexpr float infinity = std::numeric_limits<float>::infinity();

/// Random numbers that are the same everywhere.
struct Chance {
    std::mt19937 source;

    Index below(Index n) { return static_cast<Index>(source() % static_cast<std::uint32_t>(n)); }
    bool one_in(Index n) { return below(n) == 0; }
    float uniform() { return static_cast<float>(source() >> 8) * 0x1p-24f; }
    template <class T>
    T of(const std::vector<T>& all) {
        return all[static_cast<std::size_t>(below(std::ssize(all)))];
    }
};

/// How the rows of drafted tokens are held.
enum class Drafts { whole, sliced, sliced_otherwise };

/// Whether the normaliser of logits is stated.
enum class Stated { no, right, wrong };

/// A round, and what may be wrong with it.
struct Case {
    Index vocab = 1;
    std::vector<Numbers> p, q;
    std::vector<bool> is_point;
    std::vector<Token> tokens;
    std::vector<Index> parents;
    bool is_tree = false;
    double temperature = 1, draft_temperature = 1;
    ranks::Split split, other;
    Drafts drafts = Drafts::whole;
    Stated stated = Stated::no;
    bool target_is_whole = false, is_computed = false;
    Index max_tokens = 9;
    std::vector<Token> stops;
    Check check = Check::entries_read;
    int until = 0;  // 1: ends the text after a token, 2: before it
    std::uint64_t seed = 0;
    Index missing_rows = 0, missing_distributions = 0;
};

/// A row that is near another, or not: logits or probabilities, with zeros and ties.
Numbers random_row(Chance& chance, Index vocab, bool are_logits, const Numbers* near) {
    Numbers row(vocab);
    const bool has_ties = chance.one_in(4), has_zeros = chance.one_in(3);
    const float spread = chance.of<float>({0, 1, 4, 30});
    for (Index id = 0; id < vocab; ++id) {
        float z = spread * (chance.uniform() - .5f);
        if (near != nullptr) z = .1f * z + (are_logits ? (*near)[id] : std::log((*near)[id]));
        if (has_ties) z = std::floor(z);
        if (has_zeros && chance.one_in(2)) z = -infinity;
        row[id] = z;
    }
    if (!(row.maxCoeff() > -infinity)) row[chance.below(vocab)] = 0;
    if (are_logits) return row;
    row = (row - row.maxCoeff()).exp();
    return row / row.sum();
}

ranks::Split random_split(Chance& chance, Index vocab) {
    const Index ranks = 1 + chance.below(4);
    if (chance.one_in(3)) return ranks::equal(vocab, ranks);
    ranks::Split split{{0, vocab}};
    for (Index rank = 1; rank < ranks; ++rank)
        split.borders.push_back(chance.one_in(2) ? chance.below(vocab + 1)
                                                 : std::min(vocab, chance.of<Index>({0, 1, 511, 512, 513, 1024})));
    std::sort(split.borders.begin(), split.borders.end());
    return split;
}

/// Make one number of a row bad.
void spoil(Chance& chance, Numbers& row, bool are_logits) {
    if (are_logits && chance.one_in(4)) {
        row = -infinity;
    } else if (are_logits) {
        row[chance.below(row.size())] = chance.of<float>({infinity, std::numeric_limits<float>::quiet_NaN()});
    } else {
        row[chance.below(row.size())] = chance.of<float>({infinity, -1e-3f, -5, 7, .5f});
    }
}

/// Draw a token; 0 where the row is bad.
Token drawn(const Case& given, const Numbers& row, bool are_logits, Index node) {
    const auto random = RoundRng(given.seed, 0, 0).at(Purpose::draft, node);
    const Index id = are_logits ? draw(random, Logits(row, given.draft_temperature)).index : draw(random, row).index;
    return static_cast<Token>(std::max<Index>(id, 0));
}

Case random_case(std::uint64_t seed, bool are_logits) {
    Chance chance{std::mt19937(static_cast<unsigned>(seed))};
    Case made;
    made.seed = seed;
    made.vocab = chance.of<Index>({1, 1, 2, 3, 5, 17, 512, 513, 700, 1100, 4700});
    made.temperature = chance.of<double>({0, 1e-3, .7, 1, 1});
    made.draft_temperature = chance.of<double>({0, 1e-3, .7, 1, 1});
    made.is_tree = chance.one_in(2);
    const Index nodes = chance.below(5);
    made.p.push_back(random_row(chance, made.vocab, are_logits, nullptr));
    for (Index node = 0; node < nodes; ++node) {
        const Index parent = made.is_tree ? chance.below(node + 1) - 1 : node - 1;
        made.parents.push_back(parent);
        const Numbers* before = &made.p[static_cast<std::size_t>(parent + 1)];
        made.q.push_back(random_row(chance, made.vocab, are_logits, chance.one_in(3) ? nullptr : before));
        made.p.push_back(random_row(chance, made.vocab, are_logits, nullptr));
        made.is_point.push_back(chance.one_in(4));
        made.tokens.push_back(drawn(made, made.q.back(), are_logits, node));
        if (made.is_point.back()) made.tokens.back() = static_cast<Token>(chance.below(made.vocab));
    }
    made.split = random_split(chance, made.vocab);
    made.other = ranks::equal(made.vocab, made.split.ranks());
    made.drafts = chance.of<Drafts>({Drafts::whole, Drafts::sliced, Drafts::sliced, Drafts::sliced_otherwise});
    made.target_is_whole = made.drafts != Drafts::whole && chance.one_in(5);
    made.is_computed = chance.one_in(3);
    made.stated = chance.of<Stated>({Stated::no, Stated::no, Stated::right});
    if (chance.one_in(12)) made.stated = Stated::wrong;
    made.check = chance.of<Check>({Check::entries_read, Check::every_row});
    if (chance.one_in(3)) made.max_tokens = 1 + chance.below(4);
    if (chance.one_in(3)) made.stops.push_back(static_cast<Token>(chance.below(made.vocab)));
    if (chance.one_in(3) && nodes > 0) made.stops.push_back(chance.of(made.tokens));
    if (chance.one_in(4)) made.until = 1 + static_cast<int>(chance.below(2));
    if (!chance.one_in(3)) return made;

    switch (chance.below(8)) {
        case 0:
            made.max_tokens = 0;
            break;
        case 1:
            made.stops.push_back(static_cast<Token>(made.vocab));
            break;
        case 2:
            made.missing_rows = chance.of<Index>({-1, 1});
            break;
        case 3:
            made.missing_distributions = chance.of<Index>({-1, 1});
            break;
        case 4:
            if (nodes > 0) made.tokens[0] = chance.of<Token>({-1, static_cast<Token>(made.vocab)});
            break;
        case 5:
        case 6:
            if (nodes > 0) spoil(chance, made.q[static_cast<std::size_t>(chance.below(nodes))], are_logits);
            break;
        default:
            spoil(chance, made.p[static_cast<std::size_t>(chance.below(nodes + 1))], are_logits);
    }
    return made;
}

/// All that a round says: its tokens, end, path and scores, its fault, or what it throws.
template <class Rows, class Distributions, class Rule>
std::string text_of(const Case& given, const Rows& rows, const Distributions& distributions, const Rule& rule) {
    const auto until = [&](std::span<const Token> tokens) {
        if (given.until == 0 || tokens.back() % 3 != 1) return StopDecision::go_on;
        return given.until == 1 ? StopDecision::include : StopDecision::exclude;
    };
    const RoundLimits limits{
        .max_tokens = given.max_tokens, .stop_tokens = given.stops, .until = until, .check = given.check};
    const RoundRng rng(given.seed, 3, 5);
    Workspace workspace;
    std::string text;
    try {
        const auto judge = [&] {
            if (given.is_tree)
                return verify(Tree<Token, Index>{given.tokens, given.parents}, distributions, rows, rule, rng, limits,
                              workspace);
            return verify(given.tokens, distributions, rows, rule, rng, limits, workspace);
        };
        const Round round = judge();
        if (round.fault) return message(*round.fault);
        text = std::to_string(round.accepted) + (round.last == LastToken::recovered ? " recovered" : "") + ", end " +
               std::to_string(static_cast<int>(round.end)) + ":";
        for (const Token token : round.tokens) text += " " + std::to_string(token);
        Scores memory;
        for (const TokenScore& score : token_scores(round, rows, memory, 3)) {
            text += "; " + std::to_string(score.log_prob) + " " + std::to_string(score.margin);
            for (const ScoredId& top : score.top) text += " " + std::to_string(top.id);
        }
        if constexpr (std::same_as<Rule, TokenVerification>) {
            text += "; drafted";
            if (!given.is_tree)
                for (const DraftScore& score : draft_scores(round, given.tokens, distributions, rows, rng, memory))
                    text += " " + std::to_string(score.ratio) + " " + std::to_string(score.log_draft);
        }
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return text;
}

/// As many of some rows as a round is given: one less, or the last twice.
template <class Row>
void change_count(std::vector<Row>& rows, Index missing) {
    if (missing > 0 && !rows.empty()) rows.pop_back();
    if (missing < 0 && !rows.empty()) rows.push_back(rows.back());
}

template <class Row>
auto distributions_of(const Case& given, const std::vector<Row>& rows) {
    std::vector<Mixed<detail::row_view_t<Row>>> made;
    for (std::size_t node = 0; node < given.q.size(); ++node) {
        if (given.is_point[node]) {
            made.emplace_back(PointMass{});
        } else {
            made.emplace_back(Sampled(rows[node]));
        }
    }
    change_count(made, given.missing_distributions);
    return made;
}

/// The rows of a round, each made by make(numbers).
template <class Make>
auto rows_of(const std::vector<Numbers>& all, const Make& make) {
    std::vector<decltype(make(all[0]))> rows;
    for (const Numbers& row : all) rows.push_back(make(row));
    return rows;
}

/// Numbers in the form that a test is about: all of a row, or a slice of it.
template <bool are_logits>
auto form_of(const Case& given, const Numbers& row, const Column& numbers, double temperature) {
    if constexpr (are_logits) {
        if (given.stated == Stated::no || temperature == 0) return Logits(numbers, temperature);
        const double right = kernels::log_sum_exp(Logits(row, temperature));
        return Logits(numbers, temperature, right + (given.stated == Stated::wrong ? 1 : 0));
    } else {
        return numbers;
    }
}

/// The rounds that ranks make of slices.
template <bool are_logits, class Rule>
std::vector<std::string> sliced(const Case& given, const Rule& rule) {
    return ranks::on_ranks(given.split.ranks(), [&](Index rank, shard::Ranks& ranks, shard::Thread& thread) {
        shard::Ranks others(thread);
        const auto slices = [&](const ranks::Split& split, double temperature, shard::Ranks& sharing) {
            return [&given, &split, temperature, &sharing, rank](const Numbers& row) {
                return shard::Sharded(form_of<are_logits>(given, row, split.slice(row, rank), temperature),
                                      split.first(rank), row.size(), sharing);
            };
        };
        const auto judge = [&](const auto& distributions) {
            if (given.target_is_whole) {
                auto rows = rows_of(given.p, [&](const Numbers& row) {
                    return form_of<are_logits>(given, row, Column(row.data(), row.size()), given.temperature);
                });
                change_count(rows, given.missing_rows);
                return text_of(given, rows, distributions, rule);
            }
            const auto make = slices(given.split, given.temperature, ranks);
            if (given.is_computed)
                return text_of(
                    given, [&](Index row) { return make(given.p[static_cast<std::size_t>(row)]); }, distributions,
                    rule);
            auto rows = rows_of(given.p, make);
            change_count(rows, given.missing_rows);
            return text_of(given, rows, distributions, rule);
        };
        std::string text;
        if (given.drafts == Drafts::whole) {
            const auto rows = rows_of(given.q, [&](const Numbers& row) {
                return form_of<are_logits>(given, row, Column(row.data(), row.size()), given.draft_temperature);
            });
            text = judge(distributions_of(given, rows));
        } else {
            const bool same = given.drafts == Drafts::sliced;
            const auto rows = rows_of(
                given.q, slices(same ? given.split : given.other, given.draft_temperature, same ? ranks : others));
            text = judge(distributions_of(given, rows));
        }
        return text + " after " + std::to_string(ranks.traffic().exchanges) + " exchanges";
    });
}

template <bool are_logits, class Rule>
void compare(std::uint64_t seed, const Rule& rule) {
    Case given = random_case(seed, are_logits);
    if (given.is_computed && !given.target_is_whole) given.missing_rows = 0;  // a callable makes as many as it is asked
    const auto form = [&given](double temperature) {
        return [&given, temperature](const Numbers& row) {
            return form_of<are_logits>(given, row, Column(row.data(), row.size()), temperature);
        };
    };
    auto p = rows_of(given.p, form(given.temperature));
    const auto q = rows_of(given.q, form(given.draft_temperature));
    change_count(p, given.missing_rows);
    const auto whole = [&](const auto& rows) { return text_of(given, rows, distributions_of(given, q), rule); };
    const bool is_computed = given.is_computed && !given.target_is_whole;  // then rows that are not reached are unseen
    const std::string expected =
        is_computed ? whole([&](Index row) { return p[static_cast<std::size_t>(row)]; }) : whole(p);
    const std::vector<std::string> seen = sliced<are_logits>(given, rule);
    CAPTURE(seed, are_logits, given.vocab, given.split.borders, static_cast<int>(given.drafts), given.is_computed,
            given.target_is_whole, given.check == Check::every_row, given.temperature, given.draft_temperature);
    for (const std::string& text : seen) CHECK(text == seen[0]);
    CHECK(seen[0].substr(0, expected.size() + 6) == expected + " after");
}

}  // namespace

TEMPLATE_TEST_CASE("random rounds of slices are those of whole rows", "", TokenVerification, BlockVerification,
                   GreedyMatch, SampleMatch, GumbelMatch) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        compare<true>(seed, TestType());
        compare<false>(seed, TestType());
    }
}
