// mapped(model, map): a draft model over its own vocabulary as one over the target's. prefix_mapped(model, translate):
// a model that reads texts in its own ids.
#include <specsample/vocabularies/mapped.hpp>

#include <functional>
#include <stdexcept>
#include <vector>

#include <specsample/sampler.hpp>
#include <specsample/shaping/from_logits.hpp>
#include <specsample/shaping/sampling_params.hpp>
#include <specsample/shaping/shaped.hpp>
#include <specsample/vocabularies/mapped_prefix.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::vocabularies;

namespace {

using Prefix = std::span<const Token>;
const std::vector<Token> prefix{1, 2};

/// Three draft ids, one without an image: .5, .3, .2 becomes 0, 2/7, 0, 5/7.
const IdMap map(std::vector{3, -1, 1}, 4);

bool is_mapped(const auto& row) {
    return distance(probs_by_id(row), Array<double>(Eigen::Array4d(0, 2. / 7, 0, 5. / 7))) < 1e-6;
}

struct One {
    Eigen::VectorXd operator()(Prefix) const { return Eigen::Vector3d(.5, .3, .2); }
};
struct Cached : One {
    std::vector<Index> lengths{};
    void rollback(Index to) { lengths.push_back(to); }
};
struct TakesVector {
    std::vector<float> operator()(const std::vector<Token>&) const { return {.5f, .3f, .2f}; }
};

/// Uniform over four target ids.
Eigen::VectorXd target(Prefix) { return Eigen::Vector4d::Constant(.25); }

}  // namespace

TEST_CASE("a mapped model's rows are over the target's ids", "[shaping]") {
    auto model = mapped(One{}, map);
    CHECK(is_mapped(model(Prefix(prefix))));
    auto vector = mapped(TakesVector{}, map);
    CHECK(is_mapped(vector(prefix)));
    auto shared = mapped(One{}, std::cref(map));
    CHECK(is_mapped(shared(Prefix(prefix))));
}

TEST_CASE("rows of every type that a model may return are mapped", "[shaping]") {
    static const Eigen::VectorXf owned = Eigen::Vector3f(.5f, .3f, .2f);
    static const std::vector<double> vector{.5, .3, .2};
    const auto check = [](auto draft) {
        auto model = mapped(draft, map);
        CHECK(RowModel<decltype(model)>);
        CHECK(is_mapped(model(Prefix(prefix))));
    };
    check([](Prefix) { return owned; });
    check([](Prefix) -> const Eigen::VectorXf& { return owned; });
    check([](Prefix) -> const std::vector<double>& { return vector; });
    check([](Prefix) { return Eigen::Map<const Eigen::VectorXf>(owned.data(), 3); });
    check([](Prefix) { return std::span<const float>(owned.data(), 3); });
    check([](Prefix) { return std::array<float, 3>{.5f, .3f, .2f}; });
    check([](Prefix) { return Logits(Array<double>(Eigen::Array3d(.5, .3, .2).log())); });
    check([](Prefix) { return Sparse(std::vector{0, 1, 2}, std::vector<double>{.5, .3, .2}, 3); });
}

TEST_CASE("a mapped model has the abilities of a draft model", "[shaping]") {
    CHECK(RowModel<decltype(mapped(One{}, map))>);
    CHECK_FALSE(Rewindable<decltype(mapped(One{}, map))>);
    CHECK(Rewindable<decltype(mapped(Cached{}, map))>);
    CHECK(RowModel<decltype(mapped(TakesVector{}, map))>);
    CHECK(RowModel<decltype(mapped(from_logits(One{}), map))>);
}

TEST_CASE("a mapped model reads its own ids", "[shaping]") {
    std::vector<Token> seen;
    const auto noting = [&](Prefix text) {
        seen.assign(text.begin(), text.end());
        return One{}(text);
    };
    const std::vector<Token> text{1, 3, 2, 0, 7};
    const auto shown = [&](auto model) {
        CHECK(is_mapped(model(Prefix(text))));
        return seen;
    };
    CHECK(shown(mapped(noting, map)) == std::vector<Token>{2, 0, 0, 0, 0});  // 2, 0 and 7 mean nothing to it
    CHECK(shown(mapped(noting, std::cref(map))) == std::vector<Token>{2, 0, 0, 0, 0});
    CHECK(shown(mapped(noting, map, OwnIds(map, 1))) == std::vector<Token>{2, 0, 1, 1, 1});
    CHECK(shown(mapped(noting, map, TargetIds{})) == text);
    CHECK(shown(mapped(noting, map, [](Token token) { return token + 10; })) == std::vector<Token>{11, 13, 12, 10, 17});
    auto many_to_one = mapped(noting, IdMap(std::vector{2, 0, 2}, 8));
    many_to_one(Prefix(text));
    CHECK(seen == std::vector<Token>{0, 0, 0, 1, 0});  // of several the lowest
}

