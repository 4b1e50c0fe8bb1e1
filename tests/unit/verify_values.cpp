// Rows and origins that are values give the rounds of the same rows as types, to the bit, faults included.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <specsample/specsample.hpp>
#include <specsample/values.hpp>
#include <specsample/verify/batch.hpp>

#include "support/catch.hpp"
#include "support/random_round.hpp"

using namespace specsample;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Uniform numbers that a test draws its data from.
class Dice {
  public:
    explicit Dice(std::uint64_t seed) : seed_(seed) {}
    double uniform() { return Rng({.seed = seed_, .position = next_++}).uniform(); }
    Index below(Index end) { return static_cast<Index>(uniform() * static_cast<double>(end)); }
    bool one_in(Index n) { return below(n) == 0; }

  private:
    std::uint64_t seed_;
    Index next_ = 0;
};

template <class T>
T stored(double x) {
    if constexpr (sizeof(T) == 2)
        return static_cast<T>(static_cast<float>(x));
    else
        return static_cast<T>(x);
}

/// What a row is made of.
template <class T>
struct Numbers {
    struct Candidate {
        T first, number, last;
    };

    std::vector<T> numbers;
    std::vector<Token> ids;
    std::vector<std::uint16_t> short_ids;
    std::vector<std::int64_t> long_ids;
    std::vector<Candidate> candidates;
    double temperature = 1;
    Index vocab = 0;

    std::span<const T> span() const { return numbers; }
};

/// Numbers for a row of a vocabulary: logits, or their softmax. A sparse row has every other id or so.
template <class T>
Numbers<T> numbers_for(Dice& dice, Index vocab, bool are_logits, bool is_sparse, bool is_bad) {
    Numbers<T> row;
    row.temperature = std::array{0., .3, 1., 2.}[static_cast<std::size_t>(dice.below(4))];
    row.vocab = vocab;
    std::vector<double> logits;
    for (Index id = 0; id < vocab; ++id) {
        if (is_sparse && id > 0 && dice.one_in(2)) continue;
        row.ids.push_back(static_cast<Token>(id));
        logits.push_back(dice.one_in(9) && id > 0 ? -infinity : 4 * dice.uniform());
    }
    double sum = 0;
    for (const double z : logits) sum += std::exp(z);
    for (const double z : logits) row.numbers.push_back(stored<T>(are_logits ? z : std::exp(z) / sum));
    if (is_bad)
        row.numbers[static_cast<std::size_t>(dice.below(std::ssize(row.numbers)))] =
            stored<T>(dice.one_in(2) ? NAN : -.5);
    row.short_ids.assign(row.ids.begin(), row.ids.end());
    row.long_ids.assign(row.ids.begin(), row.ids.end());
    for (const T x : row.numbers) row.candidates.push_back({T{}, x, T{}});
    return row;
}

// Kinds of rows, as a type and as a value.

template <class T>
struct Probs {
    using Scalar = T;
    static constexpr bool are_logits = false, is_sparse = false;
    static auto typed(const Numbers<T>& row) { return row.span(); }
    static Row value(const Numbers<T>& row) { return Row::probs(row.numbers); }
};
template <class T>
struct WithLogits {
    using Scalar = T;
    static constexpr bool are_logits = true, is_sparse = false;
    static auto typed(const Numbers<T>& row) { return Logits(row.span(), row.temperature); }
    static Row value(const Numbers<T>& row) { return Row::logits(row.numbers, row.temperature); }
};
template <class T>
struct Normalised {
    using Scalar = T;
    static constexpr bool are_logits = true, is_sparse = false;
    static double log_sum_exp(const Numbers<T>& row) {
        return row.temperature == 0 ? 0 : kernels::log_sum_exp(Logits(row.span(), row.temperature));
    }
    static auto typed(const Numbers<T>& row) { return Logits(row.span(), row.temperature, log_sum_exp(row)); }
    static Row value(const Numbers<T>& row) { return Row::logits(row.numbers, row.temperature, log_sum_exp(row)); }
};
template <class T, auto list>
struct Listed {
    using Scalar = T;
    static constexpr bool are_logits = false, is_sparse = true;
    static auto typed(const Numbers<T>& row) { return Sparse(std::span(row.*list), row.span(), row.vocab); }
    static Row value(const Numbers<T>& row) { return Row::sparse(row.*list, Row::probs(row.numbers), row.vocab); }
};
template <class T, auto list>
struct ListedLogits {
    using Scalar = T;
    static constexpr bool are_logits = true, is_sparse = true;
    static auto typed(const Numbers<T>& row) {
        return Sparse(std::span(row.*list), Logits(row.span(), row.temperature), row.vocab);
    }
    static Row value(const Numbers<T>& row) {
        return Row::sparse(row.*list, Row::logits(row.numbers, row.temperature), row.vocab);
    }
};
template <class T>
struct Strided {
    using Scalar = T;
    static constexpr bool are_logits = false, is_sparse = false;
    static auto typed(const Numbers<T>& row) { return member(row.candidates, &Numbers<T>::Candidate::number); }
    static Row value(const Numbers<T>& row) {
        return Row::probs({&row.candidates[0].number, std::ssize(row.candidates), 3});
    }
};

