// Options out of range are refused by name, and bad rows are faults that name the row: never a hang, never a token.
#include <functional>
#include <limits>

#include "exactness/cases.hpp"
#include "support/catch.hpp"

#include <specsample/lossy.hpp>

using namespace cases;
using namespace specsample::lossy;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

/// A round of two drafted tokens, for tests to spoil.
struct Case {
    std::vector<Token> tokens{0, 2};
    std::vector<Eigen::VectorXd> q{ex3_draft.row, ex3_draft.row};
    std::vector<Eigen::VectorXd> p{ex3_target.row, ex3_target.row, ex3_target.row};

    template <class Rule, class Source>
    Round judge(const Rule& rule, Check check, const Source& rng) const {
        static Workspace workspace;
        std::vector<Sampled<detail::row_view_t<Eigen::VectorXd>>> distributions;
        for (const Eigen::VectorXd& row : q) distributions.emplace_back(row);
        return verify(tokens, distributions, p, rule, rng, {.check = check}, workspace);
    }
};

/// Checks that `use` throws an invalid_argument with this message.
void throws(const std::function<void()>& use, const std::string& message) {
    CHECK_THROWS_AS(use(), std::invalid_argument);
    CHECK_THROWS_WITH(use(), ContainsSubstring(message));
}

/// A rule is refused wherever it is used.
template <class Rule>
void refuses(const Rule& rule, const std::string& message) {
    const Case good;
    const RoundRng rng(1, 2, 3);
    throws([&] { return void(good.judge(rule, Check::every_row, rng)); }, message);
    throws([&] { return void(output_distribution(rule, ex3_draft.row, ex3_target.row)); }, message);
    throws([&] { return void(lossy::chances(rule, ex3_draft.row, ex3_target.row)); }, message);
}

/// A rule of a user's own, which looks at the draft's row.
struct Sure {
    static constexpr bool lossless = false;
    static constexpr auto recovery = Recovery::target;

    void check() const {}
    walks::Ratio chance(DraftedToken& x) const { return decide(x.largest_q() > .5); }
    template <class T>
    Outcome operator()(const T& round) const {
        return lossy::judge(round, *this);
    }
};

using Judge = std::function<Round(const Case& given, Check check)>;

template <class Rule>
Judge judge_by(const Rule& rule) {
    return [rule](const Case& given, Check check) { return given.judge(rule, check, RoundRng(1, 2, 3)); };
}

/// A rule and what is done with it, so that a test is compiled once for all rules.
struct AnyRule {
    Judge judge;
    std::function<Eigen::ArrayXd(const Eigen::VectorXd& q, const Eigen::VectorXd& p)> distribution;
    std::function<std::vector<Token>(Index tokens)> text, text_on_trees;  ///< of one sampler each

    template <LossyRule Rule>
    AnyRule(const Rule& rule)
        : judge(judge_by(rule)), distribution([rule](const Eigen::VectorXd& q, const Eigen::VectorXd& p) {
              return output_distribution(rule, q, p);
          }) {
        const ContextModel draft(3, 1), target(3, 2);
        const auto texts_of = [](auto sampler) {
            return [sampler](Index tokens) mutable {
                return sampler.generate({1, 2}, {.max_new_tokens = tokens}).tokens;
            };
        };
        text = texts_of(Sampler(draft, target, {.lookahead = 3, .seed = 5}, rule));
        text_on_trees = texts_of(Sampler(TreeDrafter(draft, {2, 2}), target, {.lookahead = 2, .seed = 5}, rule));
    }
};

void for_rules(const std::function<void(const std::string& name, const AnyRule& rule)>& f) {
    f("lenience", Lenience{.l = .5});
    f("uniform bound", UniformBound{.b = 1.5});
    f("ratio threshold", RatioThreshold{.t = .8});
    f("cactus", Cactus{.delta = .02});
    f("typical", TypicalAcceptance{});
    f("big little", BigLittle{});
    f("relaxed", RelaxedTopN{.n = 2, .delta = .3});
    f("runner-up", RunnerUp{.margin = .8});
    f("classified", Classified([](DraftedToken& x) { return x.p() > .1; }));
    f("tree thresholds", TreeThresholds{.accumulated = .9});
    f("path heuristic", PathHeuristic{.paths = Paths::sampled});
    f("mentored", Transformed(Mentored{.05}));
    f("mentored, block", Transformed(Mentored{.05, JensenShannon{}}, BlockVerification{}));
    f("fuzzy", Transformed(Fuzzy{.1}));
    f("token v1", Transformed(TokenV1{.1}));
}

}  // namespace

