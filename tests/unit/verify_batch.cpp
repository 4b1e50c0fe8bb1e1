// Batches: a request has the same result as alone, and a bad request does not affect the others.
#include <specsample/verify/batch.hpp>

#include <array>
#include <functional>
#include <stdexcept>
#include <variant>

#include <specsample/metrics/names.hpp>
#include <specsample/rows/logits.hpp>

#include "support/catch.hpp"
#include "support/numbers.hpp"
#include "threads/requests.hpp"

using namespace requests;
using namespace specsample::kernels;

namespace {

/// A parallel_for that takes the requests in another order.
struct InOrder {
    std::vector<Index> order;

    template <class Body>
    void operator()(Index count, const Body& body) const {
        REQUIRE(count == std::ssize(order));
        for (const Index i : order) body(i);
    }
};

std::vector<Token> tokens_of(const Round& round) { return {round.tokens.begin(), round.tokens.end()}; }

using AnyRequest = std::function<Round(Workspace&)>;

/// The result of verify for a request by itself.
template <class F>
std::string thrown_by(const F& f) {
    try {
        f();
    } catch (const std::exception& thrown) {
        return thrown.what();
    }
    return "nothing";
}

constexpr TokenVerification rule;
const std::vector<Token> drafted{1, 0, 1};
const RowMajorMatrix<float> rows =
    (RowMajorMatrix<float>(4, 3) << .5f, .25f, .25f, .25f, .5f, .25f, .125f, .125f, .75f, 1, 0, 0).finished();
const RoundRng rng(3, 4, 5);

}  // namespace

TEST_CASE("a request of a batch gets what it gets alone, in any slot, in any order, after any batch") {
    Chance chance(1);
    BatchWorkspace memory;
    Index long_paths = 0, faults = 0;
    for (int context = 0; context < 150; ++context) {
        const auto cases = random_cases(1 + chance.below(9), chance);
        const auto alone = each_alone(cases);
        for (int shuffle = 0; shuffle < 3; ++shuffle) {
            const auto slots = chance.order(std::ssize(cases));
            const auto request = [&](Index slot) {
                return static_cast<std::size_t>(slots[static_cast<std::size_t>(slot)]);
            };
            const bool as_requests = chance.uniform() < .5;
            const auto judge = [&](Index slot, Workspace& workspace) -> Round {
                const Case& each = cases[request(slot)];
                return as_requests ? each.requested(workspace) : each.verified(workspace);
            };
            const auto rounds =
                verify_batch(std::ssize(cases), judge, memory, InOrder{chance.order(std::ssize(cases))});
            REQUIRE(rounds.size() == cases.size());
            for (std::size_t slot = 0; slot < cases.size(); ++slot) {
                const Round& expected = alone[request(static_cast<Index>(slot))].round;
                CHECK(same(rounds[slot], expected));
                CHECK(rounds[slot].error.empty());
                long_paths += expected.accepted >= 2 ? 1 : 0;
                faults += expected.fault ? 1 : 0;
            }
        }
    }
    CHECK(long_paths > 100);
    CHECK(faults == 0);
}

