// Watermarks: a marked text is the same with any drafts, has the target's distribution over keys, and is told from
// texts that are not marked.
#include <specsample/random/watermark.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

#include <specsample/drafters/draft_token.hpp>
#include <specsample/testing.hpp>
#include <specsample/verify.hpp>

#include "exactness/cases.hpp"
#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;
using watermark::Evidence;
using watermark::Mark;
using watermark::Source;

namespace {

using RowOf = std::function<Eigen::VectorXd(std::span<const Token>)>;

/// What writes a text.
struct Writer {
    RowOf draft, target;
    Mark mark;
    std::uint64_t seed = 0;
    Index lookahead = 3;

    /// Return the tokens after a prompt.
    std::vector<Token> write(std::vector<Token> text, Index length) const {
        const Index prompt = std::ssize(text);
        Workspace workspace;
        while (std::ssize(text) < prompt + length) {
            const Index start = std::ssize(text);
            const Source rng(mark, text, prompt, RoundRng(seed, 0, start), start);
            for (Index i = 0; i < lookahead; ++i) {
                const Eigen::VectorXd row = draft(text);
                text.push_back(draft_token(GumbelMatch{}, rng, i, row).token);
            }
            std::vector<Eigen::VectorXd> rows;
            for (Index i = 0; i <= lookahead; ++i)
                rows.push_back(target(std::span(text).first(static_cast<std::size_t>(start + i))));
            const auto drafted = std::span(text).subspan(static_cast<std::size_t>(start));
            const Round round = verify(drafted, SharedNoise{}, rows, GumbelMatch{}, rng, {}, workspace);
            const std::vector<Token> tokens(round.tokens.begin(), round.tokens.end());
            text.resize(static_cast<std::size_t>(start));
            text.insert(text.end(), tokens.begin(), tokens.end());
        }
        return {text.begin() + prompt, text.begin() + prompt + length};
    }
};

/// Rows that depend on the last few tokens.
RowOf recent(const ContextModel& model, std::size_t tokens) {
    return [model, tokens](std::span<const Token> text) { return model(text.last(std::min(text.size(), tokens))); };
}

}  // namespace

TEST_CASE("a marked text does not depend on drafts") {
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (const Index context : {1, 2}) {
            const RowOf target = recent(ContextModel(5, 1), 2), other = recent(ContextModel(5, 2), 1);
            const Mark mark{.key = 77, .context = context};
            const auto plain = Writer{other, target, mark, seed, 0}.write({0, 1}, 30);
            CHECK(Writer{other, target, mark, seed, 3}.write({0, 1}, 30) == plain);
            CHECK(Writer{target, target, mark, seed, 4}.write({0, 1}, 30) == plain);
        }
}

TEST_CASE("a detector finds the times of the races that a marked text has won") {
    // Of one id, which wins: its arrival is the time of its noise.
    const RoundRng rng(5, 0, 3);
    for (Token id = 0; id < 300; ++id) {
        Eigen::ArrayXd row = Eigen::ArrayXd::Zero(id + 1);
        row[id] = 1;
        Token winner = -1;
        double arrival = 0;
        kernels::race_winners(kernels::RowWeights(row), detail::noise_of(rng.at(Purpose::race, 2)), {&winner, 1},
                              {&arrival, 1});
        CHECK(winner == id);
        CHECK(detail::race_time(rng.at(Purpose::race, 2), id) == Approx(arrival).epsilon(1e-12));
    }
    // The fewer likely tokens there are, the longer the text that it takes.
    const RowOf target = recent(ContextModel(40, 3), 3);
    const Mark mark{.key = 99, .context = 3};
    const auto marked = Writer{target, target, mark, 1}.write({1}, 60);
    const Evidence found = watermark::evidence(mark, marked);
    CHECK(found.positions > 50);
    CHECK(found.p_value() < 1e-6);
    const double elsewhere = watermark::evidence({.key = 98, .context = 3}, marked).p_value();
    CHECK(elsewhere > 1e-3);
}

TEST_CASE("the p-value is the distribution function of a sum of exponential times") {
    CHECK(Evidence{}.p_value() == 1);
    CHECK(Evidence{3, 0}.p_value() == 0);
    CHECK(Evidence{1, .5}.p_value() == Approx(1 - std::exp(-.5)).epsilon(1e-12));
    CHECK(Evidence{3, 2}.p_value() == Approx(1 - std::exp(-2.) * (1 + 2 + 2)).epsilon(1e-12));
    CHECK(Evidence{2, 50}.p_value() == Approx(1).epsilon(1e-12));
    CHECK(Evidence{1000, 700}.p_value() < 1e-20);
    CHECK(Evidence{1000, 700}.p_value() > 1e-40);
    CHECK(Evidence{100000, 100000}.p_value() == Approx(.5).margin(.002));
}

