// A draft whose rows, removed ids or tokens were overwritten before they are judged is a fault by name; one whose
// memory did not change never is.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <specsample/drafters.hpp>
#include <specsample/lossy.hpp>
#include <specsample/sampler/staged.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/verify/batch.hpp>
#include <specsample/vocabularies.hpp>

#include "support/catch.hpp"
#include "support/rules.hpp"

using namespace specsample;

namespace {

constexpr Index vocab = 5;
constexpr Check checks[] = {Check::entries_read, Check::every_row};

/// Numbers in (0, 1), the same for the same seed: no two rows have one in common.
std::vector<double> random_numbers(std::uint64_t seed) {
    std::vector<double> numbers(vocab);
    for (Index i = 0; i < vocab; ++i)
        numbers[static_cast<std::size_t>(i)] = RoundRng(seed, 0, 0).at(Purpose::policy, i).open_uniform(0);
    return numbers;
}
std::vector<double> random_probs(std::uint64_t seed) {
    std::vector<double> probs = random_numbers(seed);
    double sum = 0;
    for (const double p : probs) sum += p;
    for (double& p : probs) p /= sum;
    return probs;
}

// Memory for one row, written by write(numbers) and read by row(). `logits` is whether the numbers are logits.

template <class Scalar, bool are_logits>
struct Dense {
    static constexpr bool logits = are_logits;
    std::vector<Scalar> memory = std::vector<Scalar>(vocab);
    void write(const std::vector<double>& numbers) {
        std::ranges::transform(numbers, memory.begin(), [](double x) { return static_cast<Scalar>(x); });
    }
    auto row() const {
        if constexpr (are_logits) {
            return Logits(std::span(memory), .7);
        } else {
            return std::span(memory);
        }
    }
};

struct Strided {
    static constexpr bool logits = false;
    struct Candidate {
        int id;
        float p;
    };
    std::vector<Candidate> memory = std::vector<Candidate>(vocab);
    void write(const std::vector<double>& numbers) {
        for (std::size_t i = 0; i < numbers.size(); ++i) memory[i] = {0, static_cast<float>(numbers[i])};
    }
    auto row() const { return member(memory, &Candidate::p); }
};

struct KnownNormaliser {
    static constexpr bool logits = true;
    std::vector<float> memory = std::vector<float>(vocab);
    double log_sum = 0;
    void write(const std::vector<double>& numbers) {
        std::ranges::transform(numbers, memory.begin(), [](double x) { return static_cast<float>(x); });
        log_sum = kernels::log_sum_exp(Logits(std::span(memory), .7));
    }
    auto row() const { return Logits(std::span(memory), .7, log_sum); }
};

/// Ids 1 .. vocab - 1 only.
template <bool are_logits>
struct Listed {
    static constexpr bool logits = are_logits;
    std::vector<int> ids;
    std::vector<float> memory;
    void write(const std::vector<double>& numbers) {
        ids.clear();
        memory.clear();
        double sum = 0;
        for (std::size_t i = 1; i < numbers.size(); ++i) sum += numbers[i];
        for (std::size_t i = 1; i < numbers.size(); ++i) {
            ids.push_back(static_cast<int>(i));
            memory.push_back(static_cast<float>(are_logits ? numbers[i] : numbers[i] / sum));
        }
    }
    auto row() const {
        if constexpr (are_logits) {
            return Sparse(std::span(ids), Logits(std::span(memory), .7), vocab);
        } else {
            return Sparse(std::span(ids), std::span(memory), vocab);
        }
    }
};

/// A row that is computed whenever it is read.
struct Computed {
    static constexpr bool logits = false;
    Eigen::ArrayXd memory = Eigen::ArrayXd(vocab);
    void write(const std::vector<double>& numbers) { std::ranges::copy(numbers, memory.data()); }
    auto row() const { return memory * (1 / memory.sum()) + 0 * memory.exp(); }
};

struct ShapedRow {
    static constexpr bool logits = true;
    std::vector<float> given = std::vector<float>(vocab);
    filters::ShapedMemory<float> memory{};
    void write(const std::vector<double>& numbers) {
        std::ranges::transform(numbers, given.begin(), [](double x) { return static_cast<float>(x); });
    }
    auto row() { return shape(Logits(std::span(given), .7), SamplingParams{.top_k = 4}, {}, memory); }
};

struct MappedRow {
    static constexpr bool logits = true;
    std::vector<Token> images = {2, 0, -1, 4, 2};
    vocabularies::IdMap map = vocabularies::IdMap(images, vocab);
    std::vector<float> given = std::vector<float>(vocab);
    filters::ShapedMemory<float> memory{};
    void write(const std::vector<double>& numbers) {
        std::ranges::transform(numbers, given.begin(), [](double x) { return static_cast<float>(x); });
    }
    auto row() { return vocabularies::push_forward(map, Logits(std::span(given), .7), memory); }
};

/// A chain of two tokens, drawn from two buffers or from one that is written twice.
template <class Kind, class Rule>
struct Chain {
    using R = decltype(std::declval<Kind&>().row());
    std::array<Kind, 2> buffers{};
    std::vector<Token> tokens;
    std::vector<DraftedFrom<R, Rule>> distributions;

