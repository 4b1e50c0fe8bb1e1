// A state-space model of the engine as a model of specsample, with a copy of its state for every token of a draft.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include <specsample/models.hpp>

#include "engine/state_space.hpp"
#include "generate/language_model.hpp"

/// It compares a prefix with what its state has read, so the caller never rolls it back.
class StateSpaceModel : public Metered {
  public:
    /// @param states   copies kept: the tokens of a draft and two more, so that a rejection reads no text again
    StateSpaceModel(const std::shared_ptr<const engine::StateSpaceWeights>& weights, RowShaper shaper,
                    specsample::Index states)
        : model_(engine::StateSpace(weights), states), shaper_(std::move(shaper)) {}

    Eigen::VectorXf operator()(std::span<const specsample::Token> prefix) {
        const Pass pass(*this);
        return shaper_(model_(prefix), prefix);
    }

    /// Reads a prompt, without counting the time.
    void prefill(std::span<const specsample::Token> prompt) { model_(prompt); }

  private:
    specsample::recurrent::Rewound<engine::StateSpace> model_;
    RowShaper shaper_;
};
