// Models that return logits or sparse rows, in every storage: the text of their probabilities, under every rule.
//
// Rows, distributions and rules are types here, since they are what is tested. Models and drafters of one kind of row
// are one type, so that a sampler is compiled once for all of them.
#include <deque>
#include <functional>
#include <vector>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/any_children.hpp"
#include "support/any_drafter.hpp"
#include "support/catch.hpp"
#include "support/numbers.hpp"

using namespace specsample;
using namespace specsample::children;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 6;
const ContextModel draft(vocab, 51, Rows::with_zeros), target(vocab, 52, Rows::with_zeros);
constexpr double temperature = .7;

using Prefix = std::span<const Token>;

Eigen::VectorXd logits(const Eigen::VectorXd& probs) { return (probs.array().log() * temperature + 5).matrix(); }

struct LogitsByValue {
    ContextModel model;
    auto operator()(Prefix prefix) const { return Logits(logits(model(prefix)), temperature); }
};

struct SparseByValue {
    ContextModel model;
    auto operator()(Prefix prefix) const {
        const Eigen::VectorXd row = model(prefix);
        std::vector<std::int16_t> ids;
        std::vector<double> probs;
        for (std::int16_t id = 0; id < row.size(); ++id)
            if (row[id] > 0) ids.push_back(id), probs.push_back(row[id]);
        return Sparse(std::move(ids), std::move(probs), vocab);
    }
};

/// One buffer for all rows, as engines have it.
struct LogitsOfOneBuffer {
    ContextModel model;
    std::vector<double> buffer = {};

    auto operator()(Prefix prefix) {
        const Eigen::VectorXd row = logits(model(prefix));
        buffer.assign(row.begin(), row.end());
        return Logits(std::span(buffer), temperature);
    }
};

/// The same, whose normaliser the model knows.
struct KnownLogits : LogitsOfOneBuffer {
    auto operator()(Prefix prefix) {
        LogitsOfOneBuffer::operator()(prefix);
        return Logits(std::span(buffer), temperature, 5 / temperature);
    }
};

/// A promise that rows stay valid: false, if they share one buffer.
struct FalsePromise : LogitsOfOneBuffer {
    static constexpr bool stable_rows = true;
};

/// A true promise: a buffer per row.
struct StableLogits {
    static constexpr bool stable_rows = true;
    ContextModel model;
    std::deque<Eigen::VectorXd> buffers = {};

    auto operator()(Prefix prefix) {
        const Eigen::VectorXd& buffer = buffers.emplace_back(logits(model(prefix)));
        return Logits(Eigen::Map<const Eigen::VectorXd>(buffer.data(), vocab), temperature);
    }
};

/// Candidates in one buffer, as structs.
template <bool of_logits>
struct CandidateModel {
    struct Candidate {
        std::int32_t id;
        double logit, p;
    };

    ContextModel model;
    std::vector<Candidate> list = {};

    auto operator()(Prefix prefix) {
        const Eigen::VectorXd row = model(prefix), z = logits(row);
        list.clear();
        for (std::int32_t id = 0; id < row.size(); ++id)
            if (row[id] > 0) list.push_back({id, z[id], row[id]});
        if constexpr (of_logits) {
            return Sparse(member(list, &Candidate::id), Logits(member(list, &Candidate::logit), temperature), vocab);
        } else {
            return Sparse(member(list, &Candidate::id), member(list, &Candidate::p), vocab);
        }
    }
};

/// Any model whose rows are of one type; it promises stable rows if the model does.
template <class Model>
auto any_model(Model model) {
    if constexpr (StableRows<Model>) {
        return model;
    } else {
        return std::function<decltype(model(Prefix()))(Prefix)>(std::move(model));
    }
}

// n rows in one pass.
RowMajorMatrixXd logit_rows(Prefix prefix, Index n) {
    RowMajorMatrixXd rows = target(prefix, n);
    for (Index i = 0; i < n; ++i) rows.row(i) = logits(rows.row(i).transpose()).transpose();
    return rows;
}
auto owned_rows(Prefix prefix, Index n) { return logits_of(logit_rows(prefix, n), temperature); }
template <class Model>
auto list(Prefix prefix, Index n) {
    Model model{target};
    std::vector<decltype(model(prefix))> rows;
    for (Index i = 0; i < n; ++i)
        rows.push_back(model(prefix.first(prefix.size() - static_cast<std::size_t>(n - 1 - i))));
    return rows;
}
struct PaddedRows {
    RowMajorMatrixXd buffer = {};

    auto operator()(Prefix prefix, Index n) {
        buffer.setConstant(n, vocab + 3, 1e9);
        for (Index i = 0; i < n; ++i) numbers::write(buffer(i, vocab), numbers::Special::nan);
        buffer.leftCols(vocab) = logit_rows(prefix, n);
        return logits_of(rows_in_memory(buffer.data(), n, vocab, vocab + 3), temperature);
    }
};

template <class Distribution, class Target, class Rule>
std::vector<Token> text_by(any::Drafter<Distribution>& drafter, Target& scorer, const Rule& rule) {
    Sampler sampler(std::ref(drafter), std::ref(scorer), {.lookahead = 4, .seed = 2}, rule);
    return sampler.generate({1}, {.max_new_tokens = 80});
}

