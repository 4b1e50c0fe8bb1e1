// Random numbers that are used for two decisions: the exact distance of the text from the target.
#include "exactness/wrong_rules.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::kernels;

namespace {

const FixedModel target{row({.4, .4, .2})}, draft{row({.1, .3, .6})};

/// Token verification of one token, with a choice of which random numbers are used twice.
struct Noise {
    enum class Reuse {
        none,
        draft_as_accept,  ///< the uniform that drew the token judges it
        accept_as_last,   ///< the uniform that rejected it draws the recovered token
        race_as_last      ///< the exponentials that drew the token draw the recovered one
    } reuse = Reuse::none;

    static constexpr bool lossless = true;  // so it claims

    template <class T>
    Outcome operator()(const T& context) const {
        const ChainRows rows(context);
        const double s = rows.p[0][rows.x[0]], q = rows.q[0][rows.x[0]];
        const Purpose judges = reuse == Reuse::draft_as_accept ? Purpose::draft : Purpose::accept;
        if (accept(context.rng.at(judges, 0), s, q)) return chain_end(context, rows, 1, {});
        const Eigen::VectorXd residual = positive(rows.p[0] - rows.q[0]);
        const RowWeights weights(detail::as_row(residual));
        Outcome outcome{.last = LastToken::recovered};
        if (reuse == Reuse::race_as_last) {
            outcome.token = static_cast<Token>(race(context.rng.at(Purpose::race, 0), weights));
        } else {
            const Purpose draws = reuse == Reuse::accept_as_last ? Purpose::accept : Purpose::last;
            outcome.token = static_cast<Token>(draw(context.rng.at(draws, 0), weights).index);
        }
        return outcome;
    }
};

/// Draws by a race whose noise it does not share: the distribution is the row that it drew from.
struct RacesAlone {
    using Distribution = Mixed<RememberedView>;
    Remembered model;

    template <class Source>
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<Distribution>& draft_tree) const {
        if (!draft_tree.grows(root_node)) return;
        const Eigen::VectorXd& row = model(prefix);
        draft_tree.add(root_node, race(rng.at(Purpose::race, 0), RowWeights(detail::as_row(row))), Sampled(row));
    }
};

/// The distribution of a round's first token, with the RNG make(paths) on every path.
template <class Draft, class Make>
Eigen::Vector3d first_token(Noise::Reuse reuse, const Draft& drafter, const FixedModel& model, const Make& make) {
    Eigen::Vector3d distribution = Eigen::Vector3d::Zero();
    Sampler sampler(drafter, model, {.lookahead = 1}, Noise{reuse});
    Enumerator().run([&](Enumerator& paths) {
        const Round round = sampler.step(std::vector<Token>{}, {}, make(paths));
        distribution[round.tokens[0]] += paths.probability();
    });
    return distribution;
}

constexpr auto branches = [](Enumerator& paths) { return EnumeratedRng(paths); };

/// Cells fine enough for every decision of a pair of rows.
constexpr auto cells(std::size_t count) {
    return [count](Enumerator& paths) { return CellRng(paths, count); };
}

bool is(const Eigen::Vector3d& distribution, const Eigen::Vector3d& published) {
    return (distribution - published).cwiseAbs().sum() < 1e-12;
}

double tv(const Eigen::Vector3d& distribution, const FixedModel& model) {
    return (distribution - model.row).cwiseAbs().sum() / 2;
}

}  // namespace

TEST_CASE("a verification with a random number per decision is exact, by enumerated branches and by cells") {
    CHECK(tv(first_token(Noise::Reuse::none, draft, target, branches), target) < 1e-14);
    CHECK(tv(first_token(Noise::Reuse::none, draft, target, cells(60)), target) < 1e-12);
    CHECK(tv(first_token(Noise::Reuse::none, ex3_draft, ex3_target, cells(10)), ex3_target) < 1e-12);
    CHECK(tv(first_token(Noise::Reuse::none, RacesAlone{draft}, target, branches), target) < 1e-14);
}

TEST_CASE("a drafting race whose noise also draws the recovered token is 2/45 off") {
    const Eigen::Vector3d distribution = first_token(Noise::Reuse::race_as_last, RacesAlone{draft}, target, branches);
    CHECK(is(distribution, {4. / 9, 16. / 45, 1. / 5}));
    CHECK(tv(distribution, target) == Approx(2. / 45).epsilon(1e-12));
}

TEST_CASE("an acceptance whose random number also draws the recovered token is 1/20 off") {
    const Eigen::Vector3d distribution = first_token(Noise::Reuse::accept_as_last, draft, target, cells(60));
    CHECK(is(distribution, {7. / 20, 9. / 20, 1. / 5}));
    CHECK(tv(distribution, target) == Approx(1. / 20).epsilon(1e-11));
}

TEST_CASE("a draft whose random number also judges its token is 1/5 off") {
    const Eigen::Vector3d distribution = first_token(Noise::Reuse::draft_as_accept, ex3_draft, ex3_target, cells(10));
    CHECK(is(distribution, {.7, .3, 0}));
    CHECK(tv(distribution, ex3_target) == Approx(1. / 5).epsilon(1e-12));
}

TEST_CASE("a random number that is used twice is reported by the enumerating RNG") {
    CHECK_THROWS_AS(first_token(Noise::Reuse::accept_as_last, draft, target, branches), std::logic_error);
    CHECK_THROWS_AS(first_token(Noise::Reuse::draft_as_accept, draft, target, branches), std::logic_error);
}

// Fixed seed; three frequencies, each beyond six standard errors with probability 2e-9.
TEST_CASE("the keyed RNG gives the same distances, by sampling") {
    constexpr int samples = 300000;
    const auto near = [&](Noise::Reuse reuse, const auto& drafter, const FixedModel& model,
                          const Eigen::Vector3d& published) {
        Sampler sampler(drafter, model, {.lookahead = 1, .seed = 5}, Noise{reuse});
        Eigen::Vector3d distribution = Eigen::Vector3d::Zero();
        for (int request = 0; request < samples; ++request)
            distribution[sampler.step(std::vector<Token>{}, {.request = static_cast<std::uint64_t>(request)})
                             .tokens[0]] += 1;
        distribution /= samples;
        for (Index i = 0; i < 3; ++i)
            if (std::abs(distribution[i] - published[i]) > 6 * std::sqrt(published[i] * (1 - published[i]) / samples))
                return false;
        return true;
    };
    CHECK(near(Noise::Reuse::race_as_last, RacesAlone{draft}, target, {4. / 9, 16. / 45, 1. / 5}));
    CHECK(near(Noise::Reuse::accept_as_last, draft, target, {7. / 20, 9. / 20, 1. / 5}));
    CHECK(near(Noise::Reuse::draft_as_accept, ex3_draft, ex3_target, {.7, .3, 0}));
}
