// Trees that grow where a token is probable enough to pay.
#include "generate/best_first_tree.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "generate/pace.hpp"
#include "support/catch.hpp"

namespace {

using namespace specsample;

constexpr Index vocab = 6, most = 8;
const std::vector<Token> text{0, 1};

/// The same row after every prefix.
DraftModel always(std::initializer_list<float> row) {
    return [values = std::vector<float>(row)](auto) {
        return Eigen::VectorXf(Eigen::Map<const Eigen::VectorXf>(values.data(), std::ssize(values)));
    };
}

/// Costs as if many rounds had shown them, in passes over one position.
std::shared_ptr<LearntCosts> costs_of(double row, double position) {
    const auto costs = std::make_shared<LearntCosts>(row);
    for (Index round = 0; round < 900; ++round) {
        const auto n = static_cast<double>(round % 9);
        costs->observe(round % 9, round % 9 + 1, row * n, 1 + position * n);
    }
    return costs;
}

using Drafted = DraftTree<Pace::Distribution>;

void draft(const DraftModel& model, const std::shared_ptr<Payoff>& payoff, Drafted& tree, Index depth = most) {
    payoff->begin();
    tree.open(depth, {}, vocab);
    BestFirstTree(model, payoff).propose(text, RoundRng(1, 0, 2), tree);
}

std::shared_ptr<Payoff> payoff_of(double row, double position) {
    return std::make_shared<Payoff>(costs_of(row, position));
}

}  // namespace

TEST_CASE("a model that is sure drafts a chain, and one that wavers drafts both tokens") {
    Drafted tree;
    const auto payoff = payoff_of(.05, .05);
    draft(always({0, 0, .97f, .01f, .01f, .01f}), payoff, tree);
    CHECK(std::vector(tree.tokens().begin(), tree.tokens().end()) == std::vector<Token>(most, 2));
    CHECK(tree.depth(most - 1) == most);
    CHECK(payoff->rows() == most);

    draft(always({0, 0, .44f, .43f, .07f, .06f}), payoff, tree);
    REQUIRE(tree.size() >= 4);
    CHECK(tree.tokens()[0] == 2);
    CHECK(tree.tokens()[1] == 3);
    CHECK(tree.parent(0) == root_node);
    CHECK(tree.parent(1) == root_node);
    for (Index node = 2; node < tree.size(); ++node) CHECK(tree.depth(node) == 2);
}

TEST_CASE("what more positions and rows cost makes trees smaller, and one token is always drafted") {
    const DraftModel model = always({.5f, .2f, .1f, .1f, .05f, .05f});
    const auto nodes = [&](double row, double position) {
        Drafted tree;
        const auto payoff = payoff_of(row, position);
        draft(model, payoff, tree);
        return std::pair(tree.size(), payoff->rows());
    };
    CHECK(nodes(.01, .01).first == most);
    CHECK(nodes(.01, .01).second > 3);
    CHECK(nodes(.5, .01) == std::pair<Index, Index>(4, 1));  // a row offers four tokens
    CHECK(nodes(.5, .1) == std::pair<Index, Index>(2, 1));   // 1.4 tokens for a pass: a position pays from .14 on
    CHECK(nodes(.5, .9) == std::pair<Index, Index>(1, 1));
}

TEST_CASE("promises that are not kept end a draft earlier, and rounds that write much ask for more") {
    const DraftModel model = always({.6f, .2f, .2f, 0, 0, 0});
    const auto after = [&](Index accepted, Index tokens) {
        const auto payoff = payoff_of(.05, .05);
        Drafted tree;
        for (int round = 0; round < 200; ++round) {
            draft(model, payoff, tree);
            payoff->record({.proposed = tree.size(), .accepted = accepted, .tokens = tokens});
        }
        draft(model, payoff, tree);
        return tree.size();
    };
    const Index kept = after(1, 2);
    CHECK(after(0, 1) < kept);
    CHECK(after(1, 8) < kept);  // as if another drafter wrote much in other rounds
}