    Chain(const Rule& rule, const RoundRng& rng, std::uint64_t seed, bool shared) {
        for (Index i = 0; i < 2; ++i) {
            Kind& buffer = buffers[shared ? 0 : static_cast<std::size_t>(i)];
            const std::uint64_t row_seed = 2 * seed + static_cast<std::uint64_t>(i);
            buffer.write(Kind::logits ? random_numbers(row_seed) : random_probs(row_seed));
            const auto row = buffer.row();
            const auto [token, distribution] = draft_token(rule, rng, i, row);
            tokens.push_back(token);
            distributions.push_back(distribution);
        }
    }
};

RowMajorMatrix<float> uniform_rows(Index count) { return RowMajorMatrix<float>::Constant(count, vocab, 1.f / vocab); }

template <class F>
void for_ratio_rules(const F& f) {
    f(TokenVerification{});
    f(BlockVerification{});
    f(RecursiveRejection{});
    f(TraversalVerification{});
}

}  // namespace

TEMPLATE_TEST_CASE("two drafted rows in one buffer are a fault that says so, and rows of their own never are", "",
                   (Dense<float, false>), (Dense<double, false>), (Dense<Eigen::half, false>),
                   (Dense<Eigen::bfloat16, false>), (Dense<float, true>), (Dense<double, true>),
                   (Dense<Eigen::half, true>), (Dense<Eigen::bfloat16, true>), Strided, KnownNormaliser, Listed<false>,
                   Listed<true>, Computed, ShapedRow, MappedRow) {
    const RowMajorMatrix<float> target = uniform_rows(3);
    Workspace workspace;
    Index faults = 0, rounds = 0;
    for_ratio_rules([&](const auto& rule) {
        using Rule = std::remove_cvref_t<decltype(rule)>;
        for (std::uint64_t seed = 0; seed < 100; ++seed)
            for (const Check check : checks) {
                const RoundRng rng(seed, 0, 5);
                const Chain<TestType, Rule> good(rule, rng, seed, false), bad(rule, rng, seed, true);
                const RoundLimits limits{.check = check};
                const Round round = verify(good.tokens, good.distributions, target, rule, rng, limits, workspace);
                CAPTURE(message(round));
                REQUIRE(round);
                const Round faulty = verify(bad.tokens, bad.distributions, target, rule, rng, limits, workspace);
                ++rounds;
                if (!faulty) {
                    ++faults;
                    CHECK(faulty.fault->side == Side::draft);
                    CHECK(faulty.fault->row == 0);
                    // Half precision and merged ids repeat a number now and then; then a sum may tell.
                    if (faulty.fault->cause != Cause::not_normalised) CHECK(faulty.fault->cause == Cause::row_changed);
                }
            }
    });
    CHECK(faults >= rounds - rounds / 20);
}

TEST_CASE("the fault says what the row gave, what it gives, and what to do") {
    std::vector<float> row{.5f, .5f, 0, 0, 0};
    const RoundRng rng(1, 2, 3);
    const auto [token, distribution] = draft_token(TokenVerification{}, rng, 0, row);
    row = {.25f, .25f, .25f, .25f, 0};
    Workspace workspace;
    const Round round =
        verify(std::array{token}, std::array{distribution}, uniform_rows(2), TokenVerification{}, rng, {}, workspace);
    CHECK(message(round) == "draft row 0 has entry 0.25 at token " + std::to_string(token) +
                                ", which was drawn when the entry was 0.5, but must stay as it was until the round "
                                "ends: give every drafted row a buffer of its own");
    CHECK(round.counts().fault == Cause::row_changed);
}

