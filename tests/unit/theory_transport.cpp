// The optimal-transport bounds: known numbers, every subset, a maximum flow, and the rules that must stay below.
#include <specsample/theory/transport.hpp>

#include <array>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include <specsample/drafters/tree.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/testing.hpp>
#include <specsample/verify.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::children;
using namespace specsample::kernels;
using namespace specsample::theory;
using Vector = std::vector<double>;

namespace {

const Vector ex3_target{.5, .3, .2}, ex3_draft{.2, .3, .5};

/// Probabilities by their own noise, a share of them zero, others far apart.
Vector random_row(std::size_t size, std::uint64_t seed, double zeros, double power) {
    const Rng noise({.seed = seed});
    Vector row(size);
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const auto lane = static_cast<std::uint32_t>(i);
        row[i] = noise.uniform(lane + 1000) < zeros ? 0 : std::pow(noise.open_uniform(lane), power);
        sum += row[i];
    }
    if (!(sum > 0)) row[0] = sum = 1;
    for (double& x : row) x /= sum;
    return row;
}

/// Call f(q, p) for random pairs of 1 to 5 tokens.
template <class F>
void for_pairs(int pairs, F&& f) {
    for (int i = 0; i < pairs; ++i) {
        const auto seed = static_cast<std::uint64_t>(2 * i);
        const auto size = 1 + static_cast<std::size_t>(i) % 5;
        const double power = std::array{1., 3., 12.}[static_cast<std::size_t>(i) / 5 % 3];
        INFO("pair " << i);
        f(random_row(size, seed + 1, i % 3 == 0 ? .25 : 0, power), random_row(size, seed, i % 2 == 0 ? .25 : 0, power));
    }
}

/// The distribution of n drafts as sets of tokens: f(set, probability) once per order of the drafts.
template <class F>
void for_drafts(const Vector& q, int n, bool replace, F&& f, std::vector<bool> chosen = {}, double probability = 1) {
    chosen.resize(q.size());
    double left = 0;
    for (std::size_t i = 0; i < q.size(); ++i) left += replace || !chosen[i] ? q[i] : 0;
    if (n == 0 || left == 0) {
        f(chosen, probability);
        return;
    }
    for (std::size_t i = 0; i < q.size(); ++i) {
        if (q[i] == 0 || (!replace && chosen[i])) continue;
        std::vector<bool> next = chosen;
        next[i] = true;
        for_drafts(q, n - 1, replace, f, next, probability * q[i] / left);
    }
}

/// 1 + min over all subsets H of p(H) - P(all drafts lie in H).
double by_subsets(const Vector& q, const Vector& p, int n, bool replace) {
    double least = 0;
    for (unsigned subset = 0; subset < 1u << p.size(); ++subset) {
        const auto has = [&](std::size_t i) { return (subset >> i & 1) == 1; };
        double value = 0;
        for (std::size_t i = 0; i < p.size(); ++i) value += has(i) ? p[i] : 0;
        for_drafts(q, n, replace, [&](const std::vector<bool>& drafts, double probability) {
            bool inside = true;
            for (std::size_t i = 0; i < drafts.size(); ++i) inside &= !drafts[i] || has(i);
            value -= inside ? probability : 0;
        });
        least = std::min(least, value);
    }
    return 1 + least;
}