template <class Draft, class Target, class Rule = TokenVerification>
std::vector<Token> text_of(Draft model, Target scorer, const Rule& rule = {}) {
    using Drafter = typename detail::DrafterOf<Draft>::type;
    constexpr bool shares_noise = requires { requires bool(Rule::shares_noise); };
    any::Drafter<detail::DistributionOf<Drafter, shares_noise>> drafter(Drafter(std::move(model)));
    return text_by(drafter, scorer, rule);
}

void check(const std::vector<Token>& text, const std::vector<Token>& expected) { CHECK(text == expected); }

template <class Model, class Rule>
void check_model(const Rule& rule) {
    const auto drafter = any_model(Model{draft}), scorer = any_model(Model{target});
    const auto expected = text_of(draft, target, rule);
    check(text_of(drafter, target, rule), expected);
    check(text_of(drafter, scorer, rule), expected);
}

any::Kind kind_of(WithoutReplacement) { return any::Kind::without_replacement; }
any::Kind kind_of(Independent) { return any::Kind::independent; }
any::Kind kind_of(TopChildren) { return any::Kind::top; }
any::Kind kind_of(GreedyChildren) { return any::Kind::greedy; }

template <class Rule>
void check_trees(any::Kind kind, const Rule& rule) {
    const auto tree = [kind](auto model) { return TreeDrafter(any_model(model), {2, 2, 1}, any::Children{kind}); };
    const auto expected = text_of(tree(draft), target, rule);
    check(text_of(tree(LogitsByValue{draft}), any_model(LogitsByValue{target}), rule), expected);
    check(text_of(tree(LogitsOfOneBuffer{draft}), PaddedRows{}, rule), expected);
    check(text_of(tree(StableLogits{draft}), owned_rows, rule), expected);
    check(text_of(tree(SparseByValue{draft}), list<LogitsByValue>, rule), expected);
    check(text_of(tree(CandidateModel<true>{draft}), any_model(CandidateModel<false>{target}), rule), expected);
}

}  // namespace

TEMPLATE_TEST_CASE("logits and sparse rows write the text of their probabilities, under any rule", "",
                   TokenVerification, BlockVerification, SampleMatch, GumbelMatch, GreedyMatch) {
    const TestType rule;
    check_model<LogitsByValue>(rule);
    check_model<LogitsOfOneBuffer>(rule);
    check_model<KnownLogits>(rule);
    check_model<StableLogits>(rule);
    check_model<SparseByValue>(rule);
    check_model<CandidateModel<true>>(rule);
    check_model<CandidateModel<false>>(rule);
}

TEMPLATE_TEST_CASE("many rows may be logits or sparse rows, under any rule", "", TokenVerification, BlockVerification,
                   GumbelMatch) {
    const TestType rule;
    const auto expected = text_of(draft, target, rule);
    check(text_of(any_model(LogitsByValue{draft}), owned_rows, rule), expected);
    check(text_of(any_model(CandidateModel<true>{draft}), PaddedRows{}, rule), expected);
    check(text_of(draft, list<LogitsByValue>, rule), expected);
    check(text_of(any_model(SparseByValue{draft}), list<SparseByValue>, rule), expected);
}

TEST_CASE("a promise that rows of logits are stable is believed") {
    const ContextModel smooth(vocab, 53);
    CHECK(text_of(StableLogits{smooth}, target) == text_of(smooth, target));
    CHECK(text_of(FalsePromise{{smooth}}, target) != text_of(smooth, target));
    FalsePromise drafter{{smooth}};
    CHECK(text_of(std::ref(drafter), target) == text_of(FalsePromise{{smooth}}, target));
}

TEMPLATE_TEST_CASE("a row that is copied is judged as it was drawn", "", LogitsOfOneBuffer, CandidateModel<true>,
                   CandidateModel<false>) {
    TestType drafter{draft};
    const auto scorer = [&](Prefix prefix, Index n) {
        drafter(Prefix()), drafter(prefix.first(1));  // the buffer says something else by now
        return target(prefix, n);
    };
    CHECK(text_of(std::ref(drafter), scorer) == text_of(draft, target));
}

TEMPLATE_TEST_CASE("trees of any children are drawn from logits and sparse rows", "", WithoutReplacement, Independent,
                   TopChildren, GreedyChildren) {
    constexpr bool independent = std::same_as<TestType, Independent>;
    check_trees(kind_of(TestType{}), TokenVerification{});
    check_trees(kind_of(TestType{}), SampleMatch{});
    check_trees(kind_of(TestType{}), GumbelMatch{});
    if (!independent) check_trees(kind_of(TestType{}), BlockVerification{});
    if (independent) check_trees(kind_of(TestType{}), KSeq{});
}

TEST_CASE("an id that is masked or absent is never written") {
    const ContextModel smooth(vocab, 53);
    const auto masked = [&](Prefix prefix) {
        Eigen::VectorXd row = logits(smooth(prefix));
        numbers::write(row[static_cast<Index>(prefix.size() % vocab)], numbers::Special::minus_infinity);
        return Logits(std::move(row), temperature);
    };
    for (const auto& text : {text_of(smooth, any_model(masked)),
                             text_of(any_model(SparseByValue{draft}), any_model(masked), BlockVerification{}),
                             text_of(smooth, any_model(masked), GumbelMatch{}),
                             text_of(TreeDrafter(any_model(smooth), {3, 2}), any_model(masked))})
        for (std::size_t i = 0; i < text.size(); ++i) CHECK(text[i] != static_cast<Token>((i + 1) % vocab));
}
