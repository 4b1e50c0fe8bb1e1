// Heads and modules on a target as models of specsample. They read the target's states of the text and need no cache.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/eagle.hpp"
#include "engine/heads.hpp"
#include "engine/mtp.hpp"
#include "generate/beliefs.hpp"
#include "generate/language_model.hpp"

/// The target's state at the position before the last of `prefix`, which it has not seen yet. The heads read it when a
/// round begins. Zero before the first token.
inline Eigen::ArrayXf state_before_last(engine::Model& target, std::span<const specsample::Token> prefix) {
    if (prefix.size() < 2) return Eigen::ArrayXf::Zero(target.weights()->config.dim);
    return target.state(prefix.first(prefix.size() - 1));
}

/// A specsample::heads::HeadsModel: row i is the distribution of the token i places after the next one.
class TargetHeads : public Metered {
  public:
    TargetHeads(engine::Heads heads, std::shared_ptr<engine::Model> target, RowShaper shaper)
        : heads_(std::move(heads)), target_(std::move(target)), shaper_(std::move(shaper)) {}

    specsample::Index count() const { return heads_.count(); }

    LanguageModel::Rows operator()(std::span<const specsample::Token> prefix) {
        const Pass pass(*this);
        const Eigen::ArrayXf state = state_before_last(*target_, prefix);
        const engine::Logits logits = heads_(engine::ConstVector(state.data(), state.size()));
        LanguageModel::Rows rows;
        for (specsample::Index i = 0; i < count(); ++i) rows.push_back(shaper_(logits.row(i), prefix));
        return rows;
    }

  private:
    engine::Heads heads_;
    std::shared_ptr<engine::Model> target_;
    RowShaper shaper_;
};

/// A model that reads the target's state when a round begins, and continues from it by itself.
class TargetModule : public Metered {
  public:
    TargetModule(engine::Mtp module, std::shared_ptr<engine::Model> target, RowShaper shaper)
        : module_(std::move(module)), target_(std::move(target)), shaper_(std::move(shaper)) {}

    /// Called before a round after `text`, which has at least one token.
    void begin(std::span<const specsample::Token> text) {
        const Eigen::ArrayXf state = state_before_last(*target_, text);
        module_.begin(engine::ConstVector(state.data(), state.size()));
        seen_ = text.size() - 1;
    }

    Eigen::VectorXf operator()(std::span<const specsample::Token> prefix) {
        const Pass pass(*this);
        return shaper_(module_(prefix.subspan(seen_)).row(0), prefix);
    }

  private:
    engine::Mtp module_;
    std::shared_ptr<engine::Model> target_;
    RowShaper shaper_;
    std::size_t seen_ = 0;  // tokens up to the state that the module began with
};

/// A drafter that continues the target's states of the text. Ids that it never drafts have probability 0.
class TargetEagle : public Metered {
  public:
    TargetEagle(engine::Eagle eagle, RowShaper shaper) : eagle_(std::move(eagle)), shaper_(std::move(shaper)) {}

    /// Called before a round after `text`, which has at least one token.
    void begin(std::span<const specsample::Token> text) {
        const Pass pass(*this);
        eagle_.begin(text);
        likelihood_ = 1;
    }

    /// Reads a prompt of at most context() tokens, without counting the time.
    void prefill(std::span<const specsample::Token> prompt) {
        if (!prompt.empty() && std::ssize(prompt) <= context()) eagle_.begin(prompt);
    }

    Eigen::VectorXf operator()(std::span<const specsample::Token> prefix) {
        const Pass pass(*this);
        const Eigen::VectorXf drafted = shaper_(eagle_.few(prefix).row(0), prefix);  // temperature and top-p see no ids
        likelihood_ *= eagle_.confidence();
        Eigen::VectorXf row = Eigen::VectorXf::Zero(eagle_.vocab());
        row(eagle_.ids()) = drafted;
        return row;
    }

    /// The distribution at temperature 1, whatever the text's: at 0 as well, it says how sure the drafter is.
    Beliefs beliefs(std::span<const specsample::Token> prefix) {
        const Pass pass(*this);
        return {specsample::kernels::softmax(eagle_.few(prefix).row(0)), eagle_.ids()};
    }

    /// Of a chain since begin: about how often the most likely tokens of all its rows are right.
    double likelihood() const { return likelihood_; }

    specsample::Index context() const { return eagle_.context(); }
    std::size_t weight_bytes() const { return eagle_.weight_bytes(); }

  private:
    engine::Eagle eagle_;
    RowShaper shaper_;
    double likelihood_ = 1;
};
