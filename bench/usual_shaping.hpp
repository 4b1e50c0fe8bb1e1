// The shaping pipeline that most requests ask for, and the textbook's form of it.
#pragma once

#include "textbook.hpp"

#include <specsample/shaping.hpp>

namespace bench {

inline const specsample::SamplingParams usual_shaping{.temperature = .8, .top_k = 40, .top_p = .95, .min_p = .05};

inline Eigen::ArrayXf textbook_shaping(const Row& logits) {
    return textbook::likeliest(textbook::softmax(logits, .8f), 40, .95f, .05f);
}

}  // namespace bench
