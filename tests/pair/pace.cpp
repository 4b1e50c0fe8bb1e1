// Who drafts a round, and how much: lookup or a model, each by what its own rounds cost and bring.
#include "generate/pace.hpp"

#include <array>
#include <cmath>

#include "exact/chi_square.hpp"
#include "generate/drafts.hpp"
#include "support/catch.hpp"

namespace {

using namespace specsample;

constexpr Index vocab = 4, most = 6;
constexpr Token of_model = 3;  // the only token that the model drafts in these tests

AnyDrafter sure_model() {
    return ChainDrafter(DraftModel([](auto) {
        Eigen::VectorXf row = Eigen::VectorXf::Zero(vocab);
        row[of_model] = 1;
        return row;
    }));
}

Pace pace_of(double draft_cost) {
    Pace pace(sure_model(), std::make_shared<LearntCosts>(draft_cost));
    pace.use(std::make_shared<LookupOffer>(LookupDrafter({.min_match = 2})));
    return pace;
}

std::vector<Token> drafted(Pace& pace, const std::vector<Token>& text) {
    pace.begin(text, most);
    DraftTree<Pace::Distribution> draft_tree;
    draft_tree.open(pace.next(most), {}, 1000);  // a text may hold more ids than the model drafts
    pace.propose(text, RoundRng(1, 0, static_cast<Index>(text.size())), draft_tree);
    return {draft_tree.tokens().begin(), draft_tree.tokens().end()};
}

RoundCounts rejected(Index proposed) {
    return {.proposed = proposed, .evaluated = proposed > 0 ? 1 : 0, .tokens = 1, .last = LastToken::recovered};
}

RoundCounts accepted(Index proposed) {
    return {.proposed = proposed,
            .evaluated = proposed,
            .accepted = proposed,
            .tokens = proposed + 1,
            .last = LastToken::bonus};
}

const std::vector<Token> repeats{0, 1, 2, 0, 1}, is_new{0, 1, 2, 2, 0};

/// The first round is without a draft.
void begin(Pace& pace) {
    CHECK(drafted(pace, repeats).empty());
    pace.record({.tokens = 1, .last = LastToken::bonus});
    pace.observe(0, 0, 1);
}

}  // namespace

TEST_CASE("lookup drafts where the text repeats itself, and the model elsewhere") {
    Pace pace = pace_of(0);
    begin(pace);
    const auto copied = drafted(pace, repeats), guessed = drafted(pace, is_new);
    REQUIRE(copied.size() >= 2);
    CHECK(copied[0] == 2);
    CHECK(copied[1] == 0);
    REQUIRE(guessed.size() >= 2);
    CHECK(guessed == std::vector<Token>(guessed.size(), of_model));
}

TEST_CASE("a lookup that is wrong leaves its rounds to the model, and comes back once it is right") {
    Pace pace = pace_of(.01);
    begin(pace);
    std::vector<Token> text = repeats;
    const auto is_copied = [&](Token next) {  // what follows 0, 1; it was 2 before
        const std::vector<Token> draft = drafted(pace, text);
        const bool result = !draft.empty() && draft.front() != of_model;
        const Index n = std::ssize(draft), one = std::min<Index>(n, 1);  // of the model's tokens the first is right
        pace.record(result ? rejected(n)
                           : RoundCounts{.proposed = n, .evaluated = one, .accepted = one, .tokens = 1 + one});
        pace.observe(std::ssize(draft), result ? 0 : .01 * static_cast<double>(draft.size()),
                     1 + .2 * static_cast<double>(draft.size()));
        text.insert(text.end(), {next, 0, 1});
        return result;
    };
    int at_first = 0, later = 0, again = 0;
    for (Token round = 0; round < 300; ++round) (round < 30 ? at_first : later) += is_copied(10 + round);
    CHECK(at_first >= 1);
    CHECK(at_first <= 15);
    CHECK(later == 0);
    const Token last = text[text.size() - 3];
    for (int round = 0; round < 200; ++round) {
        const bool result = is_copied(last);
        if (round >= 150) again += result;
    }
    CHECK(again > 25);
}

TEST_CASE("a model that proves slow is left out, and lookup goes on") {
    Pace pace = pace_of(0);
    Index drafts = 0;
    for (int round = 0; round < 100; ++round) {
        const auto count = std::ssize(drafted(pace, is_new));
        if (round >= 20) drafts += count;
        pace.record(accepted(count));
        pace.observe(count, 2.0 * static_cast<double>(count), 1);  // two passes for a drafted token
    }
    CHECK(drafts <= 10);  // it is tried now and then
    CHECK(drafted(pace, repeats).size() >= 2);
}

