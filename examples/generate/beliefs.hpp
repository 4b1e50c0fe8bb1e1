// How probable a model finds the ids that it may draft.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <specsample/core/eigen.hpp>
#include <specsample/core/types.hpp>

/// A row whose other ids have probability 0, so that nobody reads a whole vocabulary for a few thousand ids.
struct Beliefs {
    /// Of ids 0, 1, 2, ... in turn.
    Beliefs(Eigen::VectorXf row) : probabilities(std::move(row)) {}

    /// Number i is that of ids[i].
    Beliefs(Eigen::VectorXf row, std::span<const specsample::Index> of) : probabilities(std::move(row)), ids(of) {}

    specsample::Index id(specsample::Index place) const {
        return ids.empty() ? place : ids[static_cast<std::size_t>(place)];
    }

    float of(specsample::Index id) const {
        const specsample::Index place = ids.empty() ? id : std::ranges::find(ids, id) - ids.begin();
        return place < probabilities.size() ? probabilities[place] : 0;
    }

    Eigen::VectorXf probabilities;
    std::span<const specsample::Index> ids{};
};

/// Valid until it is called again.
using BeliefModel = std::function<Beliefs(std::span<const specsample::Token>)>;