TEST_CASE("an engine that reuses one buffer for all logits never gets a text") {
    const std::vector<double> target_logits{0, .7, 1.1, 1.4, 0};
    std::vector<float> buffer(vocab), target(vocab);
    std::ranges::transform(target_logits, target.begin(), [](double x) { return static_cast<float>(x); });
    Workspace workspace;
    Index good = 0;
    for (std::uint64_t request = 0; request < 2000; ++request) {
        const RoundRng rng(1, request, 0);
        std::vector<Token> tokens;
        std::vector<DraftedFrom<Logits<std::span<float>>, TokenVerification>> distributions;
        for (Index i = 0; i < 2; ++i) {
            for (std::size_t id = 0; id < buffer.size(); ++id)
                buffer[id] = i == 0 ? 0 - static_cast<float>(id) : 2 * target[id];
            const auto [token, distribution] = draft_token(TokenVerification{}, rng, i, Logits(std::span(buffer)));
            tokens.push_back(token);
            distributions.push_back(distribution);
        }
        const auto rows = [&](Index) { return Logits(std::span(target)); };
        // Id 0 has the logit 0 in both rows, so that it takes the sum of the row to tell them apart.
        const bool is_told = tokens[0] != 0;
        for (const Check check : checks) {
            const Round round =
                verify(tokens, distributions, rows, TokenVerification{}, rng, {.check = check}, workspace);
            if (check == Check::every_row || is_told) CHECK_FALSE(round);
            if (is_told) CHECK(round.fault->cause == Cause::row_changed);
            if (check == Check::every_row) good += round ? 1 : 0;
        }
    }
    CHECK(good == 0);
}

TEST_CASE("a buffer that the target writes over the draft's row is a fault") {
    std::vector<float> buffer{.1f, .2f, .3f, .2f, .2f};
    const RoundRng rng(1, 2, 3);
    const auto [token, distribution] = draft_token(TokenVerification{}, rng, 0, buffer);
    std::ranges::copy(std::array{.4f, .1f, .1f, .3f, .1f}, buffer.begin());
    Workspace workspace;
    const Round round = verify(std::array{token}, std::array{distribution}, std::array{buffer, buffer},
                               TokenVerification{}, rng, {}, workspace);
    REQUIRE(round.fault);
    CHECK(round.fault->cause == Cause::row_changed);
}

TEST_CASE("a list of tokens that is used for two drafts is a fault") {
    const std::vector<float> row{.2f, .2f, .2f, .2f, .2f};
    Workspace workspace;
    std::vector<Token> tokens;
    std::vector<DraftedFrom<std::vector<float>, TokenVerification>> first, second;
    for (std::uint64_t request = 0; request < 2; ++request) {
        tokens.clear();
        for (Index i = 0; i < 4; ++i) {
            const auto [token, distribution] = draft_token(TokenVerification{}, RoundRng(1, request, 0), i, row);
            tokens.push_back(token);
            (request == 0 ? first : second).push_back(distribution);
        }
    }
    const auto judged = [&](const auto& distributions, Check check) {
        return verify(tokens, distributions, uniform_rows(5), TokenVerification{}, RoundRng(1, 0, 0), {.check = check},
                      workspace);
    };
    for (const Check check : checks) {
        CHECK(judged(second, check));
        const Round round = judged(first, check);
        REQUIRE(round.fault);
        CHECK(round.fault->cause == Cause::token_changed);
        CHECK_THAT(message(round), ContainsSubstring("the token that was drawn there: give every draft "
                                                     "a list of its own"));
    }
}

