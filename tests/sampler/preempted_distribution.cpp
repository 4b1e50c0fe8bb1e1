// Drafts of which only a part of each row is kept or sent: exact if the row is cut before the draw, and biased if it is
// cut around the drawn token.
#include <deque>

#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::filters;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 4, few = 2;

/// The treatment of a token that was drawn from the whole row, if only the likeliest ids of that row are kept.
enum class Outside {
    kept,   ///< it replaces the last of them: the kept ids depend on the token
    named,  ///< a token that is not among them is a point mass
    left    ///< the draft ends before a token that is not among them
};

/// A drafter that draws from the whole row and keeps a part of it, renormalised.
struct CutsAfterwards {
    using Distribution = Mixed<detail::row_view_t<Eigen::VectorXd>>;

    ContextModel model;
    Outside outside;
    bool normalises = true;
    std::deque<Eigen::VectorXd> cut = {};

    template <class Source>
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<Distribution>& draft_tree) {
        std::vector<Token> context(prefix.begin(), prefix.end());
        cut.clear();
        for (Index node = 0; node < draft_tree.depth_limit(); ++node) {
            const Eigen::VectorXd row = model(context);
            const auto token = static_cast<Token>(draw(rng.at(Purpose::draft, node), row).index);
            std::vector<Token> ids(few);
            top_ids(row, ids);
            const bool is_inside = std::ranges::find(ids, token) != ids.end();
            if (!is_inside && outside == Outside::left) break;
            if (!is_inside && outside == Outside::kept) ids.back() = token;
            Eigen::VectorXd& left = cut.emplace_back(Eigen::VectorXd::Zero(vocab));
            for (const Token id : ids) left[id] = row[id];
            if (normalises) left /= left.sum();
            draft_tree.add(node - 1, token, left[token] > 0 ? Distribution(Sampled(left)) : Distribution(PointMass{}));
            context.push_back(token);
        }
    }
};

const ContextModel draft_model(vocab, 81), target(vocab, 82);

}  // namespace

TEMPLATE_TEST_CASE("a draft that is drawn from a row that was cut before has the target's distribution", "",
                   TokenVerification, BlockVerification, SampleMatch) {
    const TestType rule;
    const auto check = [&](const auto& model) {
        for (Index lookahead = 1; lookahead <= 2; ++lookahead)
            CHECK(distance_from_target(rule, model, target, lookahead) < 1e-12);
    };
    check(draft_model);
    check(shaped(draft_model, Pipeline{TopK{few}}));
    check(shaped(draft_model, Pipeline{TopP{.7}}));
    check(shaped(draft_model, Pipeline{Temperature{.8}, TopK{3}, MinP{.2}}));
}

TEST_CASE("a row that is cut around the token that was drawn from the whole one biases every ratio rule") {
    double least = 1, most = 0;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const CutsAfterwards drafter{ContextModel(vocab, 90 + seed), Outside::kept};
        const ContextModel judge(vocab, 190 + seed);
        for (const double distance : {distance_from_target(TokenVerification{}, drafter, judge, 2),
                                      distance_from_target(BlockVerification{}, drafter, judge, 2)}) {
            CHECK(distance > 1e-3);
            least = std::min(least, distance);
            most = std::max(most, distance);
        }
        CHECK(distance_from_target(SampleMatch{}, drafter, judge, 2) < 1e-12);  // looks at no distribution
    }
    WARN("total variation " << least << " to " << most);
}

TEST_CASE("a row that is cut whatever the token was is exact where a token outside it is named, or left out") {
    for (std::uint64_t seed = 0; seed < 6; ++seed)
        for (const Outside outside : {Outside::named, Outside::left}) {
            const CutsAfterwards drafter{ContextModel(vocab, 90 + seed), outside};
            const ContextModel judge(vocab, 190 + seed);
            CHECK(distance_from_target(TokenVerification{}, drafter, judge, 2) < 1e-12);
            CHECK(distance_from_target(BlockVerification{}, drafter, judge, 2) < 1e-12);
        }
}

TEST_CASE("a row that is cut and not renormalised is refused") {
    const CutsAfterwards drafter{ContextModel(vocab, 90), Outside::named, false};
    CHECK_THROWS_WITH(distance_from_target(TokenVerification{}, drafter, target, 2),
                      ContainsSubstring("but must sum to 1"));
}
