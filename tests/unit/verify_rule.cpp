// The concept Rule, and the example rule of its page.
#include <specsample/verify.hpp>

#include <specsample/testing.hpp>

#include "support/catch.hpp"
#include "support/rules.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

// Line for line in verify/rule.hpp: build.rule_page.
struct SampleAndCompare {
    static constexpr bool lossless = true;

    template <class T>
    Outcome operator()(const T& context) const {
        for (Outcome end;;) {
            walks::NodeRow<T> row(context, end.node);
            const auto rng = context.rng.at(Purpose::last, end.accepted);
            end.token = static_cast<Token>(row.draw_from_row(rng).index);
            end.fault = row.fault();
            const Index child = context.shape.first_child(end.node);
            end.last = child == no_node ? LastToken::bonus : LastToken::matched;
            if (end.fault || child == no_node || context.token(child) != end.token) return end;
            end = {.node = child, .accepted = end.accepted + 1, .last = LastToken::stopped, .token = end.token};
            if (end.accepted == context.limits.max_tokens || context.ends(child)) return end;
        }
    }
};

struct Claims {
    static constexpr bool lossless = false;
};
template <class Answer>
struct Answers : Claims {
    template <class T>
    Answer operator()(const T&) const;
};
struct Changes : Claims {
    template <class T>
    Outcome operator()(const T&);
};
struct WithoutClaim {
    template <class T>
    Outcome operator()(const T&) const;
};

static_assert(Rule<SampleAndCompare> && Rule<Answers<Outcome>> && !Rule<Answers<bool>> && !Rule<Answers<void>>);
static_assert(!Rule<Changes> && !Rule<WithoutClaim> && !Rule<Claims> && !Rule<int>);
static_assert(Rule<SpecInfer> && Rule<TraversalVerification> && Rule<KSeq>);

}  // namespace

TEST_CASE("every rule is a Rule", "[verify]") {
    rules::for_each([](const auto& rule, const char*) { STATIC_REQUIRE(Rule<std::remove_cvref_t<decltype(rule)>>); });
}

TEST_CASE("the rule of the page is exact", "[verify]") {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const ContextModel draft(3, seed), target(3, 50 + seed, RowKind::with_zeros);
        for (Index lookahead = 0; lookahead <= 3; ++lookahead)
            CHECK(distance_from_target(SampleAndCompare{}, draft, target, lookahead) < 1e-12);
    }
}

TEST_CASE("the rule of the page ends where its limits do, and at bad data", "[verify]") {
    const std::vector<float> sure{0, 1}, bad{0, std::nanf("")};
    const std::vector<Token> tokens{1, 1};
    Workspace workspace;
    const auto judged = [&](const std::vector<std::vector<float>>& rows, const RoundLimits& limits) {
        return verify(tokens, PointMass{}, rows, SampleAndCompare{}, RoundRng(1, 2, 3), limits, workspace);
    };
    const std::vector<Token> stops{1};
    CHECK(judged({sure, sure, sure}, {}).last == LastToken::bonus);
    CHECK(judged({sure, sure, sure}, {}).tokens.size() == 3);
    CHECK(judged({sure, sure, sure}, {.max_tokens = 1}).end == RoundEnd::budget);
    CHECK(judged({sure, bad, bad}, {.stop_tokens = stops}).end == RoundEnd::stop_token);
    const Round faulty = judged({sure, bad, sure}, {});
    REQUIRE(faulty.fault);
    CHECK(faulty.fault->row == 1);
    CHECK(faulty.tokens.empty());
}
