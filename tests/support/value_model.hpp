// A model of the tests as one whose rows are values.
#pragma once

#include <span>
#include <vector>

#include <specsample/rows/row.hpp>
#include <specsample/testing/models.hpp>

namespace value_model {

/// The same rows as values, all in one buffer, as engines have it.
struct Values {
    specsample::testing::ContextModel model;
    std::vector<double> buffer{};

    specsample::Row operator()(std::span<const specsample::Token> prefix) {
        const Eigen::VectorXd probs = model(prefix);
        buffer.assign(probs.begin(), probs.end());
        return specsample::Row::probs(buffer);
    }
};

}  // namespace value_model