TEST_CASE("a fault of a request is in its own round, and does not affect the others") {
    RowMajorMatrix<float> bad_rows = rows;
    numbers::write(bad_rows(0, 1), numbers::Special::nan);
    const std::vector<Token> outside{1, 7, 1};
    const std::vector<Index> forward{-1, 2, 0}, two{-1, 0};
    const auto throwing = [](Index) -> Eigen::VectorXf { throw std::runtime_error("the model is gone"); };
    const auto judged = [](const auto& tokens, const auto& judged_rows, const RoundRng& source,
                           const RoundLimits& limits) {
        return [=](Workspace& workspace) -> Round {
            return verify(tokens, PointMass{}, judged_rows, rule, source, limits, workspace);
        };
    };
    // Each in the form in which verify is called, and as a Request where there is one.
    const std::vector<std::pair<std::string, AnyRequest>> wrong{
        {"specsample::verify: limits.max_tokens is 0, but must be at least 1",
         judged(drafted, rows, rng, {.max_tokens = 0})},
        {"specsample::verify: limits.max_tokens is -3, but must be at least 1",
         Request{drafted, PointMass{}, rows, rule, rng, RoundLimits{.max_tokens = -3}}},
        {"specsample::Tree: parents[1] is 2, but must be -1 or a node before 1",
         Request{Tree{drafted, forward}, PointMass{}, rows, rule, rng}},
        {"specsample::verify: the number of tree.parents is 2, but must be that of tree.tokens, 3",
         Request{Tree{drafted, two}, PointMass{}, rows, rule, rng}},
        {"specsample::Logits: temperature is -1, but must be a finite number >= 0",
         Request{drafted, PointMass{}, logits_of(rows, -1), rule, rng}},
        {"specsample::Address: position is -5, but must be in [0, 2^32)",
         judged(drafted, rows, RoundRng(1, 2, -5), {})},
        {"the model is gone", Request{drafted, PointMass{}, throwing, rule, rng}},
        {"target row 0 is nan at id 1, but must be finite", judged(drafted, bad_rows, rng, {})},
        {"target row 0 is nan at id 1, but must be finite", Request{drafted, PointMass{}, bad_rows, rule, rng}},
        {"drafted token 1 is 7, but must be inside the vocabulary [0, 3)"
         "; for a draft with another one see vocabularies::mapped and vocabularies::IdMap::same_ids",
         judged(outside, rows, rng, {})},
        {"the number of target rows is 4, but must be 2, one per position",
         Request{std::span(drafted).first(1), PointMass{}, rows, rule, rng}},
    };
    Chance chance(2);
    const auto cases = random_cases(4, chance);
    const auto alone = each_alone(cases);
    BatchWorkspace memory;
    for (const auto& [expected, request] : wrong)
        for (std::size_t place = 0; place <= cases.size(); ++place) {
            INFO(expected << " in slot " << place);
            std::vector<AnyRequest> batch;
            for (const Case& each : cases)
                batch.push_back([&](Workspace& workspace) { return each.requested(workspace); });
            batch.insert(batch.begin() + static_cast<Index>(place), request);
            const auto rounds = verify_batch(batch, memory);
            CHECK_FALSE(rounds[place]);
            CHECK(rounds[place].tokens.empty());
            REQUIRE(rounds[place].fault);
            CHECK((rounds[place].fault->cause == Cause::broken_contract) == !rounds[place].error.empty());
            CHECK(message(rounds[place]) == expected);
            for (std::size_t i = 0; i < cases.size(); ++i) {
                const Round& round = rounds[i + (i >= place ? 1 : 0)];
                CHECK(same(round, alone[i].round));
                CHECK(round);
                CHECK(message(round).empty());
            }
        }
}

TEST_CASE("a request that has no round looks so to all who read rounds, and is counted as a fault") {
    BatchWorkspace memory;
    struct Odd {};
    const auto judge = [&](Index i, Workspace& workspace) -> Round {
        if (i == 1) throw std::runtime_error("the model is gone");
        if (i == 2) throw Odd();
        if (i == 3) return Request{drafted, PointMass{}, rows, rule, rng, RoundLimits{.max_tokens = 0}}(workspace);
        const auto thrown_in_a_row = [](Index) -> Eigen::VectorXf { throw 5; };
        if (i == 4) return verify(drafted, PointMass{}, thrown_in_a_row, rule, rng, {}, workspace);
        return verify(drafted, PointMass{}, rows, rule, rng, {}, workspace);
    };
    const auto rounds = verify_batch(5, judge, memory);
    Tally tally;
    for (const Round& round : rounds) tally.record(round.counts());  // as any code that knows no batches
    CHECK(tally.rounds == 1);
    CHECK(tally.faults_of(Cause::broken_contract) == 4);
    CHECK(tally.faulty_rounds() == 4);
    CHECK(metrics::name_of(Cause::broken_contract) == "broken_contract");
    const char* const messages[] = {"", "the model is gone", "the request threw something that is no std::exception",
                                    "specsample::verify: limits.max_tokens is 0, but must be at least 1",
                                    "the request threw something that is no std::exception"};
    for (std::size_t i = 0; i < 5; ++i) {
        const Round round = rounds[i];  // a copy says the same
        CHECK(bool(round) == (i == 0));
        CHECK(message(round) == messages[i]);
        CHECK(round.fault.has_value() == (i > 0));
        CHECK(round.tokens.empty() == (i > 0));
    }
    CHECK_FALSE(message(*rounds[1].fault).empty());
}