TEST_CASE("what lookup offers is right as often as it was, the more so the more was right in a row") {
    LookupOffer offer(LookupDrafter({.min_match = 2}));
    std::vector<Token> written{0, 1, 2, 3, 0, 1};
    offer.begin(written, 2);
    REQUIRE(std::vector(offer.tokens().begin(), offer.tokens().end()) == std::vector<Token>{2, 3});
    CHECK(offer.probability(0) == Approx(.4));  // guesses
    CHECK(offer.probability(1) == Approx(.7));
    CHECK(offer.probability(3) == Approx(.85));
    CHECK(offer.probability(8) == Approx(.95));

    written.insert(written.end(), {2, 3, 0});  // both were right; what follows them was not offered
    offer.begin(written, 4);
    CHECK(offer.probability(0) == Approx((.97 * 1.4 + 1) / (.97 * 2 + 1)));  // after two in a row
    CHECK(offer.probability(1) == Approx(.85));
    REQUIRE(offer.tokens()[0] == 1);
    written.push_back(4);
    offer.begin(written, 4);
    CHECK(offer.tokens().empty());
    CHECK(offer.probability(0) == Approx((.97 * .8 + 1) / (.97 * 2 + 1)));  // the first round's

    written.insert(written.end(), {0, 1});
    offer.begin(written, 4);
    REQUIRE(!offer.tokens().empty());
    written.push_back(5);  // wrong
    offer.begin(written, 4);
    CHECK(offer.probability(0) == Approx(.97 * (.97 * .8 + 1) / (.97 * (.97 * 2 + 1) + 1)));
}

TEST_CASE("the model is asked only where what lookup offers may well be wrong") {
    const auto offer_after = [&](int right_rounds) {
        const auto offer = std::make_shared<LookupOffer>(LookupDrafter({.min_match = 2}));
        std::vector<Token> written{0, 1, 2, 3, 0, 1};
        for (; right_rounds > 0; --right_rounds) {
            offer->begin(written, most);
            written.push_back(offer->tokens()[0]);
        }
        offer->begin(written, most);
        return std::pair(offer, written);
    };
    const auto drafted = [&](const auto& offer_and_text, const DraftModel& model, Index& rows) {
        const auto& [offer, written] = offer_and_text;
        const auto payoff = payoff_of(.1, .05);
        int prepared = 0;
        payoff->begin();
        Drafted tree;
        tree.open(most, {}, vocab);
        BestFirstTree(
            model, payoff, [&](auto) { ++prepared; }, offer)
            .propose(written, RoundRng(1, 0, 2), tree);
        rows = payoff->rows();
        CHECK(prepared == (rows > 0));
        return std::vector<Token>(tree.tokens().begin(), tree.tokens().end());
    };
    const DraftModel model = always({.1f, .1f, .1f, .1f, .1f, .5f});
    Index rows = 0;
    const auto right = offer_after(200);
    CHECK(drafted(right, model, rows) == std::vector(right.first->tokens().begin(), right.first->tokens().end()));
    CHECK(rows == 0);

    const auto fresh = offer_after(0);  // odds of 2 to 3, times the model's of 3 to 7: .22 beside .44
    const auto both = drafted(fresh, always({.1f, .1f, .3f, .05f, .05f, .4f}), rows);
    CHECK(rows >= 1);
    CHECK(both.front() == 5);
    CHECK(std::ranges::count(both, 2) >= 1);
    CHECK(drafted(fresh, always({.1f, .1f, .6f, .1f, .1f, 0}), rows).front() == 2);  // they agree
}

