// Models whose rows are values write the texts of models whose rows are types: every rule, drafter and adaptor, and
// every kind of row.
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <specsample/beam.hpp>
#include <specsample/drafters.hpp>
#include <specsample/models/recurrent.hpp>
#include <specsample/sampler.hpp>
#include <specsample/sampler_values.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 6;
const ContextModel draft(vocab, 51, RowKind::with_zeros), middle(vocab, 53, RowKind::with_zeros),
    target(vocab, 52, RowKind::with_zeros);
constexpr double temperature = .7;

using Prefix = std::span<const Token>;
using ValueModel = std::function<Row(Prefix)>;

enum class Kind { probs, logits, known_logits, strided, sparse, sparse_logits, computed };

/// A row that is computed: numbers that are read elsewhere.
struct Reader final : RowReader {
    std::vector<double> numbers{};

    Index size() const override { return std::ssize(numbers); }
    void read(Index first, std::span<float> out) const override {
        for (float& number : out) number = static_cast<float>(numbers[static_cast<std::size_t>(first++)]);
    }
    void read_wide(Index first, std::span<double> out) const override {
        for (double& number : out) number = numbers[static_cast<std::size_t>(first++)];
    }
};

/// What rows of one model lie in: one buffer for all, as engines have it.
struct Buffer {
    std::vector<double> numbers{};
    std::vector<std::int16_t> ids{};
    Reader reader{};

    Row row(const Eigen::VectorXd& probs, Kind kind) {
        const bool are_sparse = kind == Kind::sparse || kind == Kind::sparse_logits;
        const bool are_logits = kind == Kind::logits || kind == Kind::known_logits || kind == Kind::sparse_logits;
        const Index step = kind == Kind::strided ? 3 : 1;
        numbers.clear(), ids.clear();
        for (Index id = 0; id < probs.size(); ++id) {
            if (are_sparse && probs[id] == 0) continue;
            ids.push_back(static_cast<std::int16_t>(id));
            numbers.push_back(are_logits ? std::log(probs[id]) * temperature + 5 : probs[id]);
            for (Index i = 1; i < step; ++i) numbers.push_back(9);
        }
        switch (kind) {
            case Kind::probs:
                return Row::probs(numbers);
            case Kind::logits:
                return Row::logits(numbers, temperature);
            case Kind::known_logits:
                return Row::logits(numbers, temperature, 5 / temperature);
            case Kind::strided:
                return Row::probs({numbers.data(), probs.size(), step});
            case Kind::sparse:
                return Row::sparse(ids, Row::probs(numbers), probs.size());
            case Kind::sparse_logits:
                return Row::sparse(ids, Row::logits(numbers, temperature), probs.size());
            default:
                reader.numbers = numbers;
                return Row::probs({reader, Row::Scalar::f64});
        }
    }
};

/// The rows of a model as values.
ValueModel values_of(const ContextModel& model, Kind kind = Kind::probs) {
    return [model, kind, buffer = Buffer{}](Prefix prefix) mutable { return buffer.row(model(prefix), kind); };
}

/// The same, with n rows in one pass.
struct ManyValues {
    ContextModel model;
    Kind kind = Kind::probs;
    std::vector<Buffer> buffers{};
    std::vector<Row> rows{};

    Row operator()(Prefix prefix) { return (*this)(prefix, 1)[0]; }
    std::span<const Row> operator()(Prefix prefix, Index n) {
        buffers.resize(static_cast<std::size_t>(n));
        rows.clear();
        for (std::size_t i = 0; i < buffers.size(); ++i)
            rows.push_back(buffers[i].row(model(prefix.first(prefix.size() + 1 + i - buffers.size())), kind));
        return rows;
    }
};

/// The same for the nodes of a tree, as Rows over a matrix in memory.
struct TreeValues {
    ContextModel model;
    RowMajorMatrix<double> matrix{};

    Rows operator()(Prefix prefix, Tree<Token, Index> tree) {
        matrix.resize(std::ssize(tree.tokens) + 1, vocab);
        matrix.row(0) = model(prefix).transpose();
        for (Index node = 0; node < std::ssize(tree.tokens); ++node) {
            std::vector<Token> path;
            for (Index at = node; at != root_node; at = tree.parents[static_cast<std::size_t>(at)])
                path.insert(path.begin(), tree.tokens[static_cast<std::size_t>(at)]);
            path.insert(path.begin(), prefix.begin(), prefix.end());
            matrix.row(node + 1) = model(path).transpose();
        }
        return Rows(Row::probs({matrix.data(), matrix.cols()}), matrix.rows());
    }
};

/// Three heads: the rows after the prefix, and after it and one and two zeros.
template <bool are_values>
struct Heads {
    ContextModel model = draft;
    RowMajorMatrix<double> matrix{};