TEST_CASE("a request that parallel_for leaves out has no round, and one that is not there is refused") {
    BatchWorkspace memory;
    const auto judge = [](Index, Workspace& workspace) {
        return verify(drafted, PointMass{}, rows, rule, rng, {}, workspace);
    };
    for (int again = 0; again < 2; ++again) {  // the second time, its round of the first is there
        const auto all_but_one = [&](Index count, const auto& body) {
            for (Index i = 0; i < count; ++i)
                if (i != 1 || again == 0) body(i);
        };
        const auto rounds = verify_batch(3, judge, memory, all_but_one);
        CHECK(rounds[0]);
        CHECK(bool(rounds[1]) == (again == 0));
        CHECK(rounds[2]);
        if (again == 1)
            CHECK_THAT(message(rounds[1]), ContainsSubstring("parallel_for(count, body) must call body(i)"));
    }
    for (const Index outside : {-1, 3})
        CHECK_THROWS_WITH(
            verify_batch(3, judge, memory, [&](Index, const auto& body) { body(outside); }),
            "specsample::verify_batch: the i of body(i) is " + std::to_string(outside) + ", but must be below 3");
}

TEST_CASE("a request refuses with the words of verify, without throwing anything") {
    Workspace workspace;
    const auto refuses = [&](const auto& tokens, const RoundLimits& limits) {
        Request request{tokens, PointMass{}, rows, rule, rng, limits};
        const Round round = request(workspace);
        CHECK_FALSE(round);
        CHECK(round.error == thrown_by([&] { (void)verify(tokens, PointMass{}, rows, rule, rng, limits, workspace); }));
    };
    refuses(drafted, {.max_tokens = 0});
    const auto refuses_tree = [&](const auto& parents, const RoundLimits& limits) {
        refuses(Tree{drafted, parents}, limits);
    };
    refuses_tree(std::array{-1, 0, 1}, {.max_tokens = -1});
    refuses_tree(std::array{-1, 0}, {});
    refuses_tree(std::array{-1, -2, 1}, {});
    refuses_tree(std::array{0, 0, 1}, {});
    refuses_tree(std::array{-1, 0, 2}, {});
    refuses_tree(std::array<std::int64_t, 3>{5, 4, 3}, {.max_tokens = 0});
}

TEST_CASE("a lookahead of 0 is plain sampling, between requests that draft") {
    BatchWorkspace memory;
    const std::vector<Token> none;
    for (std::uint64_t id = 0; id < 50; ++id) {
        const auto rounds = verify_batch(
            3,
            [&](Index i, Workspace& workspace) {
                const bool drafts = i != 1;
                return verify(drafts ? drafted : none, PointMass{}, slice(rows, drafts ? 0 : 2, drafts ? 4 : 3), rule,
                              RoundRng(1, id, i), {}, workspace);
            },
            memory);
        const Index plain =
            draw(RoundRng(1, id, 1).at(Purpose::last, 0), RowWeights(detail::as_row(rows.row(2)))).index;
        CHECK(tokens_of(rounds[1]) == std::vector<Token>{static_cast<Token>(plain)});
        CHECK(rounds[1].last == LastToken::bonus);
        CHECK(rounds[1].proposed == 0);
    }
}

TEST_CASE("an empty batch has no rounds, and a negative count is refused") {
    BatchWorkspace memory;
    const auto judge = [](Index, Workspace&) -> Round { throw std::logic_error("asked"); };
    CHECK(verify_batch(0, judge, memory).empty());
    CHECK(verify_batch(std::vector<AnyRequest>(), memory).empty());
    CHECK_THROWS_WITH(verify_batch(-1, judge, memory), "specsample::verify_batch: count is -1, but must be at least 0");
}

