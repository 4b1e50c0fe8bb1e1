// A drafter that has nothing to offer never ends a text: every kind of model, drafter and rule.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <specsample/beam.hpp>
#include <specsample/drafters.hpp>
#include <specsample/length.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>
#include <specsample/vocabularies.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::filters;
using namespace specsample::heads;
using namespace specsample::testing;
using namespace specsample::vocabularies;

namespace {

constexpr Index vocab = 3;
constexpr double infinity = std::numeric_limits<double>::infinity();
using Prefix = std::span<const Token>;

/// Whether a model has nothing to offer after a text.
bool has_nothing(Prefix text) { return text.size() % 3 == 1 || (!text.empty() && text.back() == 2); }

const ContextModel model(vocab, 11), target(vocab, 12);

template <class Scalar = double>
std::vector<Scalar> numbers(Prefix text, bool logits) {
    const Eigen::VectorXd row = model(text);
    std::vector<Scalar> result;
    for (const double p : row) result.push_back(static_cast<Scalar>(logits ? std::log(p) : p));
    return result;
}

/// Call f(name, model) for every way in which a model of rows has nothing to offer after some texts.
template <class F>
void for_row_models(const F& f) {
    f("zeros", [](Prefix text) -> Eigen::VectorXd {
        return has_nothing(text) ? Eigen::VectorXd(Eigen::VectorXd::Zero(vocab)) : model(text);
    });
    f("no entries", [](Prefix text) { return has_nothing(text) ? std::vector<double>() : numbers(text, false); });
    f("float zeros",
      [](Prefix text) { return has_nothing(text) ? std::vector<float>(vocab) : numbers<float>(text, false); });
    f("masked logits", [](Prefix text) {
        return Logits(has_nothing(text) ? std::vector<double>(vocab, -infinity) : numbers(text, true), .7);
    });
    f("masked logits at temperature 0", [](Prefix text) {
        return Logits(has_nothing(text) ? std::vector<float>(vocab, -infinity) : numbers<float>(text, true), 0);
    });
    f("no logits",
      [](Prefix text) { return Logits(has_nothing(text) ? std::vector<double>() : numbers(text, true), 1); });
    const auto ids = [](Prefix text) { return has_nothing(text) ? std::vector<Token>() : std::vector<Token>{0, 1, 2}; };
    f("no ids", [ids](Prefix text) {
        return Sparse(ids(text), has_nothing(text) ? std::vector<double>() : numbers(text, false), vocab);
    });
    f("no ids of logits", [ids](Prefix text) {
        return Sparse(ids(text), Logits(has_nothing(text) ? std::vector<double>() : numbers(text, true), .5), vocab);
    });
    f("masked logits of ids", [](Prefix text) {
        return Sparse(std::vector<Token>{0, 1, 2},
                      Logits(has_nothing(text) ? std::vector<double>(vocab, -infinity) : numbers(text, true), .5),
                      vocab);
    });
    const auto mask = [](auto& row, Prefix text) {
        if (has_nothing(text)) row.keep({});
    };
    f("a mask that leaves nothing", shaped(model, mask));
    f("a mask on logits", shaped([](Prefix text) { return Logits(numbers<float>(text, true)); }, mask));
    f("top-k before a mask of its token",
      shaped(model, Pipeline{TopK{1}, [](auto& row, Prefix text) {
                                 const auto likeliest = static_cast<Token>(kernels::argmax(model(text)));
                                 if (has_nothing(text)) keep_where(row, [&](Token id) { return id != likeliest; });
                             }}));
    f("a map of a model without entries",
      mapped([](Prefix text) { return has_nothing(text) ? std::vector<double>() : numbers(text, false); },
             IdMap::same_ids(vocab, vocab)));
    f("a map of a sparse row without ids",
      mapped(
          [ids](Prefix text) {
              return Sparse(ids(text), has_nothing(text) ? std::vector<double>() : numbers(text, false), vocab);
          },
          IdMap::same_ids(vocab, vocab)));
    f("a map of masked logits",
      mapped(
          [](Prefix text) {
              return Logits(has_nothing(text) ? std::vector<double>(vocab, -infinity) : numbers(text, true));
          },
          IdMap::same_ids(vocab, vocab)));
    f("a mask behind a map", shaped(mapped(model, IdMap::same_ids(vocab, vocab)), mask));
    f("a map of a masked row", mapped(shaped(model, mask), IdMap::same_ids(vocab, vocab)));
    f("a pipeline on a row without entries",
      shaped([](Prefix text) { return has_nothing(text) ? std::vector<double>() : numbers(text, false); },
             SamplingParams{.temperature = .9, .top_k = 2}));
}

/// Call f(name, model) for every way in which a model of tokens has none.
template <class F>
void for_token_models(const F& f) {
    for (const std::int64_t none : {std::int64_t{-1}, std::int64_t{vocab}, std::int64_t{1} << 33})
        f("token " + std::to_string(none),
          [none](Prefix text) { return has_nothing(text) ? none : std::int64_t{kernels::argmax(model(text))}; });
    f("an unsigned token", [](Prefix text) {
        return has_nothing(text) ? ~std::uint64_t{0} : static_cast<std::uint64_t>(kernels::argmax(model(text)));
    });
}

const std::vector<std::vector<Token>> prompts{{}, {0}, {2}, {1, 1}, {0, 1, 1}};

/// Check that a drafter fills a draft tree without a fault after any text.
/// @returns   whether there was a text after which it offers something, and one after which it offers nothing
template <class L, class D>
bool offers_sometimes(D drafter) {
    Index most = 0, least = 100;
    for (const std::vector<Token>& text : all_texts(vocab, 3)) {
        DraftTree<L> draft_tree;
        draft_tree.open(3, {}, vocab);
        drafter.propose(text, RoundRng(5, 0, std::ssize(text)), draft_tree);
        CHECK_FALSE(draft_tree.fault());
        if (has_nothing(text)) CHECK(draft_tree.size() == 0);
        most = std::max(most, draft_tree.size());
        least = std::min(least, draft_tree.size());
    }
    return least == 0 && most > 0;
}

template <class D>
bool offers_sometimes(D drafter) {
    return offers_sometimes<typename D::Distribution>(std::move(drafter));
}

}  // namespace