TEST_CASE("a draft that looks its ids up in a table finds them all", "[shaping]") {
    struct Embedding {
        Eigen::Matrix3d rows = Eigen::Matrix3d::Constant(1. / 3);

        Eigen::VectorXd operator()(Prefix text) const {
            Eigen::VectorXd mean = Eigen::VectorXd::Zero(3);
            for (const Token token : text) {
                if (token < 0 || token >= rows.rows()) throw std::out_of_range("no such row");
                mean += rows.row(token).transpose() / static_cast<double>(text.size());
            }
            return mean;
        }
    };
    const std::vector<Token> prompt{3, 2, 1, 0};  // of a vocabulary of four; the draft has three ids
    Sampler sampler(mapped(Embedding{}, map), target, {.lookahead = 3, .seed = 1});
    CHECK(sampler.generate(prompt, {.max_new_tokens = 100}).tokens.size() == 100);
    Sampler out_of_range(mapped(Embedding{}, map, TargetIds{}), target, {.lookahead = 3, .seed = 1});
    CHECK_THROWS_AS(out_of_range.generate(prompt, {.max_new_tokens = 100}), std::out_of_range);
}

TEST_CASE("what stands for an unknown token is an id that the draft has", "[shaping]") {
    CHECK_THROWS_WITH(OwnIds(map, 3), "specsample::OwnIds: unknown is 3, but must be in [0, 3)");
    CHECK_THROWS_AS(OwnIds(map, -1), std::invalid_argument);
}

TEST_CASE("a map of offsets is mapped with what its head reads", "[shaping]") {
    const auto d2t = IdMap::from_offsets(std::vector{1, 1, 1}, 4);
    static_assert(std::is_same_v<decltype(d2t), const ReducedIdMap>);
    std::vector<Token> seen;
    const auto noting = [&](Prefix text) {
        seen.assign(text.begin(), text.end());
        return One{}(text);
    };
    auto eagle = mapped(noting, std::cref(d2t), TargetIds{});
    CHECK(distance(probs_by_id(eagle(Prefix(prefix))), Array<double>(Eigen::Array4d(0, .5, .3, .2))) < 1e-15);
    CHECK(seen == prefix);
    mapped(noting, d2t, OwnIds(d2t))(Prefix(prefix));
    CHECK(seen == std::vector<Token>{0, 1});
}

TEST_CASE("a mapped model hands on its rollback", "[shaping]") {
    Cached cached;
    mapped(std::ref(cached), map).rollback(7);
    CHECK(cached.lengths == std::vector<Index>{7});
}

TEST_CASE("a mapped row that stays where it is lives in the wrapper until the next call", "[shaping]") {
    auto model = mapped(One{}, IdMap::same_ids(3, 4));
    const auto row = model(Prefix(prefix));
    CHECK(distance(probs_by_id(row), Array<double>(Eigen::Array4d(.5, .3, .2, 0))) == 0);
    auto copy = model;
    CHECK(distance(probs_by_id(copy(Prefix(prefix))), Array<double>(Eigen::Array4d(.5, .3, .2, 0))) == 0);
}

TEST_CASE("shaping a mapped model and mapping a shaped model give their documented rows", "[shaping]") {
    auto outside = shaped(mapped(from_logits(One{}, .01), map), SamplingParams{.top_k = 1});
    CHECK(distance(probs_by_id(outside(Prefix(prefix))), Array<double>(Eigen::Array4d(0, 0, 0, 1))) == 0);
    auto inside = mapped(shaped(One{}, SamplingParams{.top_k = 2}), map);
    CHECK(distance(probs_by_id(inside(Prefix(prefix))), Array<double>(Eigen::Array4d(0, 0, 0, 1))) == 0);
}

TEST_CASE("a sampler drafts from a mapped model, and names its bad rows", "[shaping]") {
    const Limits limits{.max_new_tokens = 100};
    Sampler sampler(mapped(One{}, map), target, {.lookahead = 3, .seed = 1});
    CHECK(sampler.generate(prefix, limits).tokens.size() == 100);
    // sum min(.25, q') = 1/2, against 100 tokens and more of drafts: 5 standard deviations are less than .3.
    CHECK(std::abs(sampler.tally().acceptance().value - .5) < .3);
    Sampler bad(mapped([](Prefix) { return std::vector<double>{.5, .3, -.2}; }, map), target, {.lookahead = 1});
    CHECK_THROWS_WITH(bad.generate(prefix, limits), ContainsSubstring("draft row 0"));
    Sampler wrong_map(mapped(One{}, IdMap::same_ids(3, 5)), target, {.lookahead = 1});
    CHECK_THROWS_WITH(wrong_map.generate(prefix, limits), ContainsSubstring("draft row 0 has 5 entries"));
    Sampler too_short(mapped(One{}, IdMap::same_ids(4, 4)), target, {.lookahead = 1});
    CHECK_THROWS_WITH(too_short.generate(prefix, limits), ContainsSubstring("the size of the row is 3"));
}