    auto operator()(Prefix prefix) {
        matrix.resize(3, vocab);
        std::vector<Token> text(prefix.begin(), prefix.end());
        for (Index i = 0; i < 3; ++i, text.push_back(0)) matrix.row(i) = model(text).transpose();
        if constexpr (are_values)
            return Rows(Row::probs({matrix.data(), matrix.cols()}), 3);
        else
            return Eigen::Map<const RowMajorMatrix<double>>(matrix.data(), 3, vocab);
    }
};

/// A true promise: a buffer per row.
struct Stable {
    static constexpr bool stable_rows = true;
    ContextModel model;
    std::deque<Buffer> buffers{};
    Row operator()(Prefix prefix) { return buffers.emplace_back().row(model(prefix), Kind::logits); }
};

/// A false one.
struct FalsePromise {
    static constexpr bool stable_rows = true;
    ContextModel model;
    Buffer buffer{};
    Row operator()(Prefix prefix) { return buffer.row(model(prefix), Kind::logits); }
};

/// A drafter of one's own, which fills a tree with origins.
struct Own {
    using Distribution = Origin;
    std::deque<std::vector<double>> rows{};
    bool is_empty = false;

    void propose(Prefix prefix, const RoundRng& rng, DraftTree<Origin>& tree) {
        rows.clear();
        std::vector<Token> text(prefix.begin(), prefix.end());
        for (Index node = root_node; tree.grows(node);) {
            const Eigen::VectorXd row = draft(text);
            rows.emplace_back(row.begin(), row.end());
            if (is_empty && rows.size() == 2) rows.back().assign(vocab, 0);
            const auto [token, origin] = draft_token(TokenVerification{}, rng, tree.size(), Row::probs(rows.back()));
            node = tree.add(node, token, origin);
            text.push_back(token);
        }
    }
};

/// A recurrent model: its state is a sum of the tokens.
template <bool are_values>
struct RecurrentModel {
    struct State {
        Index sum = 0;
    };

    State state{};
    std::vector<std::vector<double>> rows{};
    std::vector<Row> values{};

    auto read(std::span<const Token> tokens, Index n, Index sure, State& kept) {
        rows.clear(), values.clear();
        const Index first = std::ssize(tokens) - n + 1;
        for (Index place = 0; place <= std::ssize(tokens); ++place) {
            if (place > 0) state.sum += 3 * tokens[static_cast<std::size_t>(place - 1)] + 1;
            if (place == sure) kept = state;
            if (place < first) continue;
            const Eigen::VectorXd row = target(std::array{static_cast<Token>(state.sum % vocab)});
            rows.emplace_back(row.begin(), row.end());
        }
        for (const auto& row : rows) values.push_back(Row::probs(row));
        if constexpr (are_values)
            return std::span<const Row>(values);
        else
            return std::span<const std::vector<double>>(rows);
    }
    void restore(const State& to) { state = to; }
};

/// Ends a chain by the row before a token, and by the token's probability.
struct Confident {
    static bool before(const auto& row) { return row.coeff(0) > .3; }
    static bool after(double prob) { return prob < .2; }
};

template <class Draft, class Target, class Rule = TokenVerification>
std::vector<Token> text_of(Draft drafter, Target scorer, const Rule& rule = {}) {
    return Sampler(std::move(drafter), std::move(scorer), {.lookahead = 4, .seed = 2}, rule)
        .generate({1}, {.max_new_tokens = 80});
}

}  // namespace

TEMPLATE_TEST_CASE("models of values write the text of models of types, for every kind of row", "", TokenVerification,
                   BlockVerification, SampleMatch, GumbelMatch, GreedyMatch) {
    const TestType rule;
    const std::vector<Token> expected = text_of(draft, target, rule);
    for (const Kind kind : {Kind::probs, Kind::logits, Kind::known_logits, Kind::strided, Kind::sparse,
                            Kind::sparse_logits, Kind::computed}) {
        CAPTURE(static_cast<int>(kind));
        CHECK(text_of(values_of(draft, kind), values_of(target, kind), rule) == expected);
        CHECK(text_of(values_of(draft, kind), ManyValues{target, kind}, rule) == expected);
    }
}