TEST_CASE("a model of rows with nothing to offer ends no text, and the text has the target's distribution") {
    for_row_models([](const std::string& name, const auto& draft) {
        INFO(name);
        CHECK(distance_from_target(TokenVerification{}, draft, target, 2, prompts) < 1e-7);  // rows of float among them
    });
}

TEST_CASE("a drafter whose model has nothing to offer offers nothing, and meets no fault") {
    for_row_models([](const std::string& name, const auto& draft) {
        INFO(name);
        CHECK(offers_sometimes(ChainDrafter(draft)));
        CHECK(offers_sometimes<SharedNoise>(ChainDrafter(draft)));
        CHECK(offers_sometimes(TreeDrafter(draft, {2, 2})));
        CHECK(offers_sometimes<SharedNoise>(TreeDrafter(draft, {2, 2})));
        CHECK(offers_sometimes(BeamDrafter(draft, 2)));
    });
}

TEST_CASE("children, stops and compositions of every kind meet no fault where a model has nothing to offer") {
    const auto check = [](const auto& draft) {
        CHECK(offers_sometimes(TreeDrafter(draft, {2, 2}, children::Independent{})));
        CHECK(offers_sometimes(TreeDrafter(draft, {2, 2}, children::TopChildren{})));
        CHECK(offers_sometimes(TreeDrafter(draft, {2, 2}, children::GreedyChildren{})));
        CHECK(offers_sometimes(DynamicTreeDrafter(draft, {.width = 2, .nodes = 5})));
        CHECK(offers_sometimes(ChainDrafter(draft, EntropyStop(1))));
        CHECK(offers_sometimes(ChainDrafter(draft, ConfidenceStop(.4))));
        CHECK(offers_sometimes(FirstOf(draft, draft)));
        CHECK(offers_sometimes(United(draft, draft)));
        CHECK(offers_sometimes(StagedDrafter(model, draft, 2)));
        CHECK(offers_sometimes(StagedDrafter(draft, draft, 2, BlockVerification{})));
    };
    check([](Prefix text) { return has_nothing(text) ? std::vector<double>() : numbers(text, false); });
    check([](Prefix text) {
        return Logits(has_nothing(text) ? std::vector<double>(vocab, -infinity) : numbers(text, true));
    });
}

