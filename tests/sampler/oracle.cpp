// The published algorithm, written again in plain C++: on the same uniforms it must emit the same tokens.
#include <numeric>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

using Probs = std::vector<double>;

/// The first entry at which the cumulative sum exceeds u times the total.
Token inverse_cdf(const Probs& weights, double u) {
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        sum += weights[i] / total;
        if (u < sum) return static_cast<Token>(i);
    }
    return static_cast<Token>(weights.size() - 1);
}

/// One round as in the paper (Leviathan et al. 2023, algorithm 1), for a given draft.
struct Textbook {
    std::vector<Token> tokens;
    std::size_t accepted = 0;

    Textbook(const std::vector<Token>& drafted, const std::vector<Probs>& q, const std::vector<Probs>& p,
             const Probs& u_accept, double u_last) {
        for (; accepted < drafted.size(); ++accepted) {
            const auto x = static_cast<std::size_t>(drafted[accepted]);
            const double ratio = p[accepted][x] / q[accepted][x];
            if (!(u_accept[accepted] < ratio)) break;
            tokens.push_back(drafted[accepted]);
        }
        Probs last = p[accepted];
        if (accepted < drafted.size())
            for (std::size_t i = 0; i < last.size(); ++i) last[i] = std::max(0.0, last[i] - q[accepted][i]);
        tokens.push_back(inverse_cdf(last, u_last));
    }
};

/// Uniforms of a test, all different.
struct Uniforms {
    std::uint64_t seed;
    std::uint32_t count = 0;

    double operator()() { return Rng({.seed = seed}).uniform(count++); }
};

Probs random_row(std::size_t vocab, Uniforms& uniform) {
    const bool with_zeros = uniform() < 0.3;
    const double power = uniform() < 0.5 ? 1 : 6;
    Probs row(vocab);
    for (double& x : row) x = with_zeros && uniform() < 0.4 ? 0 : std::pow(uniform(), power);
    row[static_cast<std::size_t>(uniform() * static_cast<double>(vocab))] += 0.05;
    const double total = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& x : row) x /= total;
    return row;
}

/// A round with all its inputs.
struct Script {
    std::vector<Token> drafted;
    std::vector<Probs> q, p;
    Probs u_draft, u_accept;
    double u_last;
    ScriptedRng rng;

    explicit Script(std::uint64_t seed) {
        Uniforms uniform{seed};
        const auto vocab = static_cast<std::size_t>(1 + uniform() * 50);
        const auto lookahead = static_cast<Index>(uniform() * 6);
        for (Index i = 0; i < lookahead; ++i) {
            q.push_back(random_row(vocab, uniform));
            p.push_back(uniform() < 0.1 ? q.back() : random_row(vocab, uniform));
            u_draft.push_back(uniform());
            u_accept.push_back(uniform());
            drafted.push_back(inverse_cdf(q.back(), u_draft.back()));
            rng.set(Purpose::draft, i, u_draft.back()).set(Purpose::accept, i, u_accept.back());
        }
        p.push_back(random_row(vocab, uniform));
        u_last = uniform();
        rng.set(Purpose::last, 0, u_last);
    }

    Textbook textbook() const { return {drafted, q, p, u_accept, u_last}; }
};

std::vector<Token> tokens_of(const Round& round) { return {round.tokens.begin(), round.tokens.end()}; }

}  // namespace

TEST_CASE("verify emits the textbook's tokens on 20000 random rounds") {
    Workspace workspace;
    std::vector<int> ends(7);
    int different = 0;
    for (std::uint64_t seed = 0; seed < 20000; ++seed) {
        const Script script(seed);
        const Textbook textbook = script.textbook();
        const auto distributions = [&](Index i) { return Sampled(script.q[static_cast<std::size_t>(i)]); };
        const Round round = verify(script.drafted, distributions, script.p, TokenVerification{}, script.rng,
                                   {.check = Check::every_row}, workspace);
        REQUIRE(round);
        different += tokens_of(round) != textbook.tokens || round.accepted != static_cast<Index>(textbook.accepted);
        ++ends[textbook.accepted];
    }
    CHECK(different == 0);
    for (std::size_t accepted = 0; accepted <= 5; ++accepted) CHECK(ends[accepted] > 100);
}

TEST_CASE("a sampler drafts and emits the textbook's tokens on the same uniforms") {
    int different = 0;
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
        const Script script(seed);
        const auto draft = [&](std::span<const Token> prefix) { return script.q.at(prefix.size()); };
        const auto target = [&](std::span<const Token> prefix) { return script.p.at(prefix.size()); };
        Sampler sampler(draft, target, {.lookahead = std::ssize(script.drafted)});
        const Round round = sampler.step({}, {}, script.rng);
        different += tokens_of(round) != script.textbook().tokens;
    }
    CHECK(different == 0);
}

TEST_CASE("a drafted point mass is judged as the textbook judges a one-hot draft") {
    Workspace workspace;
    int different = 0;
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
        Script script(seed);
        for (std::size_t i = 0; i < script.q.size(); ++i) {
            std::ranges::fill(script.q[i], 0);
            script.q[i][static_cast<std::size_t>(script.drafted[i])] = 1;
        }
        const Round round =
            verify(script.drafted, PointMass{}, script.p, TokenVerification{}, script.rng, {}, workspace);
        different += tokens_of(round) != script.textbook().tokens;
    }
    CHECK(different == 0);
}