TEST_CASE("drafters of values write the texts of drafters of types") {
    const ValueModel q = values_of(draft), p = values_of(target), m = values_of(middle);
    CHECK(text_of(TreeDrafter(q, {2, 2}), p) == text_of(TreeDrafter(draft, {2, 2}), target));
    CHECK(text_of(TreeDrafter(q, {2, 2}), ManyValues{target}) == text_of(TreeDrafter(draft, {2, 2}), target));
    CHECK(text_of(TreeDrafter(q, {2, 2}), TreeValues{target}) == text_of(TreeDrafter(draft, {2, 2}), target));
    CHECK(text_of(TreeDrafter(TreeValues{draft}, {2, 2}), p) == text_of(TreeDrafter(draft, {2, 2}), target));
    CHECK(text_of(TreeDrafter(q, {2, 2}), p, GumbelMatch{}) ==
          text_of(TreeDrafter(draft, {2, 2}), target, GumbelMatch{}));
    const auto children_agree = [&](const auto& policy) {
        return text_of(TreeDrafter(q, {3, 2}, policy), p) == text_of(TreeDrafter(draft, {3, 2}, policy), target);
    };
    CHECK(children_agree(children::Independent{}));
    CHECK(children_agree(children::GreedyChildren{}));
    CHECK(children_agree(children::TopChildren{}));
    CHECK(text_of(BeamDrafter(q, 3), p) == text_of(BeamDrafter(draft, 3), target));
    CHECK(text_of(LookupDrafter(), p) == text_of(LookupDrafter(), target));
    CHECK(text_of(United(LookupDrafter(), q), p) == text_of(United(LookupDrafter(), draft), target));
    CHECK(text_of(StagedDrafter(q, m, 2), p) == text_of(StagedDrafter(draft, middle, 2), target));
    choosing::Overlaps of_values, of_types;
    CHECK(text_of(choosing::BestOf(of_values, LookupDrafter(), q), choosing::Watched(p, of_values)) ==
          text_of(choosing::BestOf(of_types, LookupDrafter(), draft), choosing::Watched(target, of_types)));
    CHECK(of_values.overlap(1) == Approx(of_types.overlap(1)));
    CHECK(of_values.overlap(1) < 1);
    const auto beams = [](const auto& drafter, const auto& scorer) {
        return beam::BeamSearch(drafter, scorer, {.width = 3}).generate({1}, {.max_new_tokens = 12}).beams[1].tokens;
    };
    CHECK(beams(q, p) == beams(draft, target));
    recycling::Table learned_of_values, learned_of_types;
    CHECK(text_of(q, recycling::Recorded(ManyValues{target}, learned_of_values)) ==
          text_of(draft, recycling::Recorded(target, learned_of_types)));
    CHECK(text_of(std::ref(learned_of_values), target) == text_of(std::ref(learned_of_types), target));
}

TEMPLATE_TEST_CASE("heads of values write the texts of heads of types", "", TokenVerification, GumbelMatch) {
    const ValueModel q = values_of(draft), p = values_of(target);
    const TestType rule;
    CHECK(text_of(heads::HeadsDrafter(Heads<true>{}, 3), p, rule) ==
          text_of(heads::HeadsDrafter(Heads<false>{}, 3), target, rule));
    if constexpr (std::same_as<TestType, TokenVerification>) {
        const std::vector<Index> two{2, 1, 2};
        CHECK(text_of(heads::HybridDrafter(q, Heads<true>{}, two), p) ==
              text_of(heads::HybridDrafter(draft, Heads<false>{}, two), target));
        CHECK(text_of(heads::HeadsTreeDrafter(Heads<true>{}, expansion_tree({2, 1, 2})), p) ==
              text_of(heads::HeadsTreeDrafter(Heads<false>{}, expansion_tree({2, 1, 2})), target));
    }
}

TEST_CASE("a stop of a chain looks at rows that are values") {
    CHECK(text_of(ChainDrafter(values_of(draft), Confident{}), values_of(target)) ==
          text_of(ChainDrafter(draft, Confident{}), target));
    CHECK(text_of(ChainDrafter(values_of(draft), Confident{}), values_of(target)) != text_of(draft, target));
}

TEST_CASE("shaped models of values write the texts of shaped models of types") {
    const SamplingParams params{.temperature = .8, .top_k = 4, .top_p = .9, .repetition_penalty = 1.1};
    const std::vector<Token> expected = text_of(shaped(draft, params), shaped(target, params));
    CHECK(text_of(shaped(values_of(draft), params), shaped(values_of(target), params)) == expected);
    CHECK(text_of(shaped(values_of(draft), params), shaped(ManyValues{target}, params)) == expected);
    // A penalty of the answer alone, told of the prompt by the sampler.
    const SamplingParams of_answer{.presence_penalty = 2};
    const std::vector<Token> answer = text_of(shaped(draft, of_answer), shaped(target, of_answer));
    CHECK(text_of(shaped(values_of(draft), of_answer), shaped(values_of(target), of_answer)) == answer);
}