/// What a round is compared by: all that it says.
template <class Rule, class P, class Q>
void compare(const Rule& rule, std::uint64_t seed) {
    using QView = detail::row_view_t<decltype(Q::typed(std::declval<Numbers<typename Q::Scalar>>()))>;
    Dice dice(seed);
    const Index vocab = std::array<Index, 6>{1, 2, 5, 40, 600, 2300}[static_cast<std::size_t>(dice.below(6))];
    const Index count = dice.below(5);
    const bool is_tree = dice.one_in(3);
    const bool has_bad = dice.one_in(4);
    const auto parents = is_tree ? random_round::random_parents(count, seed) : random_round::chain_parents(count);

    std::vector<Numbers<typename Q::Scalar>> draft;
    std::vector<Numbers<typename P::Scalar>> target;
    for (Index i = 0; i < count; ++i)
        draft.push_back(
            numbers_for<typename Q::Scalar>(dice, vocab, Q::are_logits, Q::is_sparse, has_bad && dice.one_in(4)));
    for (Index i = 0; i <= count; ++i)
        target.push_back(
            numbers_for<typename P::Scalar>(dice, vocab, P::are_logits, P::is_sparse, has_bad && dice.one_in(4)));

    const RoundRng rng(seed, 1, 7);
    std::vector<Token> tokens;
    using Distribution = std::conditional_t<detail::shares_noise<Rule>, SharedNoise, Mixed<QView>>;
    std::vector<Distribution> distributions;
    std::vector<Origin> origins;
    bool first_is_drawn = false;
    for (Index i = 0; i < count; ++i) {
        const auto& row = draft[static_cast<std::size_t>(i)];
        const auto [token, distribution] = draft_token(rule, rng, i, Q::typed(row));
        const auto [value_token, origin] = draft_token(rule, rng, i, Q::value(row));
        REQUIRE(token == value_token);
        tokens.push_back(dice.one_in(30) ? static_cast<Token>(dice.below(vocab)) : std::max(token, Token{0}));
        switch (dice.below(4)) {
            case 0:
                distributions.push_back(PointMass{}), origins.push_back(Origin::named());
                break;
            case 1:
                if constexpr (!detail::shares_noise<Rule>) {
                    distributions.push_back(Sampled<QView>(Q::typed(row)));
                    origins.push_back(Origin::sampled(Q::value(row)));
                    break;
                }
                [[fallthrough]];
            default:
                distributions.push_back(distribution), origins.push_back(origin);
                if (i == 0) first_is_drawn = true;
        }
    }
    // A row is written again after its token was drawn. One that no draft_token has seen is not compared: Sampled has
    // read its logits by then, and a round that is given an Origin reads them later.
    if (has_bad && first_is_drawn && dice.one_in(2)) draft[0].numbers[0] = stored<typename Q::Scalar>(.25);

    std::vector<decltype(P::typed(target[0]))> rows;
    std::vector<Row> values;
    for (const auto& row : target) rows.push_back(P::typed(row)), values.push_back(P::value(row));

    const std::vector<Token> stops{static_cast<Token>(dice.below(vocab))};
    RoundLimits limits{.check = dice.one_in(3) ? Check::every_row : Check::entries_read};
    if (dice.one_in(4)) limits.stop_tokens = stops;
    if (dice.one_in(4)) limits.max_tokens = 1 + dice.below(3);
    Workspace one, other;
    const Round expected = verify(Tree{tokens, parents}, distributions, rows, rule, rng, limits, one);
    const auto agrees = [&](const Round& round) {
        CAPTURE(seed, message(expected), message(round));
        CHECK(std::ranges::equal(round.tokens, expected.tokens));
        CHECK(std::ranges::equal(round.path, expected.path));
        CHECK((round.accepted == expected.accepted && round.evaluated == expected.evaluated &&
               round.continued == expected.continued && round.depth == expected.depth &&
               round.proposed == expected.proposed && round.last == expected.last && round.end == expected.end));
        CHECK(message(round) == message(expected));
    };
    agrees(verify(Tree{tokens, parents}, origins, values, rule, rng, limits, other));
    const auto row_of = [&](Index i) { return values[static_cast<std::size_t>(i)]; };
    if (limits.check == Check::entries_read)
        agrees(verify(Tree{tokens, parents}, origins, Rows(row_of), rule, rng, limits, other));
    if (!is_tree) agrees(verify(tokens, origins, values, rule, rng, limits, other));
    if (!expected) return;
    Scores of_types, of_values;
    const auto same_id = [](const ScoredId& a, const ScoredId& b) { return a.id == b.id && a.log_prob == b.log_prob; };
    const auto same = [&](const TokenScore& a, const TokenScore& b) {
        return a.token == b.token && a.row == b.row && a.log_prob == b.log_prob && a.margin == b.margin &&
               std::ranges::equal(a.top, b.top, same_id);
    };
    const auto scores = token_scores(expected, rows, of_types, 3);
    CHECK(std::ranges::equal(token_scores(expected, values, of_values, 3), scores, same));
    CHECK(std::ranges::equal(token_scores(expected, Rows(row_of), of_values, 3), scores, same));
}

