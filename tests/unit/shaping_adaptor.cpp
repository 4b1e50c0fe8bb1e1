// Adaptors have the abilities of the model under them, and their rows of a tree are those of each path by itself.
#include <specsample/models/adaptor.hpp>

#include <functional>
#include <vector>

#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>
#include <specsample/vocabularies.hpp>

#include "support/catch.hpp"
#include "support/tree_target.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::vocabularies;
using namespace specsample::filters;
using specsample::testing::ContextModel;

namespace {

using Prefix = std::span<const Token>;
using TokenTree = Tree<Token, Index>;

// The abilities of a model, one bit each.
constexpr unsigned one = 1, many = 2, trees = 4, rewinds = 8, stays = 16, takes_vector = 32;

/// A model with some of them.
template <unsigned offered>
struct Offers {
    static constexpr bool has(unsigned ability) { return (offered & ability) != 0; }
    using Text = std::conditional_t<has(takes_vector), const std::vector<Token>&, Prefix>;

    static constexpr bool stable_rows = has(stays);

    Eigen::VectorXd operator()(Text) const
        requires(has(one))
    {
        return Eigen::Vector3d(.5, .3, .2);
    }
    RowMajorMatrix<double> operator()(Text, Index count) const
        requires(has(many))
    {
        return RowMajorMatrix<double>::Constant(count, 3, 1. / 3);
    }
    RowMajorMatrix<double> operator()(Text, TokenTree tree) const
        requires(has(trees))
    {
        return RowMajorMatrix<double>::Constant(std::ssize(tree.tokens) + 1, 3, 1. / 3);
    }
    void rollback(Index)
        requires(has(rewinds))
    {}
};

/// True if an adaptor over M has the abilities of M.
/// @param keeps_rows   its rows last as long as the model's
template <class A, class M>
constexpr bool offers_the_same(bool keeps_rows) {
    return RowModel<A> == RowModel<M> && BatchModel<A> == BatchModel<M> && TreeModel<A> == TreeModel<M> &&
           Model<A> == Model<M> && detail::ManyModel<A> == detail::ManyModel<M> &&
           detail::TreeCallable<A> == detail::TreeCallable<M> && detail::takes_span<A> == detail::takes_span<M> &&
           detail::takes_span<A, Index> == detail::takes_span<M, Index> &&
           detail::takes_span<A, TokenTree> == detail::takes_span<M, TokenTree> && Rewindable<A> == Rewindable<M> &&
           detail::StableRows<A> == (keeps_rows && detail::StableRows<M>);
}

template <class M>
constexpr bool all_adaptors_offer_the_same() {
    const auto same = [](auto adapt, bool keeps_rows) {
        return offers_the_same<decltype(adapt(std::declval<M>())), M>(keeps_rows);
    };
    const auto shape = [](auto model) { return shaped(model, TopP{.9}); };
    const auto as_logits = [](auto model) { return from_logits(model); };
    const auto map = [](auto model) { return mapped(model, IdMap::same_ids(3, 3)); };
    const auto translate = [](auto model) { return prefix_mapped(model, TargetIds{}); };
    const auto all = [](auto model) {
        return shaped(mapped(from_logits(model), IdMap::same_ids(3, 3)), SamplingParams{.temperature = .5});
    };
    return same(shape, false) && same(as_logits, true) && same(map, false) && same(translate, true) && same(all, false);
}

template <unsigned offered>
constexpr bool checked() {
    static_assert(all_adaptors_offer_the_same<Offers<offered>>());
    static_assert(all_adaptors_offer_the_same<std::reference_wrapper<Offers<offered>>>());
    return true;
}

/// Every combination with at least one call.
template <unsigned... offered>
constexpr bool all_checked(std::integer_sequence<unsigned, offered...>) {
    return (checked<offered | (offered % 8 == 0 ? one : 0)>() && ...);
}
static_assert(all_checked(std::make_integer_sequence<unsigned, 64>()));

// Checks that the models under test have the intended abilities.
static_assert(TreeModel<Offers<trees>> && !BatchModel<Offers<trees>> && !Model<Offers<trees | rewinds>>);
static_assert(detail::StableRows<Offers<one | stays>> && !detail::takes_span<Offers<one | takes_vector>>);

constexpr Index vocab = 4;
const std::vector<Token> prefix{2, 0, 1};
const std::vector<Token> tokens{1, 3, 1, 2, 0, 3};
const std::vector<Index> parents{-1, -1, 0, 0, 2, 1};

/// The rows of a tree model are those of a model of single rows, path by path.
template <class OnTrees, class ByPath>
void check_rows(OnTrees on_trees, ByPath by_path) {
    const TokenTree tree{tokens, parents};
    const auto rows = on_trees(Prefix(prefix), tree);
    REQUIRE(rows.size() == tokens.size() + 1);
    for (const std::size_t i : {6u, 0u, 3u, 5u, 1u, 2u, 4u, 3u}) {  // in any order, and twice
        INFO("row " << i);
        const auto text = path_text(prefix, tree, static_cast<Index>(i) - 1);
        CHECK(distance(probs_by_id(rows[i]), probs_by_id(by_path(Prefix(text)))) == 0);
    }
}

}  // namespace

