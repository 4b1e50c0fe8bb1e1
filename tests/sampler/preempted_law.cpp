// Drafts that are stored in few bytes: exact where the row is cut before the draw, and biased where it is cut around
// the token that was drawn.
#include <specsample/proposal/stored.hpp>

#include <deque>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 4, few = 2;

/// A drafter whose draft has been bytes: it drafts with another one, stores that, and gives what was restored.
template <class Model>
class Survivor {
  public:
    using Law = StoredProposal<double>::Law;

    explicit Survivor(Model model) : drafter_(std::move(model)) {}

    template <class Source>
    void propose(std::span<const Token> prefix, const Source& coins, Proposal<Law>& proposal) {
        drafted_.open(proposal.depth_limit(), {}, vocab);
        drafter_.propose(prefix, coins, drafted_);
        StoredProposal<double> stored;
        stored.keep({}, drafted_);
        REQUIRE_FALSE(restored_.restore(stored.save()));
        for (Index i = 0; i < restored_.size(); ++i)
            proposal.add(i - 1, restored_.tokens()[static_cast<std::size_t>(i)], restored_.law(i));
    }

  private:
    ChainDraft<Model> drafter_;
    Proposal<typename ChainDraft<Model>::Law> drafted_;
    StoredProposal<double> restored_;
};

/// What is done with a token that was drawn from the whole row, when of that row only the likeliest ids are kept.
enum class Outside {
    kept,   ///< it takes the place of the last of them: the ids that are kept depend on the token
    named,  ///< one that is not among them is a point mass
    left    ///< the draft ends before one that is not among them
};

/// A drafter that draws from the whole row and stores a part of it, renormalised.
struct CutsAfterwards {
    using Law = StoredProposal<double>::Law;

    ContextModel model;
    Outside outside;
    bool normalises = true;
    StoredProposal<double> stored = {};

    template <class Source>
    void propose(std::span<const Token> prefix, const Source& coins, Proposal<Law>& proposal) {
        std::vector<Token> context(prefix.begin(), prefix.end());
        std::deque<Eigen::VectorXd> cut;
        stored.open({});
        for (Index node = 0; node < proposal.depth_limit(); ++node) {
            const Eigen::VectorXd row = model(context);
            const auto token = static_cast<Token>(draw(coins.at(Purpose::draft, node), RowWeights(as_row(row))).index);
            std::vector<Token> ids(few);
            top_ids(row, ids);
            const bool is_inside = std::ranges::find(ids, token) != ids.end();
            if (!is_inside && outside == Outside::left) break;
            if (!is_inside && outside == Outside::kept) ids.back() = token;
            Eigen::VectorXd& left = cut.emplace_back(Eigen::VectorXd::Zero(vocab));
            for (const Token id : ids) left[id] = row[id];
            if (normalises) left /= left.sum();
            if (left[token] > 0) {
                stored.add(token, Sampled(left));
            } else {
                stored.add(token, PointMass{});
            }
            context.push_back(token);
        }
        for (Index i = 0; i < stored.size(); ++i)
            proposal.add(i - 1, stored.tokens()[static_cast<std::size_t>(i)], stored.law(i));
    }
};

const ContextModel draft_model(vocab, 81), target(vocab, 82);

}  // namespace

TEMPLATE_TEST_CASE("a draft that is drawn from a row that was cut before has the target's law, stored as well", "",
                   TokenVerification, BlockVerification, SampleMatch) {
    const TestType rule;
    const auto check = [&](const auto& model) {
        for (Index lookahead = 1; lookahead <= 2; ++lookahead)
            CHECK(distance_from_target(rule, Survivor(model), target, lookahead) < 1e-12);
    };
    check(draft_model);
    check(shaped(draft_model, Pipeline{TopK{few}}));
    check(shaped(draft_model, Pipeline{TopP{.7}}));
    check(shaped(draft_model, Pipeline{Temperature{.8}, TopK{3}, MinP{.2}}));
}

TEST_CASE("what was restored is judged as it was drafted, in every round there is") {
    const auto cut = shaped(draft_model, Pipeline{TopK{few}});
    CHECK(total_variation(round_law(BlockVerification{}, Survivor(cut), target, 2),
                          round_law(BlockVerification{}, cut, target, 2)) < 1e-14);
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
        CHECK(distance_from_target(SampleMatch{}, drafter, judge, 2) < 1e-12);  // looks at no law
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