template <class P, class Q>
void compare_rules(int rounds) {
    for (int i = 0; i < rounds; ++i) {
        const auto seed = static_cast<std::uint64_t>(i);
        compare<TokenVerification, P, Q>({}, seed);
        compare<BlockVerification, P, Q>({}, seed);
    }
}

}  // namespace

TEST_CASE("probabilities that are values give the rounds of probabilities that are types") {
    compare_rules<Probs<float>, Probs<float>>(160);
    compare_rules<Probs<double>, Probs<double>>(160);
    compare_rules<Probs<Eigen::half>, Probs<Eigen::bfloat16>>(160);
    compare_rules<Strided<float>, Strided<Eigen::half>>(100);
}

TEST_CASE("logits that are values give the rounds of logits that are types") {
    compare_rules<WithLogits<float>, WithLogits<Eigen::half>>(160);
    compare_rules<WithLogits<double>, WithLogits<double>>(100);
    compare_rules<WithLogits<Eigen::bfloat16>, Normalised<float>>(100);
    compare_rules<Normalised<float>, Probs<float>>(100);
}

TEST_CASE("sparse rows that are values give the rounds of sparse rows that are types") {
    compare_rules<Listed<float, &Numbers<float>::ids>, Listed<float, &Numbers<float>::ids>>(160);
    compare_rules<Listed<double, &Numbers<double>::short_ids>, ListedLogits<double, &Numbers<double>::long_ids>>(100);
    compare_rules<Probs<float>, ListedLogits<float, &Numbers<float>::short_ids>>(100);
    compare_rules<ListedLogits<Eigen::half, &Numbers<Eigen::half>::long_ids>, WithLogits<float>>(100);
}