TEST_CASE("nothing of the batch before is left in a smaller one") {
    BatchWorkspace memory;
    const auto refused = [](Index, Workspace&) -> Round { throw std::runtime_error("no"); };
    CHECK(verify_batch(5, refused, memory)[4].error == "no");
    const auto fine = [](Index, Workspace& workspace) {
        return verify(drafted, PointMass{}, rows, rule, rng, {}, workspace);
    };
    const auto rounds = verify_batch(2, fine, memory);
    CHECK(rounds.size() == 2);
    for (const Round& round : rounds) CHECK(round);
}

TEST_CASE("a request borrows what has a name and keeps what has none") {
    const std::vector<Sampled<detail::Column<float>>> distributions;
    const Request borrows{drafted, distributions, rows, rule, rng};
    CHECK(&borrows.tokens == &drafted);
    CHECK(&borrows.distributions == &distributions);
    CHECK(&borrows.rows == &rows);
    const Request keeps{std::vector<Token>{1}, PointMass{}, RowMajorMatrix<float>(rows.topRows(2)), rule, rng};
    static_assert(std::same_as<decltype(keeps.tokens), std::vector<Token>>);
    static_assert(std::same_as<decltype(keeps.distributions), PointMass>);
    static_assert(std::same_as<decltype(keeps.rows), RowMajorMatrix<float>>);
    Workspace first, second;
    CHECK(same(keeps(first), verify(std::array{1}, PointMass{}, rows.topRows(2), rule, rng, {}, second)));
}

TEST_CASE("requests of one type fill a list, and of several a variant's") {
    using Chain = decltype(Request{drafted, PointMass{}, rows, rule, rng});
    const std::array<Chain, 2> list{Chain{drafted, {}, rows, rule, rng}, Chain{drafted, {}, rows, rule, {3, 9, 5}}};
    BatchWorkspace memory, other;
    Workspace workspace;
    const auto rounds = verify_batch(list, memory);
    CHECK(same(rounds[0], verify(drafted, PointMass{}, rows, rule, rng, {}, workspace)));
    CHECK(same(rounds[1], verify(drafted, PointMass{}, rows, rule, RoundRng(3, 9, 5), {}, workspace)));
    CHECK(same(verify_batch(std::span(list), other)[1], rounds[1]));

    const std::vector<std::variant<TokenVerification, BlockVerification, SampleMatch>> rules{SampleMatch{},
                                                                                             BlockVerification{}};
    const auto judge = [&](Index i, Workspace& slot) {
        return std::visit([&](const auto& each) { return verify(drafted, PointMass{}, rows, each, rng, {}, slot); },
                          rules[static_cast<std::size_t>(i)]);
    };
    const auto mixed = verify_batch(2, judge, memory);
    CHECK(same(mixed[0], verify(drafted, PointMass{}, rows, SampleMatch{}, rng, {}, workspace)));
    CHECK(same(mixed[1], verify(drafted, PointMass{}, rows, BlockVerification{}, rng, {}, workspace)));
}

TEST_CASE("rounds of a batch may be cut by their owner") {
    BatchWorkspace memory;
    const auto rounds = verify_batch(std::array{Request{drafted, PointMass{}, rows, GreedyMatch{}, rng}}, memory);
    rounds[0].truncate(0);
    CHECK(memory.rounds[0].tokens.empty());
    CHECK(memory.rounds[0].last == LastToken::stopped);
}

TEST_CASE("an exception without a message fails its request alone") {
    struct Silent : std::exception {
        const char* what() const noexcept override { return nullptr; }
    };
    BatchWorkspace memory;
    const auto rounds = verify_batch(
        2, [](Index, Workspace&) -> Round { throw Silent(); }, memory);
    for (const Round& round : rounds) {
        CHECK_FALSE(static_cast<bool>(round));
        CHECK_FALSE(message(round).empty());
    }
}
