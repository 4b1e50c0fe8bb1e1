// One model as rows of every kind: the same distribution in other numbers.
#pragma once

#include <vector>

#include <specsample/drafters.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>
#include <specsample/theory.hpp>
#include <specsample/tree.hpp>
#include <specsample/vocabularies.hpp>

namespace cases {

using namespace specsample;
using namespace specsample::attention;
using namespace specsample::children;
using namespace specsample::filters;
using namespace specsample::heads;
using namespace specsample::kernels;
using namespace specsample::theory;
using namespace specsample::vocabularies;
using namespace specsample::walks;
using namespace specsample::testing;

/// Logits of probabilities at a temperature, up to a constant, which may be any.
inline Eigen::VectorXd logits_of_row(const Eigen::VectorXd& probs, double temperature) {
    return (probs.array().log() * temperature + 3).matrix();
}

struct AsDense {
    ContextModel model;
    Eigen::VectorXd operator()(std::span<const Token> prefix) const { return model(prefix); }
};

struct AsLogits {
    ContextModel model;
    auto operator()(std::span<const Token> prefix) const { return Logits(logits_of_row(model(prefix), 0.7), 0.7); }
};

/// A view of one buffer that every call overwrites, padded and strided.
struct AsStridedLogits {
    ContextModel model;
    std::vector<double> buffer = {};

    auto operator()(std::span<const Token> prefix) {
        const Eigen::VectorXd logits = logits_of_row(model(prefix), 1.5);
        buffer.assign(static_cast<std::size_t>(3 * logits.size() + 5), 1e9);
        using Column = Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<>>;
        Column strided(buffer.data(), logits.size(), Eigen::InnerStride<>(3));
        strided = logits;
        return Logits(Column(strided), 1.5);
    }
};

struct AsSparse {
    ContextModel model;

    auto operator()(std::span<const Token> prefix) const {
        const Eigen::VectorXd row = model(prefix);
        std::vector<std::int32_t> ids;
        std::vector<double> probs;
        for (Index id = 0; id < row.size(); ++id) {
            if (row[id] == 0) continue;
            ids.push_back(static_cast<std::int32_t>(id));
            probs.push_back(row[id]);
        }
        return Sparse(std::move(ids), std::move(probs), row.size());
    }
};

/// Candidates as a sampler chain leaves them, in a buffer that every call overwrites.
struct AsCandidates {
    struct Candidate {
        std::int64_t id;
        double logit;
        float p;
    };

    ContextModel model;
    std::vector<Candidate> candidates = {};

    auto operator()(std::span<const Token> prefix) {
        const Eigen::VectorXd row = model(prefix);
        candidates.clear();
        for (Index id = 0; id < row.size(); ++id)
            if (row[id] > 0) candidates.push_back({id, 2 * std::log(row[id]), -1});
        return Sparse(member(candidates, &Candidate::id), Logits(member(candidates, &Candidate::logit), 2), row.size());
    }
};

}  // namespace cases