TEST_CASE("passes that cost more for each position end long drafts, and cheap ones bring them back") {
    Pace pace(sure_model(), std::make_shared<LearntCosts>(.01));
    const auto after = [&](double rise, int rounds) {
        std::vector<Index> counts;
        for (int round = 0; round < rounds; ++round) {
            const Index count = counts.emplace_back(std::ssize(drafted(pace, is_new)));
            // Two of three are right.
            pace.record({.proposed = count,
                         .evaluated = std::min<Index>(count, 3),
                         .accepted = std::min<Index>(count, 2),
                         .tokens = std::min<Index>(count, 2) + 1,
                         .last = LastToken::recovered});
            pace.observe(count, .01 * static_cast<double>(count), 1 + rise * static_cast<double>(count));
        }
        std::sort(counts.end() - 9, counts.end());
        return counts[counts.size() - 5];  // the median of the last rounds
    };
    CHECK(after(.1, 200) == 2);
    CHECK(after(1.5, 600) == 0);
    CHECK(after(.1, 2000) == 2);
}

TEST_CASE("without costs as much is drafted as is allowed") {
    Pace pace(sure_model());
    CHECK(drafted(pace, repeats) == std::vector<Token>(most, of_model));
    pace.record(rejected(most));
    pace.observe(most, 1000, 1);
    CHECK(drafted(pace, repeats) == std::vector<Token>(most, of_model));
}

namespace {

/// Draws from a model whose most likely tokens are right with probability `right`, as it says itself.
DrawnTree drawn_tree(const DraftModel& model, double right, const std::shared_ptr<LearntCosts>& costs,
                     const std::shared_ptr<Index>& rows) {
    const auto likelihood = std::make_shared<double>(1);
    return DrawnTree(
        [=](auto prefix) {
            *likelihood *= right;
            return model(prefix);
        },
        [=] { return *likelihood; }, costs, rows, [=](auto) { *likelihood = 1; });
}

DraftTree<Pace::Distribution> draw_tree(double drafted, double rise, const Eigen::VectorXf& row, double right) {
    const auto costs = std::make_shared<LearntCosts>(drafted);
    for (int round = 0; round < 500; ++round)
        costs->observe(round % 5, round % 5 + 1, drafted * (round % 5), 1 + rise * (round % 5));
    const auto rows = std::make_shared<Index>();
    DrawnTree drafter = drawn_tree([&](auto) { return row; }, right, costs, rows);
    DraftTree<Pace::Distribution> draft_tree;
    draft_tree.open(most, {}, vocab);
    drafter.propose(is_new, RoundRng(1, 0, 5), draft_tree);
    Index depth = 0;
    for (Index node = 0; node < draft_tree.size(); ++node) depth = std::max(depth, draft_tree.depth(node));
    CHECK(*rows == depth);  // second tokens need none
    return draft_tree;
}

}  // namespace

TEST_CASE("a draft ends behind the token that makes it too unlikely, by what positions and drafts cost") {
    const Eigen::VectorXf only = Eigen::VectorXf::Unit(vocab, of_model);
    const auto size = [&](double drafted, double rise) { return draw_tree(drafted, rise, only, .5).size(); };
    CHECK(size(.2, .2) == 1);    // .8: below it at once
    CHECK(size(.1, .05) == 2);   // .3
    CHECK(size(.03, .04) == 3);  // .14
    CHECK(size(.001, .001) == most);
}

TEST_CASE("a second token is drawn where the first may well be wrong, and what follows is drafted behind the first") {
    const Eigen::VectorXf row = Eigen::VectorXf::Constant(vocab, 1.0f / vocab);
    const auto tree = draw_tree(.05, .03, row, .5);
    REQUIRE(tree.size() == 5);  // the third token is wrong in 1/8 of the texts where the second is not: too few
    const std::vector<Index> parents{root_node, root_node, 0, 0, 2};
    for (Index node = 0; node < tree.size(); ++node)
        CHECK(tree.parent(node) == parents[static_cast<std::size_t>(node)]);
    CHECK(tree.token(0) != tree.token(1));
    CHECK(draw_tree(.03, .3, row, .9).size() == 4);       // a position costs more than .02 tokens are worth
    CHECK(draw_tree(.001, .001, row, 1).size() == most);  // sure of all: a chain
}

