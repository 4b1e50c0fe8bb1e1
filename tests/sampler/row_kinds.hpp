// Models that return logits or sparse rows, in every storage, and the text of a draft and a target among them.
//
// Rows, distributions and rules are types here, since they are what is tested. Models and drafters of one kind of row
// are one type, so that a sampler is compiled once for all of them.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include <specsample/drafters/any_drafter.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"
#include "support/numbers.hpp"

namespace row_kinds {

using namespace specsample;
using namespace specsample::testing;

constexpr Index vocab = 6;
inline const ContextModel draft(vocab, 51, RowKind::with_zeros), target(vocab, 52, RowKind::with_zeros);
constexpr double temperature = .7;

using Prefix = std::span<const Token>;

inline Eigen::VectorXd logits(const Eigen::VectorXd& probs) { return (probs.array().log() * temperature + 5).matrix(); }

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
    if constexpr (detail::StableRows<Model>) {
        return model;
    } else {
        return std::function<decltype(model(Prefix()))(Prefix)>(std::move(model));
    }
}

// n rows in one pass.
inline RowMajorMatrix<double> logit_rows(Prefix prefix, Index n) {
    RowMajorMatrix<double> rows = target(prefix, n);
    for (Index i = 0; i < n; ++i) rows.row(i) = logits(rows.row(i).transpose()).transpose();
    return rows;
}
inline auto owned_rows(Prefix prefix, Index n) { return logits_of(logit_rows(prefix, n), temperature); }
template <class Model>
auto list(Prefix prefix, Index n) {
    Model model{target};
    std::vector<decltype(model(prefix))> rows;
    for (Index i = 0; i < n; ++i)
        rows.push_back(model(prefix.first(prefix.size() - static_cast<std::size_t>(n - 1 - i))));
    return rows;
}
struct PaddedRows {
    RowMajorMatrix<double> buffer = {};

    auto operator()(Prefix prefix, Index n) {
        buffer.setConstant(n, vocab + 3, 1e9);
        for (Index i = 0; i < n; ++i) numbers::write(buffer(i, vocab), numbers::Special::nan);
        buffer.leftCols(vocab) = logit_rows(prefix, n);
        return logits_of(rows_in_memory(buffer.data(), n, vocab, vocab + 3), temperature);
    }
};

template <class Distribution, class Target, class Rule>
std::vector<Token> text_by(choosing::AnyDrafter<Distribution>& drafter, Target& scorer, const Rule& rule) {
    Sampler sampler(std::ref(drafter), std::ref(scorer), {.lookahead = 4, .seed = 2}, rule);
    return sampler.generate({1}, {.max_new_tokens = 80});
}

template <class Draft, class Target, class Rule = TokenVerification>
std::vector<Token> text_of(Draft model, Target scorer, const Rule& rule = {}) {
    using Drafter = typename detail::DrafterOf<Draft>::type;
    constexpr bool shares_noise = requires { requires bool(Rule::shares_noise); };
    choosing::AnyDrafter<detail::DistributionOf<Drafter, shares_noise>> drafter(std::move(model));
    return text_by(drafter, scorer, rule);
}

inline void check(const std::vector<Token>& text, const std::vector<Token>& expected) { CHECK(text == expected); }

}  // namespace row_kinds