/// The largest flow from the sets of drafts to the tokens that they hold, at most p at each: the acceptance of an
/// optimal coupling. Augmenting paths, breadth first.
double by_flow(const Vector& q, const Vector& p, int n, bool replace) {
    std::map<std::vector<bool>, double> sets;
    for_drafts(q, n, replace, [&](const std::vector<bool>& drafts, double m) { sets[drafts] += m; });
    const std::size_t tokens = p.size(), nodes = 2 + sets.size() + tokens;
    std::vector capacity(nodes, Vector(nodes, 0));
    std::size_t node = 1;
    for (const auto& [drafts, mass] : sets) {
        capacity[0][node] = mass;
        for (std::size_t i = 0; i < tokens; ++i)
            if (drafts[i]) capacity[node][1 + sets.size() + i] = 2;
        ++node;
    }
    for (std::size_t i = 0; i < tokens; ++i) capacity[node + i][nodes - 1] = p[i];
    for (double flow = 0;;) {
        std::vector<std::size_t> from(nodes, nodes), queue{0};
        from[0] = 0;
        for (std::size_t at = 0; at < queue.size(); ++at)
            for (std::size_t to = 0; to < nodes; ++to)
                if (from[to] == nodes && capacity[queue[at]][to] > 1e-15) {
                    from[to] = queue[at];
                    queue.push_back(to);
                }
        if (from[nodes - 1] == nodes) return flow;
        double more = 1;
        for (std::size_t to = nodes - 1; to != 0; to = from[to]) more = std::min(more, capacity[from[to]][to]);
        for (std::size_t to = nodes - 1; to != 0; to = from[to]) {
            capacity[from[to]][to] -= more;
            capacity[to][from[to]] += more;
        }
        flow += more;
    }
}

/// The exact probability that recursive rejection accepts a child of the root.
template <class Children>
double accepted(const Vector& q, const Vector& p, Index n, const Children& children) {
    const auto model = [](const Vector& row) {
        return testing::FixedModel{Eigen::Map<const Eigen::VectorXd>(row.data(), static_cast<Index>(row.size()))};
    };
    double probability = 0;
    testing::for_rounds(RecursiveRejection{}, TreeDrafter(model(q), {n}, children), model(p), 1,
                        [&](const Round& round, testing::Enumerator& paths) {
                            probability += round.accepted > 0 ? paths.probability() : 0;
                        });
    return probability;
}

}  // namespace

TEST_CASE("the transport bounds of the running example", "[analysis]") {
    CHECK(transport_bound(ex3_draft, ex3_target, 2) == Approx(43. / 50).epsilon(1e-14));
    CHECK(transport_bound(ex3_draft, ex3_target, 3) == Approx(247. / 250).epsilon(1e-14));
    CHECK(transport_bound_without_replacement(ex3_draft, ex3_target, 2) == Approx(69. / 70).epsilon(1e-13));
    CHECK(transport_bound_without_replacement(ex3_draft, ex3_target, 3) == Approx(1).epsilon(1e-14));
    CHECK(transport_bound_greedy(ex3_draft, ex3_target, 2) == Approx(9. / 10).epsilon(1e-14));
    CHECK(transport_bound_greedy(ex3_draft, ex3_target, 3) == Approx(1).epsilon(1e-14));
    CHECK(transport_bound(Vector{.25, .75}, Vector{.75, .25}, 2) == Approx(.6875).epsilon(1e-14));
}

TEST_CASE("with one draft every transport bound is the overlap", "[analysis]") {
    for_pairs(60, [](const Vector& q, const Vector& p) {
        CHECK(transport_bound(q, p, 1) == Approx(acceptance(q, p)).margin(1e-14));
        CHECK(transport_bound_without_replacement(q, p, 1) == Approx(acceptance(q, p)).margin(1e-14));
        CHECK(transport_bound_greedy(q, p, 1) == Approx(acceptance(q, p)).margin(1e-14));
    });
}

TEST_CASE("the transport bounds agree with every subset of tokens", "[analysis]") {
    for_pairs(150, [](const Vector& q, const Vector& p) {
        for (int n = 1; n <= 4; ++n) {
            INFO("n = " << n);
            CHECK(transport_bound(q, p, n) == Approx(by_subsets(q, p, n, true)).margin(1e-13));
            CHECK(transport_bound_without_replacement(q, p, n) == Approx(by_subsets(q, p, n, false)).margin(1e-13));
        }
    });
}

TEST_CASE("the transport bounds agree with a maximum flow from drafts to tokens", "[analysis]") {
    for_pairs(60, [](const Vector& q, const Vector& p) {
        for (int n = 1; n <= 3; ++n) {
            INFO("n = " << n);
            CHECK(transport_bound(q, p, n) == Approx(by_flow(q, p, n, true)).margin(1e-12));
            CHECK(transport_bound_without_replacement(q, p, n) == Approx(by_flow(q, p, n, false)).margin(1e-12));
        }
    });
}