TEST_CASE("learnt costs follow times that change, and a round that had to wait changes little") {
    LearntCosts costs(.5);
    CHECK(costs.draft(2) == Approx(1));
    CHECK(costs.pass(1) == Approx(1));
    for (int round = 0; round < 300; ++round) costs.observe(4, 5, .08, .3);
    for (int round = 0; round < 900; ++round)
        costs.observe(round % 2 * 4, 1 + round % 2 * 4, .08, round % 2 == 0 ? .2 : .3);
    CHECK(costs.pass(5) == Approx(1.5).epsilon(.01));
    CHECK(costs.pass(3) == Approx(1.25).epsilon(.01));
    CHECK(costs.draft(4) == Approx(.4).epsilon(.01));
    CHECK(costs.worthwhile() == Approx(2 * (.1 + .125)).epsilon(.01));
    costs.observe(0, 1, 0, 1e6);
    CHECK(costs.pass(5) < 1.55);
    CHECK(costs.pass(5) > 1.3);
}

TEST_CASE(
    "passes that are flat at first and steep later are learnt as such, as is a draft that costs before its rows") {
    const auto pass = [](Index n) {
        return n <= 4 ? 1 + .03 * static_cast<double>(n - 1) : .2 * static_cast<double>(n) + .29;
    };
    const auto draft = [](Index rows) { return .05 + .07 * static_cast<double>(rows); };
    LearntCosts costs(.1);
    for (int round = 0; round < 1200; ++round) {
        const Index n = 1 + round % 9;
        costs.observe(n % 4, n, draft(n % 4), pass(n));
    }
    for (Index n = 1; n <= 9; ++n) {
        INFO("n = " << n);
        CHECK(costs.pass(n) == Approx(pass(n)).margin(.04));
    }
    for (Index rows = 1; rows <= 3; ++rows) CHECK(costs.draft(rows) == Approx(draft(rows)).margin(.02));
    CHECK(costs.draft(0) == 0);
}

TEST_CASE("whoever drafts, and whatever the clock says, texts have the target's distribution") {
    // Four tokens behind a prompt that repeats itself, 40000 texts: all 256 are counted, at a false alarm of 1e-6.
    const auto target = [](std::span<const Token> prefix) {
        Eigen::VectorXf row(vocab);
        row << 4, 3, 2, 1;
        row[prefix.back()] += 5;
        return Eigen::VectorXf(row / row.sum());
    };
    const auto draft = DraftModel([](auto prefix) {
        Eigen::VectorXf row = Eigen::VectorXf::Constant(vocab, .1f);
        row[(prefix.back() + 1) % vocab] = .7f;
        return row;
    });
    constexpr int texts = 40000, length = 4;
    const std::vector<Token> prompt = repeats;
    Eigen::ArrayXd counts = Eigen::ArrayXd::Zero(256), expected(256);
    // A chain, or what lookup offers; a tree of point masses; one with lookup in it; a drawn tree, or what lookup
    // offers.
    const int kind = GENERATE(0, 1, 2, 3);
    for (int seed = 0; seed < texts; ++seed) {
        const auto costs = std::make_shared<LearntCosts>(.1);
        const auto payoff = std::make_shared<Payoff>(costs);
        const auto offer = kind == 1 ? nullptr : std::make_shared<LookupOffer>(LookupDrafter());
        const auto rows = std::make_shared<Index>();
        Pace pace = kind == 0   ? Pace(ChainDrafter<DraftModel>(draft), costs)
                    : kind == 3 ? Pace(drawn_tree(draft, .8, costs, rows), costs)
                                : Pace(BestFirstTree(
                                           draft, payoff, [](auto) {}, offer),
                                       costs, payoff);
        pace.use(offer);
        if (kind == 3) pace.count(rows);
        Sampler sampler(std::ref(pace), target, {.lookahead = 3, .seed = static_cast<std::uint64_t>(seed)},
                        BlockVerification{}, std::ref(pace));
        std::vector<Token> text = prompt;
        while (text.size() < prompt.size() + length) {
            pace.begin(text, 3);
            const Round round = sampler.step(text);
            text.insert(text.end(), round.tokens.begin(), round.tokens.end());
            pace.record(round.counts());
            // A clock that knows nothing:
            pace.observe(round.proposed, .1, static_cast<double>(1 + (seed * 7 + std::ssize(text)) % 5));
        }
        int number = 0;
        for (std::size_t i = 0; i < length; ++i) number = number * 4 + text[prompt.size() + i];
        counts[number] += 1;
    }
    for (int number = 0; number < 256; ++number) {
        std::vector<Token> text = prompt;
        double probability = 1;
        for (int shift = 6; shift >= 0; shift -= 2) {
            const Token token = number >> shift & 3;
            probability *= static_cast<double>(target(text)[token]);
            text.push_back(token);
        }
        expected[number] = probability;
    }
    const exact::ChiSquare found = exact::chi_square(counts, expected);
    INFO(found.statistic << " of " << found.bins << " bins, at most " << found.bound);
    CHECK(found.bins > 200);
    CHECK(found.holds());
}