TEST_CASE("a recurrent model may return rows that are values") {
    const auto text = [](const auto& model) {
        return text_of(recurrent::Rewound(model, 6), recurrent::Rewound(model));
    };
    CHECK(text(RecurrentModel<true>{}) == text(RecurrentModel<false>{}));
}

TEST_CASE("a row that is a value and is copied is judged as it was drawn") {
    for (const Kind kind :
         {Kind::probs, Kind::logits, Kind::strided, Kind::sparse, Kind::sparse_logits, Kind::computed}) {
        CAPTURE(static_cast<int>(kind));
        ValueModel drafter = values_of(draft, kind);
        ManyValues many{target, kind};
        const auto scorer = [&](Prefix prefix, Index n) {
            drafter(Prefix()), drafter(prefix.first(1));  // the buffer says something else by now
            return many(prefix, n);
        };
        CHECK(text_of(std::ref(drafter), scorer) == text_of(draft, target));
    }
}

TEST_CASE("a promise that rows that are values are stable is believed") {
    const ContextModel smooth(vocab, 53);
    CHECK(text_of(Stable{smooth}, values_of(target)) == text_of(smooth, target));
    CHECK_THROWS_AS(text_of(FalsePromise{smooth}, values_of(target)), Fault);  // of rows that have changed
    CHECK_THROWS_AS(text_of(TreeDrafter(FalsePromise{smooth}, {2, 2}), values_of(target)), Fault);
}

TEST_CASE("a copy of a computed row keeps its scalar's tolerance") {
    struct Halves {
        Reader reader{};
        Row operator()(Prefix) {
            reader.numbers = {.5, .252, .252};  // a sum that rounding to 16 bits may give
            return Row::probs({reader, Row::Scalar::f16});
        }
    };
    CHECK(text_of(Halves{}, Halves{}).size() == 80);
    struct Floats : Halves {
        Row operator()(Prefix prefix) {
            Halves::operator()(prefix);
            return Row::probs(this->reader);
        }
    };
    CHECK_THROWS_AS(text_of(Floats{}, Floats{}), Fault);
}

TEST_CASE("scores of rows that are values are those of types") {
    const auto scores = [](auto drafter, auto scorer) {
        std::vector<double> found;
        const Limits limits{.max_new_tokens = 40, .top_logprobs = 2};
        Sampler sampler(std::move(drafter), std::move(scorer), {.lookahead = 4, .seed = 2});
        (void)sampler.generate({1}, limits, [&](const TokenScore& score) {
            found.insert(found.end(), {double(score.token), score.log_prob, score.margin, double(score.top[1].id)});
        });
        return found;
    };
    const std::vector<double> expected = scores(draft, target);
    CHECK(scores(values_of(draft), values_of(target)) == expected);
    CHECK(scores(values_of(draft), ManyValues{target}) == expected);
    CHECK(expected.size() == 160);
}

TEST_CASE("bad rows that are values are faults, and empty ones end a draft") {
    const auto cause_of = [](auto drafter, auto scorer) {
        try {
            (void)text_of(std::move(drafter), std::move(scorer));
        } catch (const Fault& fault) {
            return std::optional(std::pair(fault.fault.side, fault.fault.cause));
        }
        return std::optional<std::pair<Side, Cause>>();
    };
    using Found = std::optional<std::pair<Side, Cause>>;
    const auto constant = [](const std::vector<double>& row) { return [row](Prefix) { return Row::probs(row); }; };
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const ValueModel good = values_of(target);
    CHECK(cause_of(constant({.5, nan, .5, 0, 0, 0}), good) == Found({Side::draft, Cause::not_finite}));
    CHECK(cause_of(good, constant({.5, nan, .5, 0, 0, 0})) == Found({Side::target, Cause::not_finite}));
    CHECK(cause_of(constant({0, 0, 0, 0, 0, 0, 0, 1}), good) == Found({Side::draft, Cause::outside_vocabulary}));
    CHECK(cause_of(constant({}), good) == std::nullopt);
    CHECK(cause_of(constant({0, 0, 0, 0, 0, 0}), good) == std::nullopt);
    CHECK(text_of(constant({0, 0, 0, 0, 0, 0}), good, GumbelMatch{}) == text_of(draft, target, GumbelMatch{}));
    ManyValues short_of_one{target};
    const auto scorer = [&](Prefix prefix, Index n) { return short_of_one(prefix, n).first(std::size_t(n - 1)); };
    CHECK(cause_of(good, scorer) == Found({Side::target, Cause::wrong_count}));
}

TEST_CASE("a drafter of one's own fills a tree with origins") {
    CHECK(text_of(Own{}, values_of(target)) == text_of(draft, target));
    CHECK(text_of(Own{.is_empty = true}, values_of(target)).size() == 80);
}