TEST_CASE("options out of range are refused by name") {
    refuses(Lenience{.l = 0}, "specsample::Lenience: l is 0, but must be in (0, 1]");
    refuses(Lenience{.l = 1.5}, "specsample::Lenience: l is 1.5, but must be in (0, 1]");
    refuses(Lenience{.l = not_a_number}, "specsample::Lenience: l is nan, but must be in (0, 1]");
    refuses(UniformBound{.b = 0}, "specsample::UniformBound: b is 0, but must be a positive number");
    refuses(UniformBound{.b = infinity}, "specsample::UniformBound: b is inf, but must be a positive number");
    refuses(RatioThreshold{.t = -1}, "specsample::RatioThreshold: t is -1, but must be a positive number");
    refuses(Cactus{.delta = -.1}, "specsample::Cactus: delta is -0.1, but must be a finite number of at least 0");
    refuses(TypicalAcceptance{.epsilon = -1}, "specsample::TypicalAcceptance: epsilon is -1, but must be");
    refuses(TypicalAcceptance{.delta = infinity}, "specsample::TypicalAcceptance: delta is inf, but must be");
    refuses(BigLittle{.fallback = 1.1}, "specsample::BigLittle: fallback is 1.1, but must be in [0, 1]");
    refuses(BigLittle{.rollback = -1}, "specsample::BigLittle: rollback is -1, but must be");
    refuses(RelaxedTopN{.n = 0}, "specsample::RelaxedTopN: n is 0, but must be at least 1");
    refuses(RelaxedTopN{.n = 2, .delta = -1}, "specsample::RelaxedTopN: delta is -1, but must be");
    refuses(TopKMembership{.k = 0}, "specsample::TopKMembership: k is 0, but must be at least 1");
    refuses(GreedyLenience{.l = 0}, "specsample::GreedyLenience: l is 0, but must be in (0, 1]");
    refuses(RunnerUp{.margin = -1}, "specsample::RunnerUp: margin is -1, but must be a finite number of at least 0");
    refuses(TreeThresholds{.single = 0}, "specsample::TreeThresholds: single is 0, but must be in (0, 1]");
    refuses(TreeThresholds{.accumulated = 2}, "specsample::TreeThresholds: accumulated is 2, but must be in (0, 1]");
    refuses(PathHeuristic{.threshold = -1}, "specsample::PathHeuristic: threshold is -1, but must be");
    refuses(PathHeuristic{.score = nullptr}, "specsample::PathHeuristic: score is null, but must be a function");
    refuses(PathHeuristic{.k = 0}, "specsample::PathHeuristic: k is 0, but must be at least 1");
}

TEST_CASE("a transform's options are refused where it is put in front of a rule") {
    throws([] { Transformed(Mentored{-1}); }, "specsample::Mentored: budget is -1, but must be");
    throws([] { Transformed(Fuzzy{-1}); }, "specsample::Fuzzy: threshold is -1, but must be");
    CHECK_THROWS_WITH(Transformed(Chow{not_a_number}),
                      ContainsSubstring("specsample::Chow: alpha is nan, but must be"));
    throws([] { Transformed(TokenV3{not_a_number}); }, "specsample::TokenV3: alpha is nan");
    Transformed changed(Mentored{.1});
    changed.transform.budget = -1;
    refuses(changed, "specsample::Mentored: budget is -1, but must be");
}

TEST_CASE("every bad row is a fault of its own side under every_row") {
    for_rules([](const std::string& name, const AnyRule& rule) {
        INFO(name);
        CHECK(rule.judge({}, Check::every_row));
        for (std::size_t i = 0; i < 3; ++i)
            for (const double bad : {not_a_number, infinity, -.5}) {
                Case target;
                target.p[i][1] = bad;
                const Round round = rule.judge(target, Check::every_row);
                REQUIRE(round.fault);
                CHECK(round.tokens.empty());
                CHECK(round.fault->side == Side::target);
                CHECK(round.fault->row == static_cast<Index>(i));
                if (i == 2) continue;
                Case draft;
                draft.q[i][1] = bad;
                const Round other = rule.judge(draft, Check::every_row);
                REQUIRE(other.fault);
                CHECK(other.fault->side == Side::draft);
                CHECK(other.fault->row == static_cast<Index>(i));
            }
    });
}