TEST_CASE("the tokens of a prompt are scored in values as in types") {
    const std::vector<std::vector<float>> logits{{.5f, 2, -1}, {0, 1, 4}, {3, -2, .25f}};
    std::vector<Row> values;
    for (const auto& row : logits) values.push_back(Row::logits(row, .6));
    const std::vector<Token> prompt{1, 0, 2};
    Scores of_types, of_values;
    const auto expected = token_scores(prompt, logits_of(logits, .6), of_types, 2);
    const auto found = token_scores(prompt, values, of_values, 2);
    REQUIRE(found.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK((found[i].token == prompt[i] && found[i].row == static_cast<Index>(i)));
        CHECK((found[i].log_prob == expected[i].log_prob && found[i].margin == expected[i].margin));
        CHECK(found[i].top[0].id == expected[i].top[0].id);
    }
    CHECK_THROWS_WITH(
        token_scores(prompt, std::vector(values.begin(), values.end() - 1), of_values),
        "specsample::token_scores: the number of rows is 2, but must be at least the number of tokens, 3");
}

TEST_CASE("values are judged by match rules, and by K-SEQ, as types are") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        compare<GreedyMatch, WithLogits<float>, Probs<float>>({}, seed);
        compare<GreedyMatch, Probs<float>, Probs<float>>({}, seed);
        compare<SampleMatch, Listed<float, &Numbers<float>::ids>, Probs<float>>({}, seed);
        compare<GumbelMatch, WithLogits<float>, WithLogits<float>>({}, seed);
        compare<GumbelMatch, Probs<double>, Listed<double, &Numbers<double>::ids>>({}, seed);
    }
}

TEST_CASE("siblings that are drawn without replacement, or of one row by K-SEQ, are judged alike") {
    Workspace one, other;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Dice dice(seed);
        const auto q = numbers_for<float>(dice, 12, false, false, false),
                   p = numbers_for<float>(dice, 12, false, false, false);
        const std::vector<Index> parents{-1, -1, -1};
        const RoundRng rng(seed, 2, 3);
        const std::vector rows(4, Probs<float>::typed(p));
        const std::vector values(4, Row::probs(p.numbers));
        const auto agree = [&](const auto& rule, bool are_removed) {
            std::vector<Token> tokens;
            tokens.reserve(3);
            std::vector<Sampled<detail::Column<float>>> distributions;
            std::vector<Origin> origins;
            for (Index i = 0; i < 3; ++i) {
                const std::span<const Token> without = std::span(tokens).first(are_removed ? tokens.size() : 0);
                const auto drawn = draft_token(rule, rng, i, q.span(), 0, without);
                const auto value = draft_token(rule, rng, i, Row::probs(q.numbers), 0, without);
                REQUIRE(value.token == drawn.token);
                tokens.push_back(drawn.token);
                distributions.push_back(drawn.distribution);
                origins.push_back(value.origin);
            }
            const Round expected = verify(Tree{tokens, parents}, distributions, rows, rule, rng, {}, one);
            const Round round = verify(Tree{tokens, parents}, origins, values, rule, rng, {}, other);
            CHECK(std::ranges::equal(round.tokens, expected.tokens));
            CHECK(message(round) == message(expected));
        };
        agree(TokenVerification{}, true);
        agree(BlockVerification{}, true);
        agree(KSeq{}, false);
    }
}

TEST_CASE("a round that has one row of doubles reads all of its rows as doubles") {
    Workspace one, other;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Dice dice(seed);
        const auto narrow = numbers_for<float>(dice, 300, false, false, false);
        const auto wide = numbers_for<double>(dice, 300, false, false, false);
        const std::vector<double> widened(narrow.numbers.begin(), narrow.numbers.end());
        const RoundRng rng(seed, 2, 3);
        const auto agree = [&](const std::vector<double>& q, const Row& q_value, const std::vector<double>& p,
                               const Row& p_value, const Row& last) {
            const auto [token, distribution] = draft_token(TokenVerification{}, rng, 0, q);
            const std::vector tokens{token};
            const Round expected = verify(tokens, std::vector{distribution}, std::vector<std::span<const double>>{p, p},
                                          TokenVerification{}, rng, {}, one);
            const std::vector origins{Origin::sampled(q_value)};
            const std::vector values{p_value, last};
            const Round round = verify(tokens, origins, values, TokenVerification{}, rng, {}, other);
            CHECK(std::ranges::equal(round.tokens, expected.tokens));
        };
        const Row n = Row::probs(narrow.numbers), w = Row::probs(wide.numbers), again = Row::probs(widened);
        agree(widened, n, wide.numbers, w, w);
        agree(wide.numbers, w, widened, n, n);
        agree(widened, n, widened, n, again);  // the last row alone is of doubles
    }
}

