// Rules: what they claim, and which distributions they judge.
#include <array>
#include <vector>

#include <specsample/drafters.hpp>
#include <specsample/lossy.hpp>
#include <specsample/random.hpp>
#include <specsample/sampler.hpp>
#include <specsample/verify.hpp>
#include <specsample/verify/batch.hpp>

// case: rule_that_is_not_const
// A rule is called by several threads at once: it must not change.
// expect: error: static assertion failed.*specsample::Rule: a rule must be callable with a context
namespace rule_that_is_not_const {

using namespace specsample;

struct Never {
    static constexpr bool lossless = false;
    template <class T>
#ifdef FIXED
    Outcome operator()(const T&) const {
        return {};
    }
#else
    Outcome operator()(const T&) {
        return {};
    }
#endif
};

int program() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
    const auto round =
        verify(tokens, PointMass{}, std::array{row, row}, Never{}, RoundRng(1, 2, 3), RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace rule_that_is_not_const

// case: rule_that_returns_a_bool
// A rule says more than yes or no.
// expect: error: static assertion failed.*specsample::Rule: rule.context. must return a specsample::Outcome
namespace rule_that_returns_a_bool {

using namespace specsample;

struct Never {
    static constexpr bool lossless = false;
    template <class T>
#ifdef FIXED
    Outcome operator()(const T&) const {
        return {};
    }
#else
    bool operator()(const T&) const {
        return false;
    }
#endif
};

int program() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
    const auto round =
        verify(tokens, PointMass{}, std::array{row, row}, Never{}, RoundRng(1, 2, 3), RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace rule_that_returns_a_bool

// case: rule_without_a_claim
// A rule says whether it is lossless.
// expect: error: static assertion failed.*specsample::Rule: a rule must say whether it keeps the target.s distribution;
// write static constexpr bool lossless
namespace rule_without_a_claim {

using namespace specsample;

struct Never {
#ifdef FIXED
    static constexpr bool lossless = false;
#endif
    template <class T>
    Outcome operator()(const T&) const {
        return {};
    }
};

int program() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
    const auto round =
        verify(tokens, PointMass{}, std::array{row, row}, Never{}, RoundRng(1, 2, 3), RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace rule_without_a_claim

// case: shared_noise_drafter_under_block_verification
// A drafter that draws with the target's own noise, in a Sampler with a rule that judges by a ratio.
// expect: error: static assertion failed.*specsample::verify: a token .* .SharedNoise. has no ratio; judge it by a
// match rule
namespace shared_noise_drafter_under_block_verification {

using namespace specsample;
using namespace specsample::kernels;

struct SharedNoiseDrafter {
    using Distribution = SharedNoise;
    std::vector<float> row{.5f, .5f};

    template <class Source>
    void propose(std::span<const Token>, const Source& rng, DraftTree<SharedNoise>& draft_tree) {
        Index node = root_node;
        while (draft_tree.grows(node)) {
            const auto random = rng.at(Purpose::race, draft_tree.depth(node));
            node = draft_tree.add(node, race(random, RowWeights(detail::as_row(row))), SharedNoise{});
        }
    }
};

int program() {
    const auto target = [](std::span<const Token>) -> Eigen::VectorXd { return Eigen::VectorXd::Constant(2, .5); };
#ifdef FIXED
    Sampler sampler(SharedNoiseDrafter{}, target, {}, GumbelMatch{});
#else
    Sampler sampler(SharedNoiseDrafter{}, target, {}, BlockVerification{});
#endif
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}

}  // namespace shared_noise_drafter_under_block_verification

// case: shared_noise_drafter_under_token_verification
// A drafter that draws with the target's own noise, in a Sampler with a rule that judges by a ratio.
// expect: error: static assertion failed.*specsample::verify: a token .* .SharedNoise. has no ratio; judge it by a
// match rule
namespace shared_noise_drafter_under_token_verification {

using namespace specsample;
using namespace specsample::kernels;

struct SharedNoiseDrafter {
    using Distribution = SharedNoise;
    std::vector<float> row{.5f, .5f};

    template <class Source>
    void propose(std::span<const Token>, const Source& rng, DraftTree<SharedNoise>& draft_tree) {
        Index node = root_node;
        while (draft_tree.grows(node)) {
            const auto random = rng.at(Purpose::race, draft_tree.depth(node));
            node = draft_tree.add(node, race(random, RowWeights(detail::as_row(row))), SharedNoise{});
        }
    }
};

int program() {
    const auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
#ifdef FIXED
    Sampler sampler(SharedNoiseDrafter{}, target, {}, GumbelMatch{});
#else
    Sampler sampler(SharedNoiseDrafter{}, target, {}, TokenVerification{});
#endif
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}

}  // namespace shared_noise_drafter_under_token_verification

// case: shared_noise_under_block_verification
// A token drawn with the target's own noise, before a rule that judges by a ratio.
// expect: error: static assertion failed.*specsample::verify: a token .* .SharedNoise. has no ratio; judge it by a
// match rule
namespace shared_noise_under_block_verification {

using namespace specsample;

int program() {
    const std::vector<Token> tokens{1};
    const std::vector<std::vector<double>> rows{{.5, .5}, {.5, .5}};
    Workspace workspace;
#ifdef FIXED
    const GumbelMatch rule;
#else
    const BlockVerification rule;
#endif
    const auto round = verify(tokens, SharedNoise{}, rows, rule, RoundRng(1, 2, 3), RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace shared_noise_under_block_verification

// case: shared_noise_under_token_verification
// A token drawn with the target's own noise, before a rule that judges by a ratio.
// expect: error: static assertion failed.*specsample::verify: a token .* .SharedNoise. has no ratio; judge it by a
// match rule
namespace shared_noise_under_token_verification {

using namespace specsample;

int program() {
    const std::vector<Token> tokens{1};
    const std::vector<std::vector<float>> rows{{.5f, .5f}, {.5f, .5f}};
    Workspace workspace;
#ifdef FIXED
    const GumbelMatch rule;
#else
    const TokenVerification rule;
#endif
    const auto round = verify(tokens, SharedNoise{}, rows, rule, RoundRng(1, 2, 3), RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace shared_noise_under_token_verification

// case: race_without_lanes
// Gumbel match needs noise that belongs to ids, and a generator has none.
// expect: error: static assertion failed.*specsample::race: these random numbers have no open_uniform.lane.*give
// RoundRng
namespace race_without_lanes {

using namespace specsample;

struct Generator {
    using result_type = std::uint64_t;
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return ~result_type{0}; }
    result_type operator()() { return ++state; }
    result_type state = 0;
};

int program() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
#ifdef FIXED
    const RoundRng rng(1, 2, 3);
#else
    Generator generator;
    const GeneratorRng rng(generator);
#endif
    const auto round = verify(tokens, PointMass{}, std::array{row, row}, GumbelMatch{}, rng, RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace race_without_lanes

// case: transformed_before_a_lossy_rule
// A target transform in front of a rule that is not exact itself.
// expect: error: static assertion failed.*specsample::lossy::Transformed: the rule behind a transform must be lossless
namespace transformed_before_a_lossy_rule {

using namespace specsample;
using namespace specsample::lossy;

int program() {
#ifdef FIXED
    const Transformed rule(Chow{.1}, BlockVerification{});
#else
    const Transformed rule(Chow{.1}, Lenience{.l = .5});
#endif
    return rule.lossless ? 1 : 0;
}

}  // namespace transformed_before_a_lossy_rule

// case: transformed_point_mass
// A target transform in front of a draft that has no row.
// expect: error: static assertion failed.*specsample::lossy::Transformed: a point mass or SharedNoise has no draft
// row
namespace transformed_point_mass {

using namespace specsample;
using namespace specsample::lossy;

int program() {
    const std::vector<Token> tokens{1};
    const std::vector<std::vector<float>> rows{{.5f, .5f}, {.5f, .5f}};
    Workspace workspace;
#ifdef FIXED
    const std::array distributions{Sampled(rows[0])};
#else
    const PointMass distributions;
#endif
    return static_cast<int>(
        verify(tokens, distributions, rows, Transformed(Chow{.1}), RoundRng(1, 2, 3), {}, workspace).tokens.size());
}

}  // namespace transformed_point_mass

// case: gumbel_match_of_sampled
// Drawn without the rule's noise, tokens would be accepted half as often.
// expect: error: static assertion failed.*specsample::verify: this rule shares the target's noise with the drafter, and
// Sampled says that the tokens were drawn without it, which halves what is accepted; draw each by auto .token,
// distribution. = draft_token.rule, rng, node, row., or give PointMass.. for tokens of another origin
namespace gumbel_match_of_sampled {

using namespace specsample;

int program() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
#ifdef FIXED
    const PointMass distributions;
#else
    const std::array distributions{Sampled{row}};
#endif
    const auto round =
        verify(tokens, distributions, std::array{row, row}, GumbelMatch{}, RoundRng(1, 2, 3), RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace gumbel_match_of_sampled

// case: gumbel_match_of_a_sampled_tree
// The same in a tree.
// expect: error: static assertion failed.*specsample::verify: this rule shares the target's noise with the drafter
namespace gumbel_match_of_a_sampled_tree {

using namespace specsample;

int program() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    const std::vector<int> parents{-1};
    Workspace workspace;
#ifdef FIXED
    const auto distributions = [](Index) { return SharedNoise{}; };
#else
    const auto distributions = [&](Index) { return Sampled{row}; };
#endif
    const auto round = verify(Tree{tokens, parents}, distributions, std::array{row, row}, GumbelMatch{},
                              RoundRng(1, 2, 3), RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace gumbel_match_of_a_sampled_tree

// case: gumbel_match_of_a_sampled_request
// The same in a batch.
// expect: error: static assertion failed.*specsample::verify: this rule shares the target's noise with the drafter
namespace gumbel_match_of_a_sampled_request {

using namespace specsample;

int program() {
    const std::vector<double> row{.5, .5};
    const std::vector<Token> tokens{1};
    Workspace workspace;
#ifdef FIXED
    const std::array distributions{SharedNoise{}};
#else
    const std::array distributions{Sampled{row}};
#endif
    const auto round =
        Request{tokens, distributions, std::array{row, row}, GumbelMatch{}, RoundRng(1, 2, 3)}(workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace gumbel_match_of_a_sampled_request

// case: draft_token_without_a_rule
// The rule decides how a token is drawn.
// expect: error: static assertion failed.*specsample::draft_token: the first argument must be the rule that will judge
// the token, which decides how it is drawn; write draft_token.rule, rng, node, row.
namespace draft_token_without_a_rule {

using namespace specsample;

int program() {
    const std::vector<float> row{.5f, .5f};
    const RoundRng rng(1, 2, 3);
#ifdef FIXED
    const TokenVerification rule;
#else
    const int rule = 0;
#endif
    return draft_token(rule, rng, 0, row).token;
}

}  // namespace draft_token_without_a_rule

// case: draft_token_at_one_address
// It finds the address itself: which one depends on the rule.
// expect: error: static assertion failed.*specsample::draft_token: the second argument must be the random source of the
// round, as verify takes it; write specsample::RoundRng.seed, request, round_start.
namespace draft_token_at_one_address {

using namespace specsample;

int program() {
    const std::vector<float> row{.5f, .5f};
#ifdef FIXED
    const RoundRng rng(1, 2, 3);
#else
    const Rng rng = RoundRng(1, 2, 3).at(Purpose::draft, 0);
#endif
    return draft_token(TokenVerification{}, rng, 0, row).token;
}

}  // namespace draft_token_at_one_address

// case: big_little_shared_noise
// A token drawn with the target's noise has no row that says how sure its drafter was.
// expect: error: static assertion failed.*specsample::lossy::BigLittle: a SharedNoise token does not say how sure
namespace big_little_shared_noise {

using namespace specsample;

int program() {
    const std::vector<Token> tokens{1};
    const std::vector<std::vector<double>> rows{{.5, .5}, {.5, .5}};
    Workspace workspace;
#ifdef FIXED
    const std::vector distributions{Sampled(rows[0])};
#else
    const std::vector distributions{SharedNoise{}};
#endif
    return static_cast<int>(
        verify(tokens, distributions, rows, lossy::BigLittle{}, RoundRng(1, 2, 3), {}, workspace).tokens.size());
}

}  // namespace big_little_shared_noise

// case: judged_rule_without_taken
// A rule that draws from the residual, and does not say how much of q a rejection takes.
// expect: error: static assertion failed.*specsample::lossy::judge: the rule must have .static constexpr auto recovery
namespace judged_rule_without_taken {

using namespace specsample;

struct Half {
    static constexpr bool lossless = false;
    static constexpr auto recovery = lossy::Recovery::residual;

    void check() const {}
    walks::Ratio chance(lossy::RatioToken& x) const { return {x.exact().s, 2 * x.exact().q}; }
#ifdef FIXED
    double taken() const { return 1; }
#endif
    template <class T>
    Outcome operator()(const T& round) const {
        return lossy::judge(round, *this);
    }
};

int program() {
    const std::vector<Token> tokens{1};
    const std::array<std::array<float, 2>, 2> rows{{{.5f, .5f}, {.5f, .5f}}};
    Workspace workspace;
    return static_cast<int>(verify(tokens, PointMass{}, rows, Half{}, RoundRng(1, 2, 3), {}, workspace).tokens.size());
}

}  // namespace judged_rule_without_taken

// case: classifier_of_a_token
// A classifier is asked about a drafted token, not about an id.
// expect: error: static assertion failed.*specsample::lossy::Classified: the classifier must be callable with a
// lossy::DraftedToken& while it is const
namespace classifier_of_a_token {

using namespace specsample;

int program() {
#ifdef FIXED
    const lossy::Classified rule([](lossy::DraftedToken& x) { return x.token() == 1; });
#else
    const lossy::Classified rule([](std::vector<Token> tokens) { return tokens.empty(); });
#endif
    return rule.lossless ? 1 : 0;
}

}  // namespace classifier_of_a_token