TEST_CASE("a model that names few ids drafts what the whole row drafts") {
    const std::vector<Index> ids{5, 2, 3};
    const BeliefModel few = [&](auto) { return Beliefs(Eigen::Vector3f(.1f, .5f, .4f), ids); };
    const auto offer = std::make_shared<LookupOffer>(LookupDrafter({.min_match = 2}));
    const std::vector<Token> written{0, 1, 3, 3, 0, 1};
    offer->begin(written, most);
    std::array<std::vector<Token>, 2> drafts;
    for (std::size_t i = 0; i < 2; ++i) {
        const auto payoff = payoff_of(.05, .05);
        payoff->begin();
        Drafted tree;
        tree.open(most, {}, vocab);
        BestFirstTree(
            i == 0 ? few : BeliefModel(always({0, 0, .5f, .4f, 0, .1f})), payoff, [](auto) {}, offer)
            .propose(written, RoundRng(1, 0, 2), tree);
        drafts[i].assign(tree.tokens().begin(), tree.tokens().end());
    }
    REQUIRE(drafts[0].size() > 2);
    CHECK(drafts[0] == drafts[1]);
    CHECK(few({}).of(3) == .4f);
    CHECK(few({}).of(4) == 0);
}

TEST_CASE("a tree ends at its depth and behind stop tokens") {
    const auto payoff = payoff_of(.01, .01);
    Drafted tree;
    draft(always({0, 0, .97f, .01f, .01f, .01f}), payoff, tree, 3);
    CHECK(tree.size() == 3);
    draft(always({0, 0, 1, 0, 0, 0}), payoff, tree, 0);
    CHECK(tree.size() == 0);
    CHECK(payoff->rows() == 0);
    const std::vector<Token> stop{2};
    payoff->begin();
    tree.open(most, stop, vocab);
    BestFirstTree(always({0, 0, 1, 0, 0, 0}), payoff).propose(text, RoundRng(1, 0, 2), tree);
    CHECK(tree.size() == 1);
}

TEST_CASE("a row that is no distribution is a fault of the draft") {
    const auto payoff = payoff_of(.05, .05);
    Drafted tree;
    draft(always({.5f, std::numeric_limits<float>::quiet_NaN(), .5f, 0, 0, 0}), payoff, tree);
    REQUIRE(tree.fault());
    CHECK(tree.fault()->side == Side::draft);
    CHECK(tree.fault()->id == 1);
    CHECK(tree.size() == 0);
}

TEST_CASE("a fault among few ids names the id") {
    const std::vector<Index> ids{5, 2, 3};
    const auto payoff = payoff_of(.05, .05);
    payoff->begin();
    Drafted tree;
    tree.open(most, {}, vocab);
    BestFirstTree([&](auto) { return Beliefs(Eigen::Vector3f(.5f, -.1f, .6f), ids); }, payoff)
        .propose(text, RoundRng(1, 0, 2), tree);
    REQUIRE(tree.fault());
    CHECK(tree.fault()->cause == Cause::negative);
    CHECK(tree.fault()->id == 2);
}

TEST_CASE("a model whose drafts do not pay is left alone, and asked again now and then") {
    int asked = 0;
    const DraftModel model = [&](auto) {
        ++asked;
        Eigen::VectorXf row = Eigen::VectorXf::Constant(vocab, 1.0f / vocab);
        return row;
    };
    const auto costs = costs_of(.3, .2);
    const auto payoff = std::make_shared<Payoff>(costs);
    Pace pace(BestFirstTree(model, payoff), costs, payoff);
    Drafted tree;
    for (int round = 0; round < 600; ++round) {
        pace.begin(text, most);
        tree.open(pace.next(most), {}, vocab);
        pace.propose(text, RoundRng(1, 0, 2), tree);
        pace.record({.proposed = tree.size(), .evaluated = std::min<Index>(1, tree.size()), .tokens = 1});
        const auto n = static_cast<double>(tree.size());
        pace.observe(tree.size(), .3 * static_cast<double>(payoff->rows()), 1 + .2 * n);
    }
    CHECK(asked >= 10);
    CHECK(asked <= 60);
}
