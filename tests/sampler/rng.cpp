// The number of random draws of a round: one per drafted token, one per token tested, one for the last token. An engine
// that owns its generator can rely on it.
#include <map>
#include <random>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

const ContextModel draft(6, 71), target(6, 72);

/// The keyed RNG, with a count per purpose of the random numbers used.
class Counting {
  public:
    explicit Counting(const RoundRng& rng) : rng_(rng) {}

    struct Tossed {
        Rng random;
        long* count;

        double uniform() const {
            ++*count;
            return random.uniform();
        }
    };

    Tossed at(Purpose purpose, Index node) const { return {rng_.at(purpose, node), &counts_[purpose]}; }
    long count(Purpose purpose) const { return counts_[purpose]; }

  private:
    RoundRng rng_;
    mutable std::map<Purpose, long> counts_;
};

/// Another generator, with a count of the numbers taken from it.
template <class Generator>
struct Counted {
    using result_type = typename Generator::result_type;

    Generator generator;
    long count = 0;

    static constexpr result_type min() { return Generator::min(); }
    static constexpr result_type max() { return Generator::max(); }
    result_type operator()() {
        ++count;
        return generator();
    }
};

}  // namespace

TEST_CASE("a round takes a draw per drafted token, one per decision, and one for the last token") {
    for (Index lookahead = 0; lookahead <= 4; ++lookahead) {
        Sampler sampler(draft, target, {.lookahead = lookahead});
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            const Counting rng(RoundRng(seed, 0, 0));
            const Round round = sampler.step({}, {}, rng);
            CHECK(rng.count(Purpose::draft) == lookahead);
            CHECK(rng.count(Purpose::accept) == round.evaluated);
            CHECK(rng.count(Purpose::last) == 1);
            CHECK(round.evaluated == round.accepted + (round.last == LastToken::recovered ? 1 : 0));
        }
    }
}

TEST_CASE("a round that a budget cuts takes no last-token draw") {
    Sampler sampler(target, target, {.lookahead = 4});
    const Counting rng(RoundRng(1, 0, 0));
    const Round round = sampler.step({}, {.max_new_tokens = 2}, rng);
    CHECK(round.tokens.size() == 2);
    CHECK(rng.count(Purpose::accept) == 2);
    CHECK(rng.count(Purpose::last) == 0);
}

TEST_CASE("a drafted point mass takes no draft draw") {
    const auto greedy = [](std::span<const Token> prefix) { return static_cast<Token>(argmax(draft(prefix))); };
    Sampler sampler(greedy, target, {.lookahead = 4});
    const Counting rng(RoundRng(1, 0, 0));
    const Round round = sampler.step({}, {}, rng);
    CHECK(rng.count(Purpose::draft) == 0);
    CHECK(rng.count(Purpose::accept) == round.evaluated);
}

TEMPLATE_TEST_CASE("every random number takes a fixed number of calls of the caller's generator", "", std::mt19937,
                   std::mt19937_64, std::minstd_rand) {
    constexpr long draws = std::is_same_v<TestType, std::mt19937_64> ? 1 : 2;
    static_assert(GeneratorRng<TestType>::draws == draws);
    Counted<TestType> generator{TestType(5)};
    Sampler sampler(draft, target, {.lookahead = 4});
    std::vector<Token> text;
    for (int i = 0; i < 50; ++i) {
        generator.count = 0;
        const Round round = sampler.step(text, {}, GeneratorRng(generator));
        CHECK(generator.count == draws * (4 + round.evaluated + 1));
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
}

// Ten thousand tokens of known probabilities, within five standard deviations: a false alarm in two million.
TEMPLATE_TEST_CASE("a text with the caller's generator has the target's frequencies", "", std::mt19937, std::mt19937_64,
                   std::minstd_rand) {
    const Eigen::VectorXd p{{0.5, 0.3, 0.2}}, q{{0.2, 0.3, 0.5}};
    TestType generator(1);
    Sampler sampler(FixedModel{q}, FixedModel{p}, {.lookahead = 2});
    Eigen::VectorXd counts = Eigen::VectorXd::Zero(3);
    double total = 0;
    while (total < 10000) {
        const Round round = sampler.step({}, {}, GeneratorRng(generator));
        for (const Token token : round.tokens) counts[token] += 1;
        total += static_cast<double>(round.tokens.size());
    }
    for (Index i = 0; i < 3; ++i) CHECK(std::abs(counts[i] - total * p[i]) < 5 * std::sqrt(total * p[i] * (1 - p[i])));
}