TEST_CASE("recursive rejection stays below the transport bounds and attains the greedy one", "[analysis]") {
    for_pairs(30, [](const Vector& q, const Vector& p) {
        for (Index n = 1; n <= 3; ++n) {
            INFO("n = " << n);
            CHECK(accepted(q, p, n, Independent{}) <= transport_bound(q, p, n) + 1e-13);
            CHECK(accepted(q, p, n, WithoutReplacement{}) <= transport_bound_without_replacement(q, p, n) + 1e-13);
            CHECK(accepted(q, p, n, GreedyChildren{}) == Approx(transport_bound_greedy(q, p, n)).margin(1e-13));
        }
    });
}

TEST_CASE("transport bounds rise with the number of drafts, up to the target's mass on the draft's tokens",
          "[analysis]") {
    for_pairs(60, [](const Vector& q, const Vector& p) {
        double support = 0;
        for (std::size_t i = 0; i < p.size(); ++i) support += q[i] > 0 ? p[i] : 0;
        double with = 0, without = 0;
        for (Index n = 1; n <= 7; ++n) {
            const double next_with = transport_bound(q, p, n), next = transport_bound_without_replacement(q, p, n);
            CHECK(next_with >= with - 1e-13);
            CHECK(next >= without - 1e-13);
            CHECK(next >= next_with - 1e-13);
            CHECK(next <= support + 1e-13);
            with = next_with;
            without = next;
        }
        CHECK(without == Approx(support).margin(1e-13));  // seven drafts are more than q has tokens
        CHECK(transport_bound_greedy(q, p, 7) == Approx(support).margin(1e-13));
    });
}

TEST_CASE("transport bounds are 1 for equal rows and 0 for disjoint ones", "[analysis]") {
    for (const std::size_t size : {1u, 2u, 5u, 1000u}) {
        const Vector p = random_row(size, 5, 0, 3);
        for (Index n = 1; n <= 4; ++n) {
            CHECK(transport_bound(p, p, n) == Approx(1).epsilon(1e-13));
            CHECK(transport_bound_without_replacement(p, p, n) == Approx(1).epsilon(1e-13));
            CHECK(transport_bound_greedy(p, p, n) == Approx(1).epsilon(1e-13));
        }
    }
    const Vector left{.5, .5, 0, 0}, right{0, 0, .25, .75};
    for (Index n = 1; n <= 4; ++n) {
        CHECK(transport_bound(right, left, n) == 0);
        CHECK(transport_bound_without_replacement(right, left, n) == 0);
        CHECK(transport_bound_greedy(right, left, n) == 0);
    }
}

TEST_CASE("drafts without replacement among tokens far apart are bounded to 1e-13", "[analysis]") {
    for (const double tiny : {1e-3, 1e-6, 1e-12, 1e-30, 1e-45}) {
        const Vector q{1 - tiny, .75 * tiny, .25 * tiny};
        INFO("tiny = " << tiny);
        // The best H is the first two tokens. One way into it draws 0 and then 1, where 1 has 3/4 of the rest of q.
        const double inside = (1 - tiny) * .75 + .75 * tiny / (1 - .75 * tiny) * (1 - tiny);
        CHECK(transport_bound_without_replacement(q, Vector{.1, .1, .8}, 2) == Approx(1.2 - inside).margin(1e-13));
    }
}

