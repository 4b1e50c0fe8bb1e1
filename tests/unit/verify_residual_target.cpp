// What a rejection leaves of a node: its mass at any weight of the node, and the rest that a child is judged by.
#include <specsample/verify.hpp>

#include <cmath>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;

namespace {

/// Not a rule: it looks at the root, entered with the weight c, before and after its child is rejected.
struct Look {
    static constexpr bool lossless = false;

    double c;
    walks::Ratio* chance;
    walks::Ratio* mass;

    template <class T>
    Outcome operator()(const T& context) const {
        walks::ResidualTarget<T> node(context, root_node, c);
        *chance = node.ratio(0);
        node.reject(0);
        *mass = node.mass();
        return {.last = LastToken::bonus};
    }
};

struct Seen {
    walks::Ratio chance, mass;
};

/// The root of a round of one drafted token.
template <class R, class L>
Seen look(const R& p, Token token, const L& distribution, double c = 1) {
    Seen seen;
    Workspace workspace;
    const std::vector<Token> tokens{token};
    REQUIRE(verify(tokens, std::vector{distribution}, std::vector{p, p}, Look{c, &seen.chance, &seen.mass},
                   RoundRng(1, 0, 0), {}, workspace));
    return seen;
}

}  // namespace

TEMPLATE_TEST_CASE("what a rejection leaves is exact down to a node of weight 2^-102, and finite below", "[verify]",
                   float, double) {
    using Row = std::vector<TestType>;
    const Row p{TestType(.3), TestType(.2), TestType(.5)}, q{TestType(1), TestType(1e-20), TestType(0)};
    for (const double c : {1., 1e-10, 1e-18, 1e-19, 4e-20, 1e-21, 1e-25, 1e-30, 0x1p-102}) {
        INFO("c = " << c);
        const walks::Ratio mass = look(p, 0, Sampled(q), c).mass;
        const double left = std::max(0., .3 - 1 / c) + std::max(0., .2 - 1e-20 / c) + .5;
        CHECK(mass.s == Approx(c * left).epsilon(1e-6));
        CHECK(mass.q == Approx(c * left + 1 - c).epsilon(1e-6));
    }
    for (const double c : {0x1p-103, 1e-37, 1e-38, 1e-39, 1e-45, 1e-100, 1e-300, 1e-309, 1e-320, 5e-324}) {
        INFO("c = " << c);
        const walks::Ratio mass = look(p, 0, Sampled(q), c).mass;
        CHECK(mass.s >= 0);
        CHECK(mass.s <= c);
        CHECK(mass.q == 1);
    }
}

TEMPLATE_TEST_CASE("a child is judged by its rest from 2^-24 on, and as a point mass below", "[verify]", float,
                   double) {
    using Row = std::vector<TestType>;
    const Row p{TestType(.2), TestType(.3), TestType(.5)};
    const std::vector<Token> without{0};
    for (const double rest : {.5, 0x1p-20, 0x1p-24, std::nextafter(0x1p-24, 0.), 1e-9, 1e-30, 1e-40, 0.}) {
        INFO("rest " << rest);
        const auto half = static_cast<TestType>(rest / 2);
        const Row q{TestType(1), half, half};
        // Q(1) = 1/2, or 1: rejecting it leaves token 0 and nothing of token 2, or tokens 0 and 2.
        const bool is_point = rest < 0x1p-24;
        const auto check = [&](const Seen& seen) {
            CHECK(seen.chance.s / seen.chance.q == Approx(is_point ? .3 : .6).epsilon(1e-6));
            CHECK(seen.mass.s == Approx(is_point ? .7 : .2).epsilon(1e-6));
        };
        check(look(p, 1, Sampled(q, without, rest)));
        if (static_cast<double>(half) * 2 == rest) check(look(p, 1, Sampled(q, without)));  // float rounds some
    }
}

TEST_CASE("a token of weight 0 is a fault, unless nothing is left that it could have been drawn from", "[verify]") {
    const std::vector<double> p{.2, .3, .5}, some{.5, 0, .5}, none{1, 0, 0}, little{1, 0, 1e-40};
    const std::vector<Token> without{0}, tokens{1};
    Workspace workspace;
    const auto judge = [&](const auto& distribution) {
        return verify(tokens, std::vector{distribution}, std::vector{p, p}, TokenVerification{}, RoundRng(1, 0, 0), {},
                      workspace);
    };
    CHECK(judge(Sampled(none, without)));
    CHECK(judge(Sampled(none, without, 0.)));
    CHECK(judge(Sampled(little, without)));
    CHECK(judge(Sampled(little, without, 1e-40)));
    for (const Round& round :
         {judge(Sampled(some, without)), judge(Sampled(some, without, .5)), judge(Sampled(none))}) {
        REQUIRE_FALSE(round);
        CHECK(round.fault->cause == Cause::zero_at_token);
    }
}
