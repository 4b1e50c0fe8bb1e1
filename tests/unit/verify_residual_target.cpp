// What a rejection leaves of a node: its mass at any weight of the node, the rest that a child is judged by, and what
// is read to draw from it. (exactness/recovered.cpp has the distribution of such draws.)
#include <specsample/values.hpp>
#include <specsample/verify.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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

namespace {

/// The numbers that a round is given: one for acceptances, and a list by lane for the last token.
struct Given {
    double acceptance;
    std::vector<double> last;

    struct At {
        const Given* given;
        bool is_last;
        std::uint32_t first;
        double uniform(std::uint32_t lane = 0) const {
            return is_last ? given->last.at(first + lane) : given->acceptance;
        }
        At from(std::uint32_t lane) const { return {given, is_last, first + lane}; }
    };
    At at(Purpose purpose, Index) const { return {this, purpose == Purpose::last, 0}; }
};

/// Judge one drafted token.
template <class R>
Round judge_one(Token token, const R& draft, const R& target, const Given& numbers, Workspace& memory) {
    const auto row_of = [&](Index) -> const R& { return target; };
    return verify(std::vector{token}, std::vector{Sampled(draft)}, row_of, TokenVerification{}, numbers, {}, memory);
}

constexpr Index large = 2048;  // the smallest vocabulary with an attempt

}  // namespace

TEST_CASE("an attempt decides about rows divided by their sums", "[verify]") {
    std::vector<float> p(large), q(large);
    const double above = 1.0009, below = .9991;
    p[0] = float(.4 * above), p[1] = float(.3 * above), p[2] = float(.3 * above);
    q[0] = float(.8 * below), q[1] = float(.12 * below), q[2] = float(.08 * below);
    Workspace memory;
    // .5 tries token 1, of which a rejection leaves 6 in 10; the pass after it draws token 2 with .99.
    for (const double u : {.1, .59, .5995, .5999, .59999, .60001, .6001, .6005, .61, .7}) {
        CAPTURE(u);
        const Round round = judge_one(0, q, p, {.9, {.5, u, .99}}, memory);
        REQUIRE(round);
        CHECK(round.last == LastToken::recovered);
        CHECK(round.tokens[0] == (u < .6 ? 1 : 2));
    }
}

TEST_CASE("a number that makes a draft's row bad is named where an attempt reads it", "[verify]") {
    const std::vector<float> p(large, 1.f / large);
    Workspace memory;
    const auto cause_of = [&](float odd) {
        std::vector<float> q(large, odd);
        q[5] = .5f;
        const Round round = judge_one(5, q, p, {.9, {.5, .9, .5}}, memory);
        REQUIRE_FALSE(round);
        CHECK(round.fault->side == Side::draft);
        return round.fault->cause;
    };
    CHECK(cause_of(std::numeric_limits<float>::quiet_NaN()) == Cause::not_finite);
    CHECK(cause_of(std::numeric_limits<float>::infinity()) == Cause::not_finite);
    CHECK(cause_of(-.25f) == Cause::negative);
    CHECK(cause_of(1.5f) == Cause::logits);
}

TEST_CASE("of a rejected token's row an attempt reads one number", "[verify]") {
    /// Probabilities that count how many of them are read.
    class Counted final : public RowReader {
      public:
        explicit Counted(const std::vector<float>& row) : row_(row) {}
        Index size() const override { return std::ssize(row_); }
        void read(Index first, std::span<float> out) const override {
            std::copy_n(row_.begin() + first, out.size(), out.begin());
            numbers += std::ssize(out);
        }
        mutable Index numbers = 0;

      private:
        const std::vector<float>& row_;
    };
    constexpr Index vocab = 50000;
    std::vector<float> p(vocab), q(vocab);
    for (Index id = 0; id < vocab; ++id) {
        p[static_cast<std::size_t>(id)] = 2.f * static_cast<float>(id) / (float(vocab) * float(vocab));
        q[static_cast<std::size_t>(id)] = 1.f / float(vocab);
    }
    Workspace memory;
    int recovered = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        const Counted draft(q), target(p);
        const Row q_row = Row::probs(draft), p_row = Row::probs(target);
        const RoundRng rng(seed, 0, 0);
        const std::array origins{Origin::sampled(q_row)};
        const std::array tokens{Token{100}};  // which the target makes unlikely
        draft.numbers = target.numbers = 0;
        const Round round =
            verify(tokens, origins, Rows(std::array{p_row, p_row}), TokenVerification{}, rng, {}, memory);
        REQUIRE(round);
        if (round.last != LastToken::recovered) continue;
        ++recovered;
        CHECK(draft.numbers < 40);  // here an attempt fails with probability 3/4
        CHECK(target.numbers < vocab + 20 * 1024);
    }
    CHECK(recovered > 30);
}