TEST_CASE("rows lie in memory, one after the other or a stride apart, and in slices of a batch") {
    const std::vector<float> memory{.5f, .5f, 9, .25f, .75f, 9, 0, 1, 9};
    const Rows rows(Row::probs({memory.data(), 2}), 3, 3);
    CHECK(rows.count() == 3);
    Workspace workspace;
    const auto last = [&](const Rows& of) {
        const Round round = verify({}, PointMass{}, of, GreedyMatch{}, RoundRng(1, 2, 3), {}, workspace);
        return round.tokens[0];
    };
    CHECK(last(rows.slice(0, 1)) == 0);
    CHECK(last(rows.slice(1, 1)) == 1);
    CHECK(last(rows.slice(1, 2).slice(1, 1)) == 1);
    CHECK(rows.slice(3, 0).count() == 0);
    const std::vector<Row> list{rows[0], rows[2]};
    CHECK(last(Rows(list).slice(1, 1)) == 1);
    CHECK(Rows(list).slice(2, 0).count() == 0);

    const std::vector<std::uint16_t> bits{0x3e80, 0x3f40};  // .25 and .75 as bfloat16
    CHECK(last(Rows(Row::probs({bits.data(), Row::Scalar::bf16, 2}), 1)) == 1);
    const std::vector<std::uint16_t> halves{0x3a00, 0x3400};  // .75 and .25 as binary16
    CHECK(last(Rows(Row::probs({halves.data(), Row::Scalar::f16, 2}), 1)) == 0);
    CHECK(verify({}, PointMass{}, Rows(std::vector<Row>()), GreedyMatch{}, RoundRng(1, 2, 3), {}, workspace)
              .fault->cause == Cause::wrong_count);
}

namespace {

/// A mixture of two rows, computed where it is read.
template <class T>
class Mixture final : public RowReader {
  public:
    Mixture(const std::vector<T>& a, const std::vector<T>& b) : a_(a), b_(b) {}
    Index size() const override { return std::ssize(a_); }
    void read(Index first, std::span<float> out) const override {
        REQUIRE(out.size() <= 512);
        fill(first, out);
    }
    void read_wide(Index first, std::span<double> out) const override { fill(first, out); }
    std::vector<T> whole() const {
        std::vector<T> row(a_.size());
        fill(0, std::span(row));
        return row;
    }

  private:
    template <class Number>
    void fill(Index first, std::span<Number> out) const {
        for (Number& x : out) {
            const auto id = static_cast<std::size_t>(first++);
            x = static_cast<Number>(T(.5) * a_[id] + T(.5) * b_[id]);
        }
    }
    const std::vector<T>&a_, &b_;
};

/// A reader that writes no doubles of its own.
class Uniform final : public RowReader {
  public:
    Index size() const override { return 4; }
    void read(Index, std::span<float> out) const override { std::ranges::fill(out, .25f); }
};

template <class T>
void compare_readers() {
    Workspace one, other;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Dice dice(seed);
        const auto numbers = [&] { return numbers_for<T>(dice, 700, false, false, false).numbers; };
        const auto a = numbers(), b = numbers(), c = numbers();
        const Mixture<T> q(a, b), p(b, c);
        const auto q_row = q.whole(), p_row = p.whole();
        const RoundRng rng(seed, 2, 3);
        const Row::Scalar scalar = sizeof(T) == 8 ? Row::Scalar::f64 : Row::Scalar::f32;
        const auto [token, distribution] = draft_token(TokenVerification{}, rng, 0, q_row);
        const auto [value_token, origin] = draft_token(TokenVerification{}, rng, 0, Row::probs({q, scalar}));
        REQUIRE(token == value_token);
        const std::vector tokens{token};
        const Round expected =
            verify(tokens, std::vector{distribution}, std::vector{p_row, p_row}, TokenVerification{}, rng, {}, one);
        const Round round = verify(tokens, std::vector{origin}, std::vector(2, Row::probs({p, scalar})),
                                   TokenVerification{}, rng, {}, other);
        CHECK(std::ranges::equal(round.tokens, expected.tokens));
    }
}

}  // namespace