TEST_CASE("siblings whose removed ids are overwritten are a fault, and siblings that keep them are not") {
    const std::vector<float> row{.1f, .2f, .3f, .2f, .2f};
    Workspace workspace;
    for (const bool overwritten : {false, true})
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            const RoundRng rng(seed, 0, 0);
            std::vector<Token> ids(3);
            std::vector<DraftedFrom<std::vector<float>, RecursiveRejection>> distributions;
            for (std::size_t i = 0; i < 3; ++i) {
                const auto [token, distribution] = draft_token(RecursiveRejection{}, rng, static_cast<Index>(i), row, 0,
                                                               std::span<const Token>(ids).first(i));
                ids[i] = token;
                distributions.push_back(distribution);
            }
            const std::vector<Token> tokens = ids, parents{-1, -1, -1};
            if (overwritten) std::swap(ids[0], ids[1]);
            const Round round = verify(Tree{tokens, parents}, distributions, uniform_rows(4), RecursiveRejection{}, rng,
                                       {.check = Check::every_row}, workspace);
            CHECK(bool(round) == !overwritten);
            if (overwritten && round.fault) CHECK(round.fault->cause == Cause::removed_changed);
        }
}

TEST_CASE("at temperature 0 any buffer will do: the token alone is remembered") {
    std::vector<float> buffer(vocab);
    Workspace workspace;
    for (const Check check : checks) {
        std::vector<Token> tokens;
        std::vector<DraftedFrom<Logits<std::span<float>>, TokenVerification>> distributions;
        for (Index i = 0; i < 2; ++i) {
            std::ranges::fill(buffer, 0.f);
            buffer[static_cast<std::size_t>(i + 1)] = 1;
            const auto [token, distribution] =
                draft_token(TokenVerification{}, RoundRng(1, 0, 0), i, Logits(std::span(buffer), 0));
            tokens.push_back(token);
            distributions.push_back(distribution);
        }
        CHECK(tokens == std::vector<Token>{1, 2});
        RowMajorMatrix<float> rows = RowMajorMatrix<float>::Zero(3, vocab);
        rows(0, 1) = rows(1, 2) = rows(2, 3) = 1;
        const Round round =
            verify(tokens, distributions, rows, TokenVerification{}, RoundRng(1, 0, 0), {.check = check}, workspace);
        REQUIRE(round);
        CHECK(round.accepted == 2);
    }
}

TEMPLATE_TEST_CASE("a match rule does not read draft rows, unless every row is to be checked", "", SampleMatch,
                   GreedyMatch) {
    const RoundRng rng(3, 0, 0);
    const Chain<Dense<float, false>, TestType> bad(TestType{}, rng, 3, true);
    const RowMajorMatrix<float> target = uniform_rows(3);
    Workspace workspace;
    CHECK(verify(bad.tokens, bad.distributions, target, TestType{}, rng, {}, workspace));
    const Round round =
        verify(bad.tokens, bad.distributions, target, TestType{}, rng, {.check = Check::every_row}, workspace);
    REQUIRE(round.fault);
    CHECK(round.fault->cause == Cause::row_changed);
}

TEST_CASE("a row that has become shorter than its token is refused by its size, and no memory beyond it is read") {
    const std::vector<float> row{0, 0, 0, 0, 1};
    const auto [token, distribution] = draft_token(TokenVerification{}, RoundRng(1, 0, 0), 0, row);
    REQUIRE(token == 4);
    const RowMajorMatrix<float> narrow = RowMajorMatrix<float>::Constant(2, 4, .25f);
    Workspace workspace;
    const Round round = verify(std::array{token}, std::array{distribution}, narrow, TokenVerification{},
                               RoundRng(1, 0, 0), {}, workspace);
    REQUIRE(round.fault);
    CHECK(round.fault->cause == Cause::outside_vocabulary);
    const std::span<const float> two(row.data(), 2);
    Sampled short_row(two);
    short_row.remember(4);  // outside it: nothing is read
    CHECK_FALSE(short_row.change(3, 0));
}

TEST_CASE("a request of a batch whose rows are overwritten fails alone") {
    const RoundRng rng(3, 0, 0);
    const Chain<Dense<float, true>, TokenVerification> good(TokenVerification{}, rng, 3, false),
        bad(TokenVerification{}, rng, 3, true);
    const RowMajorMatrix<float> target = uniform_rows(3);
    BatchWorkspace memory;
    std::vector<decltype(Request{good.tokens, good.distributions, target, TokenVerification{}, rng})> requests;
    for (const auto* chain : {&good, &bad, &good})
        requests.push_back(Request{chain->tokens, chain->distributions, target, TokenVerification{}, rng});
    const auto rounds = verify_batch(requests, memory);
    CHECK(rounds[0]);
    REQUIRE(rounds[1].fault);
    CHECK(rounds[1].fault->cause == Cause::row_changed);
    CHECK(rounds[2]);
}