TEST_CASE("transport bounds of a large vocabulary: two drafts without replacement by their closed form", "[analysis]") {
    const Vector p = random_row(2000, 11, .1, 2), q = random_row(2000, 12, .1, 4);
    std::vector<std::size_t> order(p.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::erase_if(order, [&](std::size_t i) { return q[i] == 0; });
    std::ranges::sort(order, {}, [&](std::size_t i) { return p[i] / q[i]; });
    double mass = 0, all = 0, ratio = 0, square = 0, least = 0;
    for (const std::size_t i : order) {
        const double a = q[i] / (1 - q[i]);
        mass += p[i], all += q[i], ratio += a, square += a * q[i];
        least = std::min(least, mass - (all * ratio - square));
    }
    CHECK(transport_bound_without_replacement(q, p, 2) == Approx(1 + least).margin(1e-12));
    CHECK(transport_bound_without_replacement(q, p, 2) >= transport_bound(q, p, 2));
    CHECK(transport_bound_without_replacement(q, p, 50) >= transport_bound_without_replacement(q, p, 2));
}

TEST_CASE("transport bounds take rows of any kind", "[analysis]") {
    const Eigen::Vector3d p(.5, .3, .2);
    const Eigen::RowVector3f q(.2f, .3f, .5f);
    const std::array<float, 3> memory{.2f, .3f, .5f};
    CHECK(transport_bound(q, p, 2) == Approx(.86).epsilon(1e-6));
    CHECK(transport_bound(std::span<const float>(memory), p, 2) == Approx(.86).epsilon(1e-6));
    CHECK(transport_bound(memory, 0.5 * (p + p), 2) == Approx(.86).epsilon(1e-6));
    CHECK(transport_bound_without_replacement(q, p, 2) == Approx(69. / 70).epsilon(1e-6));
    CHECK(transport_bound_without_replacement((2 * q).eval(), p, 2) == Approx(69. / 70).epsilon(1e-6));
    CHECK(transport_bound_greedy(q, p.cast<Eigen::half>(), 2) == Approx(.9).epsilon(1e-2));
}

TEST_CASE("transport bounds refuse rows of two sizes and no draft", "[analysis]") {
    const Vector two{.5, .5};
    CHECK_THROWS_WITH(transport_bound(two, ex3_target, 2),
                      "specsample::transport_bound: the draft row's size is 2, but must be the target row's, 3");
    CHECK_THROWS_WITH(transport_bound_without_replacement(ex3_draft, two, 1),
                      "specsample::transport_bound_without_replacement: the draft row's size is 3, but must be the "
                      "target row's, 2");
    CHECK_THROWS_AS(transport_bound_greedy(ex3_draft, two, 1), std::invalid_argument);
    CHECK_THROWS_WITH(transport_bound(two, two, 0), "specsample::transport_bound: drafts is 0, but must be 1 or more");
    CHECK_THROWS_AS(transport_bound_without_replacement(two, two, 0), std::invalid_argument);
    CHECK_THROWS_AS(transport_bound_greedy(two, two, -1), std::invalid_argument);
}

TEST_CASE("transport bounds of rows that are none: nothing drafted is 0, a NaN stays one", "[analysis]") {
    const Vector none{0, 0}, half{.5, .5}, bad{.5, std::numeric_limits<double>::quiet_NaN()};
    for (Index n = 1; n <= 3; ++n) {
        CHECK(transport_bound(none, half, n) == 0);
        CHECK(transport_bound_without_replacement(none, half, n) == 0);
        CHECK(transport_bound_greedy(none, half, n) == 0);
        CHECK(transport_bound(Vector{}, Vector{}, n) == 0);
    }
    CHECK(std::isnan(transport_bound(half, bad, 2)));
    CHECK(std::isnan(transport_bound_without_replacement(half, bad, 2)));
}

TEST_CASE("the bound without replacement takes ids that are hardly drafted for ids that are not", "[theory]") {
    const Vector p{.2, .3, .5};
    const double without = transport_bound_without_replacement(Vector{.5, .5, 0}, p, 2);
    for (const double t : {1e-50, 1e-299, 1.1e-300, 9e-301, 1e-305, 1e-308, 1e-310, 5e-324})
        CHECK(transport_bound_without_replacement(Vector{.5, .5, t}, p, 2) == Approx(without).epsilon(1e-13));
    CHECK(transport_bound_without_replacement(Vector{1, 1e-200, 2e-200}, p, 2) ==
          Approx(transport_bound_without_replacement(Vector{1, 1e-20, 2e-20}, p, 2)).epsilon(1e-12));
}