TEST_CASE("a row that a reader computes is judged as the same row in memory") {
    compare_readers<float>();
    compare_readers<double>();
    Workspace workspace;
    const Uniform uniform;
    for (const Row::Scalar scalar : {Row::Scalar::f32, Row::Scalar::f64})
        CHECK(verify({}, PointMass{}, std::vector{Row::probs({uniform, scalar})}, SampleMatch{}, RoundRng(1, 2, 3),
                     {.check = Check::every_row}, workspace));
}

TEST_CASE("numbers, ids and rows may be arrays") {
    const float probs[] = {.5f, .25f, .25f};
    const std::uint16_t ids[] = {0, 2, 5};
    const std::array<double, 3> logits{1, 2, 3};
    const std::vector<float> same(std::begin(probs), std::end(probs));
    const std::vector<int> same_ids(std::begin(ids), std::end(ids));
    const Row rows[] = {Row::sparse(ids, Row::probs(probs), 6), Row::sparse(ids, Row::logits(logits, .5), 6)};
    const std::vector<Row> expected{Row::sparse(same_ids, Row::probs(same), 6),
                                    Row::sparse(same_ids, Row::logits(logits, .5), 6)};
    const Token drafted[] = {2};
    const Origin origins[] = {Origin::sampled(rows[0])};
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        Workspace one, other;
        const RoundRng rng(seed, 2, 3);
        const Round round = verify(drafted, origins, Rows(rows), TokenVerification{}, rng, {}, one);
        CHECK(std::ranges::equal(round.tokens,
                                 verify(drafted, origins, Rows(expected), TokenVerification{}, rng, {}, other).tokens));
    }
}

/// A row by a function that is no object.
Row fixed_row(Index) {
    static const std::vector<float> row{.5f, .25f, .25f};
    return Row::probs(row);
}

TEST_CASE("a function may make the rows, as a lambda may") {
    const std::vector<Token> tokens{1};
    const auto lambda = [](Index i) { return fixed_row(i); };
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        Workspace one, other;
        const RoundRng rng(seed, 2, 3);
        const Round made = verify(tokens, PointMass{}, Rows(fixed_row), TokenVerification{}, rng, {}, one);
        const Round expected = verify(tokens, PointMass{}, Rows(lambda), TokenVerification{}, rng, {}, other);
        CHECK(std::ranges::equal(made.tokens, expected.tokens));
    }
}

TEST_CASE("a callable is asked for row 0 once, and for a row of each position that is reached") {
    const std::vector<float> row{.5f, .5f, 0};
    std::vector<Index> asked;
    const auto row_of = [&](Index i) {
        asked.push_back(i);
        return Row::probs(row);
    };
    Workspace workspace;
    const std::vector<Token> tokens{2, 1};
    CHECK(verify(tokens, PointMass{}, Rows(row_of), TokenVerification{}, RoundRng(1, 2, 3), {}, workspace));
    CHECK(asked == std::vector<Index>{0});
    asked.clear();
    CHECK(
        verify(std::vector<Token>{}, PointMass{}, Rows(row_of), TokenVerification{}, RoundRng(1, 2, 3), {}, workspace));
    CHECK(asked == std::vector<Index>{0});
}