TEST_CASE("heads with nothing to offer end a draft at their place") {
    const auto heads = [](Prefix text) {
        std::vector<std::vector<double>> rows(2, numbers(text, false));
        if (has_nothing(text))
            rows[text.size() % 2] = text.size() % 4 < 2 ? std::vector<double>(vocab) : std::vector<double>();
        return rows;
    };
    for (const std::vector<Token>& text : all_texts(vocab, 3)) {
        const auto size_of = [&](auto drafter) {
            DraftTree<typename decltype(drafter)::Distribution> draft_tree;
            draft_tree.open(2, {}, vocab);
            drafter.propose(text, RoundRng(5, 0, std::ssize(text)), draft_tree);
            CHECK_FALSE(draft_tree.fault());
            return draft_tree.size();
        };
        const bool none = has_nothing(text), at_first = none && text.size() % 2 == 0;
        CHECK(size_of(HeadsDrafter(heads, 2)) == (at_first ? 0 : none ? 1 : 2));
        CHECK(size_of(HeadsTreeDrafter(heads, expansion_tree({2, 2}))) == (at_first ? 0 : none ? 2 : 6));
        CHECK(size_of(HybridDrafter([](Prefix) { return Token(-1); }, heads, {2, 2})) == (at_first ? 0 : 2));
    }
}

TEST_CASE("a model of tokens with nothing to offer ends no text, and the text has the target's distribution") {
    for_token_models([](const std::string& name, const auto& draft) {
        INFO(name);
        CHECK(distance_from_target(TokenVerification{}, draft, target, 2, prompts) < 1e-12);
        CHECK(offers_sometimes(ChainDrafter(draft)));
    });
}

TEST_CASE("a beam search goes on where its draft model has nothing to offer") {
    const auto check = [](const auto& draft) {
        const beam::BeamOptions options{.width = 2, .lookahead = 3};
        const Limits limits{.max_new_tokens = 8};
        const auto found = beam::BeamSearch(draft, target, options).generate({1, 0}, limits).beams;
        const auto expected =
            beam::BeamSearch(target, target, {.width = 2, .lookahead = 0}).generate({1, 0}, limits).beams;
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i].tokens == expected[i].tokens);
    };
    check([](Prefix text) { return has_nothing(text) ? std::vector<double>() : numbers(text, false); });
    check([](Prefix text) { return has_nothing(text) ? std::vector<double>(vocab) : numbers(text, false); });
    check([](Prefix text) {
        return Logits(has_nothing(text) ? std::vector<double>(vocab, -infinity) : numbers(text, true));
    });
    check([](Prefix) { return std::vector<double>(vocab + 2, 1. / (vocab + 2)); });  // ids that the target has not
}

TEST_CASE("bad rows of a draft stay faults") {
    const auto cause = [](auto row) {
        const auto draft = [row](Prefix) { return row; };
        try {
            (void)Sampler(draft, target, {.lookahead = 2}).step(std::vector<Token>{1});
        } catch (const Fault& fault) {
            CHECK(fault.fault.side == Side::draft);
            return fault.fault.cause;
        }
        return Cause::ranks_differ;
    };
    const double nan = std::nan("");
    CHECK(cause(std::vector<double>{nan, .5, .5}) == Cause::not_finite);
    CHECK(cause(std::vector<double>{0, nan, 0}) == Cause::not_finite);
    CHECK(cause(std::vector<double>{.4, .2, .1}) == Cause::not_normalised);
    CHECK(cause(std::vector<double>{-.5, .5, 1}) == Cause::negative);
    CHECK(cause(std::vector<double>{.5, -.5, 0}) == Cause::negative);
    CHECK(cause(std::vector<double>{.5, .5}) == Cause::wrong_size);
    CHECK(cause(Logits(std::vector<double>{nan, 1, 2})) == Cause::not_finite);
    CHECK(cause(Logits(std::vector<double>{-infinity, nan, -infinity})) == Cause::not_finite);
    CHECK(cause(Sparse(std::vector<Token>{2, 1}, std::vector<double>{.5, .5}, vocab)) == Cause::unordered_ids);
}

TEST_CASE("a map of a row whose ids have no image offers any, and the text has the target's distribution") {
    const auto others = mapped(
        [](Prefix text) -> Eigen::VectorXd {
            Eigen::VectorXd row = Eigen::VectorXd::Zero(vocab + 2);
            if (has_nothing(text)) {
                row[vocab] = 1;
            } else {
                row.head(vocab) = model(text);
            }
            return row;
        },
        IdMap::same_ids(vocab + 2, vocab));
    CHECK(distance_from_target(TokenVerification{}, others, target, 2, prompts) < 1e-12);
}