TEST_CASE("a row that decides is checked in full at every level of checks") {
    const auto check_judge = [](const std::string& name, const Judge& judge, bool reads_draft) {
        INFO(name);
        for (const double bad : {not_a_number, infinity}) {
            Case target;
            target.p[0][1] = bad;
            const Round round = judge(target, Check::entries_read);
            REQUIRE(round.fault);
            CHECK(round.fault->side == Side::target);
            CHECK(round.fault->row == 0);
            CHECK(round.fault->cause == Cause::not_finite);
            if (!reads_draft) continue;
            Case draft;
            draft.q[0][1] = bad;
            const Round other = judge(draft, Check::entries_read);
            REQUIRE(other.fault);
            CHECK(other.fault->side == Side::draft);
            CHECK(other.fault->row == 0);
        }
    };
    const auto check = [&](const std::string& name, const auto& rule, bool reads_draft) {
        check_judge(name, judge_by(rule), reads_draft);
    };
    check("mentored", Transformed(Mentored{.05}), true);
    check("mentored, block", Transformed(Mentored{.05}, BlockVerification{}), true);
    check("fuzzy", Transformed(Fuzzy{.1}), true);
    check("chow", Transformed(Chow{.7}), true);
    check("token v2", Transformed(TokenV2{.1}), true);
    check("typical", TypicalAcceptance{}, false);
    check("relaxed", RelaxedTopN{.n = 2, .delta = .3}, false);
    check("runner-up", RunnerUp{.margin = .8}, false);
}

TEST_CASE("residuals of bad rows are faults where they are drawn from") {
    // Token 2 is rejected, and the last token is drawn from a row with a NaN at id 1.
    const auto rng = ScriptedRng().set(Purpose::accept, 0, .999).set(Purpose::last, 0, .5);
    const auto check = [&](const auto& rule, bool draft_too) {
        Case target, draft;
        target.tokens = draft.tokens = {2, 2};
        target.p[0][1] = not_a_number;
        CHECK(target.judge(rule, Check::entries_read, rng).fault);
        draft.q[0][1] = not_a_number;
        if (draft_too) CHECK(draft.judge(rule, Check::entries_read, rng).fault);
    };
    check(Lenience{.l = .8}, true);
    check(UniformBound{.b = 1.5}, true);
    check(RatioThreshold{.t = .8}, true);
    check(Classified([](DraftedToken&) { return false; }), true);
    check(Cactus{.delta = .02}, true);
    check(TreeThresholds{.accumulated = .9}, false);
    check(BigLittle{.rollback = .1}, true);
    check(PathHeuristic{.threshold = .9}, false);
}

TEST_CASE("bad numbers end every search") {
    const Eigen::VectorXd bad = row({not_a_number, .5, .5}), good = ex3_draft.row;
    for_rules([&](const std::string&, const AnyRule& rule) {
        CHECK(rule.distribution(good, bad).size() == 3);
        CHECK(rule.distribution(bad, good).size() == 3);
        CHECK(rule.distribution(bad, bad).size() == 3);
    });
}

TEST_CASE("what a rule costs is found in a few passes over a vocabulary, and for rows without ids") {
    constexpr Index vocab = 200000;
    const Eigen::VectorXd p = Eigen::VectorXd::LinSpaced(vocab, 1, 2) / (1.5 * vocab), q = p.reverse();
    // Each id looks at the entropy, or at the largest entries: by itself that would take an hour.
    CHECK(lossy::chances(TypicalAcceptance{.epsilon = 1, .delta = 1}, q, p).sum() > 0);
    CHECK(lossy::chances(BigLittle{.rollback = 20}, q, p).sum() == vocab);
    CHECK(lossy::chances(GreedyLenience{.l = .5}, q, p).sum() == vocab);
    const Eigen::VectorXd none;
    CHECK(output_distribution(Lenience{.l = .5}, none, none).size() == 0);
    CHECK(lossy::chances(BigLittle{}, none, none).size() == 0);
}

TEST_CASE("a rule of one's own that looks at the row of a token drawn with the target's noise is refused") {
    const std::vector<Token> tokens{0};
    const std::vector<Eigen::VectorXd> rows{ex3_target.row, ex3_target.row};
    Workspace workspace;
    throws([&] { return void(verify(tokens, SharedNoise{}, rows, Sure{}, RoundRng(1, 2, 3), {}, workspace)); },
           "a drafted token's distribution is SharedNoise, which has no row, but must be Sampled{row}");
}

TEST_CASE("a lossy rule is asked for by name, and keeps the round's contract") {
    for_rules([](const std::string& name, const AnyRule& rule) {
        INFO(name);
        const std::vector<Token> text = rule.text(40);
        CHECK(text.size() == 40);
        CHECK(rule.text(40) == text);
        const std::vector<Token> shorter = rule.text(17);
        CHECK(std::equal(shorter.begin(), shorter.end(), text.begin()));
        CHECK(rule.text_on_trees(40).size() == 40);
    });
}