TEST_CASE("values that no round can use are refused by a sentence") {
    using Catch::Matchers::Equals;
    const std::vector<float> row{.5f, .5f};
    const std::vector<double> wide{.5, .5};
    const std::vector<Token> ids{0, 1}, tokens{1};
    const Uniform reader;
    Workspace workspace;
    const RoundRng rng(1, 2, 3);
    const auto refused = [](const char* text, auto&& f) {
        CAPTURE(text);
        CHECK_THROWS_WITH(f(), Equals(text));
    };

    refused("specsample::Row::logits: temperature is -1, but must be a finite number >= 0",
            [&] { return Row::logits(row, -1); });
    refused("specsample::Row::sparse: the number of probabilities is 2, but must be that of ids, 1",
            [&] { return Row::sparse(std::span(ids).first(1), Row::probs(row), 5); });
    refused("specsample::Row::sparse: vocab is 1, but must be at least the number of ids, 2",
            [&] { return Row::sparse(ids, Row::probs(row), 1); });
    refused("specsample::Row::sparse: row is sparse itself, but must be dense, by place",
            [&] { return Row::sparse(ids, Row::sparse(ids, Row::probs(row), 2), 5); });
    refused("specsample::Row::sparse: ids is {}, but must be a list",
            [&] { return Row::sparse({}, Row::probs(row), 5); });
    refused("specsample::Row: data is null, but must be the address of 3 of its type", [&] {
        return Row::probs({static_cast<const float*>(nullptr), 3});
    });
    refused(
        "specsample::Row: data is at an address that is no multiple of 4, but must be the address of 1 of its "
        "type",
        [&] {
            const void* odd = reinterpret_cast<const char*>(row.data()) + 1;
            return Row::probs({odd, Row::Scalar::f32, 1});
        });
    refused("specsample::Row: size is -1, but must be at least 0", [&] { return Row::probs({row.data(), -1}); });
    refused("specsample::Row: data is null, but must be the address of 2 of its type",
            [&] { return detail::IdsView(static_cast<const Token*>(nullptr), 2); });
    refused("specsample::Rows: stride is 1, but must be at least the size of a row, 2",
            [&] { return Rows(Row::probs(row), 1, 1); });
    refused("specsample::Rows: count is -1, but must be at least 0", [&] { return Rows(Row::probs(row), -1); });
    for (const Row& other : {Row::probs(reader), Row::sparse(ids, Row::probs(row), 5), Row::logits(row, 1, 0.),
                             Row::probs({row.data(), 1, 2})})
        refused(
            "specsample::Rows: the first row is of another kind, but must be dense, in memory without steps, and "
            "without a stated normaliser",
            [&] { return Rows(other, 1); });
    const Rows rows(Row::probs(row), 1);
    refused("specsample::Rows::slice: begin + count is 2, but must be at most the number of rows, 1",
            [&] { return rows.slice(0, 2); });
    const std::vector<float> sure{1, 0};
    const auto row_of = [&](Index i) { return i == 0 ? Row::probs(sure) : Row::probs(wide); };
    refused("specsample::Rows::slice: the rows is made by a callable, but must be in a list or in memory",
            [&] { return Rows(row_of).slice(0, 1); });
    refused("specsample::verify: the scalar of row 1 is f64, but must be that of row 0, which is read as floats", [&] {
        return verify(std::vector<Token>{0}, PointMass{}, Rows(row_of), TokenVerification{}, rng, {}, workspace);
    });
    refused(
        "specsample::verify: origins[0] is shared_noise, which has no ratio, but must be sampled(row), or the rule a "
        "match rule (GumbelMatch)",
        [&] {
            return verify(tokens, std::vector{Origin::shared_noise()}, Rows(row_of), TokenVerification{}, rng, {},
                          workspace);
        });
    refused(
        "specsample::verify: origins[0] is sampled, for a rule that shares the target's noise, but must be that of "
        "draft_token(rule, ..), or named",
        [&] {
            return verify(tokens, std::vector{Origin::sampled(Row::probs(row))}, Rows(row_of), GumbelMatch{}, rng, {},
                          workspace);
        });
    refused("specsample::Origin::sampled: rest is -1, but must be a finite number of at least 0",
            [&] { return Origin::sampled(Row::probs(row), ids, -1.); });
    for (const Round& round :
         {verify(tokens, std::vector<Origin>(2), Rows(Row::probs(row), 1), TokenVerification{}, rng, {}, workspace),
          verify(tokens, std::vector<Origin>(2), std::vector(2, Row::probs(row)), GumbelMatch{}, rng, {}, workspace),
          verify(tokens, std::vector<Origin>(2), std::vector(2, Row::probs(row)), TokenVerification{}, rng, {},
                 workspace)})
        CHECK(round.fault->cause == Cause::wrong_count);
}