// Then a text's races are independent over keys and seeds, and its probability is the product of what they draw with:
// the target's. All texts are enumerated.
TEST_CASE("no text reads the noise of a position twice, and noise is a function of the tokens before") {
    constexpr Index vocab = 3, length = 7;
    for (const Index context : {1, 2, 3}) {
        const Mark mark{.key = 12345, .context = context};
        std::vector<Token> text;
        std::vector<std::uint64_t> noises;
        Index texts = 0, marked = 0;
        const std::function<void()> extend = [&] {
            const Index size = std::ssize(text);
            if (size == length) {
                std::vector<std::uint64_t> all = noises;
                std::ranges::sort(all);
                if (std::ranges::adjacent_find(all) != all.end()) FAIL("a number is read twice");
                ++texts;
                return;
            }
            const RoundRng plain(9, 0, size);
            noises.push_back(Source(mark, text, 0, plain, size).at(Purpose::race, 0).bits());
            marked += noises.back() != plain.at(Purpose::race, 0).bits();
            for (Token token = 0; token < vocab; ++token) {
                text.push_back(token);
                extend();
                text.pop_back();
            }
            noises.pop_back();
        };
        extend();
        CHECK(texts == 2187);
        CHECK(marked > 0);
    }
}

// Fixed seeds; a false alarm has probability 1e-9.
TEST_CASE("over keys, a marked text has the target's distribution, also where contexts repeat") {
    constexpr int samples = 40000;
    constexpr Index length = 5;
    const ContextModel model(2, 8);
    TextDistribution observed;
    for (int i = 0; i < samples; ++i) {
        const auto seed = static_cast<std::uint64_t>(i);
        const Writer writer{model, model, {.key = 1000003 * seed, .context = 1}, seed, 2};
        ++observed[writer.write({}, length)];
    }
    CHECK(cases::chi_square(observed, joint_distribution(model, length), samples).holds());
}

TEST_CASE("texts that are not marked have p-values that are uniform") {
    const Mark mark{.key = 4, .context = 2};
    const ContextModel model(30, 6);
    std::array<int, 10> counts{};
    constexpr int samples = 2000;
    for (int i = 0; i < samples; ++i) {
        const RoundRng rng(static_cast<std::uint64_t>(i), 1, 0);
        std::vector<Token> text;
        for (Index place = 0; place < 20; ++place)
            text.push_back(static_cast<Token>(draw(rng.at(Purpose::draft, place), model({})).index));
        const double p = watermark::evidence(mark, text).p_value();
        ++counts[static_cast<std::size_t>(std::min(9., 10 * p))];
    }
    double statistic = 0;
    for (const int count : counts) statistic += (count - 200.) * (count - 200.) / 200;
    CHECK(statistic < 58);  // chi-square of 9 degrees of freedom: passed by chance with probability 3e-9
}

TEST_CASE("a source refuses what it cannot mark") {
    static_assert(!std::is_constructible_v<Source, Mark, std::vector<Token>, Index, RoundRng, Index>);  // a temporary
    const std::vector<Token> text{1, 2, 3};
    const RoundRng plain(1, 0, 3);
    CHECK_THROWS_WITH(Source({.context = 0}, text, 0, plain, 3),
                      "specsample::watermark::Source: mark.context is 0, but must be at least 1");
    CHECK_THROWS_WITH(Source({}, text, -1, plain, 3),
                      "specsample::watermark::Source: prompt_size is -1, but must be at least 0");
    CHECK_THROWS_WITH(Source({}, text, 4, plain, 3),
                      "specsample::watermark::Source: round_start is 3, but must be at least prompt_size, 4");
    const Source rng({}, text, 0, plain, 3);
    CHECK_THROWS_WITH(rng.at(Purpose::race, 1),
                      "specsample::watermark::Source: the size of the text is 3, but must be at least 4, with the "
                      "drafted tokens");
    CHECK_THROWS_WITH(rng.at(Purpose::accept, 0),
                      "specsample::watermark::Source: the rule is one that judges by ratios, but must be GumbelMatch, "
                      "whose races can be repeated");
    CHECK(rng.at(Purpose::draft, 1).bits() == plain.at(Purpose::draft, 1).bits());
    CHECK(rng.split(2).at(Purpose::draft, 1).bits() == plain.split(2).at(Purpose::draft, 1).bits());
    CHECK_THROWS_WITH(watermark::evidence({}, std::vector<Token>{1, -1}),
                      "specsample::watermark::evidence: a token is -1, but must be at least 0");
    CHECK(watermark::evidence({}, text).positions == 0);  // shorter than a context and a token
}