TEST_CASE("the rows of an adapted tree are those of every path by itself", "[shaping]") {
    const ContextModel model(vocab, 5);
    const TreeTarget on_trees{model};
    const Pipeline pipeline{FrequencyPenalty{.7}, PresencePenalty{.4, {.last_n = 2}}, Temperature{.8}, TopK{3}};
    check_rows(shaped(on_trees, pipeline), shaped(model, pipeline));
    check_rows(from_logits(on_trees, .7), from_logits(model, .7));
    check_rows(shaped(from_logits(on_trees), pipeline), shaped(from_logits(model), pipeline));
    const IdMap map(std::vector{3, -1, 1, 0}, 5);
    check_rows(mapped(on_trees, map), mapped(model, map));
    check_rows(mapped(from_logits(on_trees), map), mapped(from_logits(model), map));
    check_rows(shaped(mapped(on_trees, map), pipeline), shaped(mapped(model, map), pipeline));
    check_rows(mapped(shaped(on_trees, pipeline), map), mapped(shaped(model, pipeline), map));
}

TEST_CASE("the rows of n positions of an adapted model are those of every prefix by itself", "[shaping]") {
    const ContextModel model(vocab, 6);
    const IdMap map(std::vector{3, -1, 1, 0}, 5);
    const Pipeline pipeline{FrequencyPenalty{.7}, TopK{3}};
    const auto check = [&](auto adapted) {
        auto alone = adapted;
        const auto rows = adapted(Prefix(prefix), 3);
        REQUIRE(detail::element_count(rows) == 3);
        for (const Index i : {2, 0, 1}) {
            const Prefix before = Prefix(prefix).first(static_cast<std::size_t>(i + 1));
            CHECK(distance(probs_by_id(detail::element(rows, i)), probs_by_id(alone(before))) < 1e-15);
        }
    };
    check(mapped(model, map));
    check(mapped(from_logits(model), map));
    check(shaped(mapped(model, map), pipeline));
    check(mapped(shaped(model, pipeline), map));
    check(prefix_mapped(model, [](Token token) { return token + 1; }));
}

TEST_CASE("a shaped tree model is asked as often as the plain one", "[shaping]") {
    const ContextModel draft(vocab, 1), model(vocab, 2);
    const auto passes = [&](auto adapt) {
        TreeTarget target{model};
        Sampler sampler(TreeDrafter(draft, {4, 2, 2}), adapt(std::ref(target)), {.lookahead = 3, .seed = 3},
                        TraversalVerification{});
        const Generation made = sampler.generate(prefix, {.max_new_tokens = 200});
        CHECK(target.passes == made.tally.rounds);
        return target.passes;
    };
    const int plain = passes([](auto target) { return target; });
    CHECK(plain < 200);
    CHECK(passes([](auto target) { return shaped(target, SamplingParams{}); }) == plain);
    CHECK(passes([](auto target) { return mapped(target, IdMap::same_ids(vocab, vocab)); }) == plain);
    CHECK(passes([](auto target) { return shaped(from_logits(target), SamplingParams{.top_k = 3}); }) < 200);
}

TEST_CASE("a tree that changed after the call does not change its rows", "[shaping]") {
    const ContextModel model(vocab, 7);
    std::vector<Token> drafted = tokens;
    auto on_trees = shaped(TreeTarget{model}, FrequencyPenalty{.7});
    const auto rows = on_trees(Prefix(prefix), TokenTree{drafted, parents});
    const auto text = path_text(prefix, {tokens, parents}, 4);
    drafted.assign(drafted.size(), 0);
    CHECK(distance(probs_by_id(rows[5]), probs_by_id(shaped(model, FrequencyPenalty{.7})(Prefix(text)))) == 0);
}