TEST_CASE("scores of values are the scores of types, of chains and of trees") {
    Workspace workspace;
    Scores one, other;
    std::size_t scored = 0;
    const auto same = [](const DraftScore& a, const DraftScore& b) {
        return a.node == b.node && a.token == b.token && a.log_draft == b.log_draft && a.ratio == b.ratio &&
               a.slack == b.slack && a.accepted == b.accepted;
    };
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Dice dice(seed);
        const auto q = numbers_for<float>(dice, 30, true, false, false),
                   p = numbers_for<float>(dice, 30, true, false, false);
        const Row q_value = Row::logits(q.numbers, q.temperature), p_value = Row::logits(p.numbers, p.temperature);
        const auto q_type = WithLogits<float>::typed(q), p_type = WithLogits<float>::typed(p);
        const RoundRng rng(seed, 2, 3);
        for (const std::vector<Index>& parents : {std::vector<Index>{-1, 0}, std::vector<Index>{-1, -1}}) {
            std::vector<Token> tokens;
            std::vector<Sampled<detail::row_view_t<decltype(q_type)>>> distributions;
            std::vector<Origin> origins;
            for (Index i = 0; i < 2; ++i) {
                const auto [token, distribution] = draft_token(TokenVerification{}, rng, i, q_type);
                tokens.push_back(token);
                distributions.push_back(distribution);
                origins.push_back(draft_token(TokenVerification{}, rng, i, q_value).origin);
            }
            const Tree tree{tokens, parents};
            const std::vector values(3, p_value);
            const Round round = verify(tree, origins, values, TokenVerification{}, rng, {}, workspace);
            const auto expected = draft_scores(round, tree, distributions, std::vector(3, p_type), rng, one);
            CHECK(std::ranges::equal(draft_scores(round, tree, origins, values, rng, other), expected, same));
            scored += expected.size();
            if (parents[1] == 0)
                CHECK(std::ranges::equal(draft_scores(round, tokens, origins, values, rng, other), expected, same));
        }
    }
    CHECK(scored > 400);
}

TEST_CASE("a batch of values is judged request by request, and one with bad rows fails alone") {
    const std::vector<float> rows{.5f, .25f, .25f, 0, .5f, .5f, NAN, .5f, .5f, .25f, .25f, .5f};
    const std::vector<Token> token{1};
    const std::vector<Index> first{0, 2, 3, 4};
    const Rows all(Row::probs({rows.data(), 3}), 4);
    BatchWorkspace memory;
    const auto judge = [&](Index i, Workspace& workspace) {
        const auto request = static_cast<std::size_t>(i);
        const Index count = first[request + 1] - first[request];
        return verify(std::span(token).first(i == 0 ? 1 : 0), PointMass{}, all.slice(first[request], count),
                      TokenVerification{}, RoundRng(3, static_cast<std::uint64_t>(i), 0), {}, workspace);
    };
    const auto rounds = verify_batch(3, judge, memory);
    for (Index i = 0; i < 3; ++i) {
        Workspace workspace;
        const Round alone = judge(i, workspace);
        const Round& round = rounds[static_cast<std::size_t>(i)];
        CHECK(std::ranges::equal(round.tokens, alone.tokens));
        CHECK(!round == (i == 1));
    }
    CHECK(message(rounds[1]) == "target row 0 is nan at id 0, but must be finite");
}

TEST_CASE("probabilities of 16 bits that are given as logits are named of values where they are of types") {
    Workspace workspace;
    const auto compare = [&]<class T>(T) {
        int named = 0;
        for (int exponent = 5; exponent < 16; ++exponent) {  // a fourth number, by which the sum is above 1
            const std::vector<T> row{T(.25f), T(.25f), T(.5f), T(std::ldexp(1.f, -exponent))};
            const RoundLimits limits{.check = Check::every_row};
            const RoundRng rng(1, 2, 3);
            const std::string of_types =
                message(verify(std::vector<Token>{}, PointMass{}, std::vector{Logits(std::span(row))}, SampleMatch{},
                               rng, limits, workspace));
            CHECK(message(verify({}, PointMass{}, std::vector{Row::logits(row)}, SampleMatch{}, rng, limits,
                                 workspace)) == of_types);
            named += of_types.empty() ? 0 : 1;
        }
        CHECK((named > 0 && named < 11));
    };
    compare(Eigen::half{});
    compare(Eigen::bfloat16{});
}