TEST_CASE("a warm mapped model allocates nothing of its own", "[shaping]") {
    auto model = mapped([row = std::vector<float>{.5f, .3f, .2f}](Prefix) { return std::span<const float>(row); }, map);
    const float* const numbers = detail::as_row(model(Prefix(prefix))).functor().numbers().data();
    for (int i = 0; i < 5; ++i) CHECK(detail::as_row(model(Prefix(prefix))).functor().numbers().data() == numbers);
}

TEST_CASE("a prefix-mapped model is shown what its translation says", "[shaping]") {
    std::vector<Token> seen;
    const auto noting = [&](Prefix text) {
        seen.assign(text.begin(), text.end());
        return One{}(text);
    };
    const auto twice = [](Prefix text) {  // two tokens of the draft for each of the target
        std::vector<Token> own;
        for (const Token token : text) own.insert(own.end(), {token + 10, token + 20});
        return own;
    };
    auto model = mapped(noting, map, twice);
    CHECK(is_mapped(model(Prefix(prefix))));
    CHECK(seen == std::vector<Token>{11, 21, 12, 22});
    auto view = prefix_mapped(noting, [](Prefix text) { return text.last(1); });
    view(Prefix(prefix));
    CHECK(seen == std::vector<Token>{2});
    const std::vector<Token> fixed{9};
    auto reference = prefix_mapped(noting, [&](Prefix) -> const std::vector<Token>& { return fixed; });
    reference(Prefix(prefix));
    CHECK(seen == fixed);
}

TEST_CASE("a model that names its token is prefix-mapped as well", "[shaping]") {
    const auto last = [](Prefix text) { return text.back(); };
    auto by_token = prefix_mapped(last, [](Token token) { return token + 10; });
    static_assert(TokenModel<decltype(by_token)>);
    CHECK(by_token(Prefix(prefix)) == 12);
    auto by_prefix = prefix_mapped(last, [](Prefix text) { return text.first(1); });
    static_assert(TokenModel<decltype(by_prefix)>);
    CHECK(by_prefix(Prefix(prefix)) == 1);
}

TEST_CASE("a prefix-mapped model is rolled back in its own tokens", "[shaping]") {
    /// Fails unless it is rolled back to the common part of its prefix and what it holds.
    struct Strict : One {
        std::vector<Token> held{};
        bool throws = false;

        Eigen::VectorXd operator()(Prefix text) {
            if (!std::equal(held.begin(), held.end(), text.begin(), text.begin() + std::ssize(held)))
                throw std::logic_error("the cache holds another text");
            if (std::ssize(held) >= std::ssize(text)) throw std::logic_error("nothing to compute");
            held.assign(text.begin(), text.end());
            if (throws) throw std::runtime_error("a pass that failed");
            return One::operator()(text);
        }
        void rollback(Index length) {
            if (length > std::ssize(held)) throw std::logic_error("rolled back to more than there is");
            held.resize(static_cast<std::size_t>(length));
        }
    };
    Strict strict;
    strict.held = {5, 6};  // of somebody else's text
    auto model = prefix_mapped(std::ref(strict), [](Prefix text) {
        std::vector<Token> own(text.begin(), text.end());
        if (own.size() % 2 == 0) own.push_back(99);  // what the last token reads as depends on what follows
        return own;
    });
    CHECK_FALSE(Rewindable<decltype(model)>);
    const auto ask = [&](const std::vector<Token>& text) { return model(Prefix(text)).size(); };
    for (const auto& text : std::vector<std::vector<Token>>{{1}, {1, 2}, {1, 2, 3}, {1, 2, 3}, {1, 4}, {7, 8, 9}, {7}})
        CHECK(ask(text) == 3);
    strict.throws = true;
    CHECK_THROWS_AS(ask({7, 8, 9}), std::runtime_error);
    strict.throws = false;
    CHECK(ask({7, 9}) == 3);
}

TEST_CASE("a cached model of another vocabulary drafts behind a translation", "[shaping]") {
    Cached cached;
    Sampler sampler(mapped(std::ref(cached), map, [](Prefix text) { return text; }), target,
                    {.lookahead = 3, .seed = 1});
    CHECK(sampler.generate(prefix, {.max_new_tokens = 50}).tokens.size() == 50);
    REQUIRE_FALSE(cached.lengths.empty());
    CHECK(cached.lengths.front() == 0);
}
