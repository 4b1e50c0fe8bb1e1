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
    if (is_bad) row.numbers[static_cast<std::size_t>(dice.below(std::ssize(row.numbers)))] = stored<T>(dice.one_in(2) ? NAN : -.5);
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
    const Index vocab = std::array<Index, 6>{1, 2, 5, 40, 600, 1300}[static_cast<std::size_t>(dice.below(6))];
    const Index count = dice.below(5);
    const bool is_tree = dice.one_in(3);
    const bool has_bad = dice.one_in(4);
    const auto parents = is_tree ? random_round::random_parents(count, seed) : random_round::chain_parents(count);

    std::vector<Numbers<typename Q::Scalar>> draft;
    std::vector<Numbers<typename P::Scalar>> target;
    for (Index i = 0; i < count; ++i)
        draft.push_back(numbers_for<typename Q::Scalar>(dice, vocab, Q::are_logits, Q::is_sparse, has_bad && dice.one_in(4)));
    for (Index i = 0; i <= count; ++i)
        target.push_back(numbers_for<typename P::Scalar>(dice, vocab, P::are_logits, P::is_sparse, has_bad && dice.one_in(4)));

    const RoundRng rng(seed, 1, 7);
    std::vector<Token> tokens;
    using Distribution = std::conditional_t<detail::shares_noise<Rule>, SharedNoise, Mixed<QView>>;
    std::vector<Distribution> distributions;
    std::vector<Origin> origins;
    for (Index i = 0; i < count; ++i) {
        const auto& row = draft[static_cast<std::size_t>(i)];
        const auto [token, distribution] = draft_token(rule, rng, i, Q::typed(row));
        const auto [value_token, origin] = draft_token(rule, rng, i, Q::value(row));
        REQUIRE(token == value_token);
        tokens.push_back(dice.one_in(30) ? static_cast<Token>(dice.below(vocab)) : std::max(token, Token{0}));
        switch (dice.below(4)) {
            case 0: distributions.push_back(PointMass{}), origins.push_back(Origin::named()); break;
            case 1:
                if constexpr (!detail::shares_noise<Rule>) {
                    distributions.push_back(Sampled<QView>(Q::typed(row)));
                    origins.push_back(Origin::sampled(Q::value(row)));
                    break;
                }
                [[fallthrough]];
            default: distributions.push_back(distribution), origins.push_back(origin);
        }
    }
    if (has_bad && count > 0 && dice.one_in(2)) draft[0].numbers[0] = stored<typename Q::Scalar>(.25);  // written later

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
    compare_rules<Probs<float>, Probs<float>>(400);
    compare_rules<Probs<double>, Probs<double>>(400);
    compare_rules<Probs<Eigen::half>, Probs<Eigen::bfloat16>>(400);
    compare_rules<Strided<float>, Strided<Eigen::half>>(200);
}

TEST_CASE("logits that are values give the rounds of logits that are types") {
    compare_rules<WithLogits<float>, WithLogits<Eigen::half>>(400);
    compare_rules<WithLogits<double>, WithLogits<double>>(200);
    compare_rules<WithLogits<Eigen::bfloat16>, Normalised<float>>(200);
    compare_rules<Normalised<float>, Probs<float>>(200);
}

TEST_CASE("sparse rows that are values give the rounds of sparse rows that are types") {
    compare_rules<Listed<float, &Numbers<float>::ids>, Listed<float, &Numbers<float>::ids>>(400);
    compare_rules<Listed<double, &Numbers<double>::short_ids>, ListedLogits<double, &Numbers<double>::long_ids>>(200);
    compare_rules<Probs<float>, ListedLogits<float, &Numbers<float>::short_ids>>(200);
    compare_rules<ListedLogits<Eigen::half, &Numbers<Eigen::half>::long_ids>, WithLogits<float>>(200);
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