namespace {

/// A model that promises to keep its rows, and writes all of them into one buffer.
struct OneBuffer {
    static constexpr bool stable_rows = true;
    std::vector<float> buffer = std::vector<float>(vocab);
    std::span<const float> operator()(std::span<const Token> prefix) {
        const auto probs = random_probs(static_cast<std::uint64_t>(prefix.size()));
        std::ranges::transform(probs, buffer.begin(), [](double x) { return static_cast<float>(x); });
        return buffer;
    }
};

/// A drafter that does so.
struct OneBufferDrafter {
    using Distribution = Sampled<detail::Column<float>>;
    OneBuffer model{};
    void propose(std::span<const Token> prefix, const auto& rng, DraftTree<Distribution>& draft_tree) {
        std::vector<Token> text(prefix.begin(), prefix.end());
        for (Index node = root_node; draft_tree.grows(node); text.push_back(draft_tree.token(node))) {
            const std::span<const float> row = model(text);
            node = draft_tree.add(node, draw(rng.at(Purpose::draft, draft_tree.size()), row).index, Sampled(row));
        }
    }
};

template <class Draft, class Rule = TokenVerification>
Cause cause_of(Draft draft, Rule rule = {}) {
    const auto target = [](std::span<const Token>) { return std::vector<float>(vocab, 1.f / vocab); };
    Sampler sampler(std::move(draft), target, {.lookahead = 3, .check = Check::entries_read}, rule);
    try {
        (void)sampler.generate({1}, {.max_new_tokens = 20});
    } catch (const Fault& fault) {
        return fault.fault.cause;
    }
    return Cause::empty;
}

}  // namespace

TEST_CASE("a drafter or model that breaks its promise to keep rows is found, whatever drafts with it") {
    CHECK(cause_of(OneBuffer{}) == Cause::row_changed);
    CHECK(cause_of(OneBuffer{}, BlockVerification{}) == Cause::row_changed);
    CHECK(cause_of(OneBuffer{}, lossy::Lenience{.5}) == Cause::row_changed);
    CHECK(cause_of(ChainDrafter(OneBuffer{})) == Cause::row_changed);
    CHECK(cause_of(TreeDrafter(OneBuffer{}, {2, 2, 1}), TraversalVerification{}) == Cause::row_changed);
    CHECK(cause_of(TreeDrafter(OneBuffer{}, {2, 2, 1}, children::Independent{}), RecursiveRejection{}) ==
          Cause::row_changed);
    CHECK(cause_of(TreeDrafter(OneBuffer{}, {2, 2, 1}, children::GreedyChildren{}), RecursiveRejection{}) ==
          Cause::row_changed);
    CHECK(cause_of(United(OneBuffer{})) == Cause::row_changed);
    CHECK(cause_of(OneBufferDrafter{}) == Cause::row_changed);
    const auto middle = [](std::span<const Token>) { return std::vector<float>(vocab, 1.f / vocab); };
    CHECK(cause_of(StagedDrafter(OneBuffer{}, middle, 3)) == Cause::row_changed);
    CHECK(cause_of(shaped(OneBuffer{}, SamplingParams{.temperature = .9})) == Cause::empty);  // rows are copied
}

TEST_CASE("a stated normaliser that is not the row's own is a fault where every row is checked") {
    const std::vector<float> logits{0, 1, 2, 0, 1};
    const double log_sum = kernels::log_sum_exp(Logits(logits, .7));
    const Logits right(logits, .7, log_sum), wrong(logits, .7, log_sum + .5);
    Workspace workspace;
    const auto judged = [&](const auto& draft, const auto& target, Check check) {
        return verify(std::array{1}, std::array{Sampled(draft)}, std::array{target, target}, TokenVerification{},
                      RoundRng(1, 0, 0), {.check = check}, workspace);
    };
    CHECK(judged(right, right, Check::every_row));
    const Round draft = judged(wrong, right, Check::every_row);
    REQUIRE(draft.fault);
    CHECK(draft.fault->cause == Cause::not_normalised);
    CHECK(draft.fault->side == Side::draft);
    const Round target = judged(right, wrong, Check::every_row);
    REQUIRE(target.fault);
    CHECK(target.fault->side == Side::target);
}
