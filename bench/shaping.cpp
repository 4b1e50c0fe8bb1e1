// From a row to the row that is sampled: top-p, and pipelines of shapers.
#include "kernels.hpp"
#include "row_races.hpp"

#include <memory>

#include <specsample/shaping.hpp>

namespace bench {
namespace {

/// A pipeline on a copy of the row, against a textbook's form that makes a new row.
template <class Shaper, class Textbook>
Race shaping(const Setting& setting, const Shaper& shaper, const Textbook& textbook) {
    struct Memory {
        Eigen::ArrayXf probs;
        specsample::ShapingScratch scratch;
    };
    const auto memory = std::make_shared<Memory>();
    const Pool rows(setting);
    const Index likeliest = textbook::argmax(rows.contents().target);
    return race_values(
        setting, rows,
        [=](const Pair& at) {
            memory->probs = at.target;
            shaper(memory->probs, memory->scratch);
            return memory->probs[likeliest];
        },
        [=](const Pair& at) { return textbook(at.target)[likeliest]; }, target_alone);
}

constexpr float top_p = .95f;

Race nucleus(const Setting& setting) {
    return shaping(setting, specsample::TopP(top_p),
                   [](const Row& probs) { return textbook::likeliest(probs, probs.size(), top_p); });
}

/// Temperature and top-p.
Race pipeline(const Setting& setting) {
    return shaping(setting, specsample::Pipeline(specsample::Temperature(.8), specsample::TopP(top_p)),
                   [](const Row& probs) {
                       const Eigen::ArrayXf heated = textbook::softmax(probs.log(), .8f);
                       return textbook::likeliest(heated, probs.size(), top_p);
                   });
}

}  // namespace

void add_shaping(Kernels& kernels) {
    const Setting flat, peaked{.peaked = true};
    const std::string group = "shaping";
    kernels.push_back({"top_p/flat", group, nucleus, flat});
    kernels.push_back({"pipeline/flat", group, pipeline, flat});
    kernels.push_back({"top_p/peaked", group, nucleus, peaked});
    kernels.push_back({"pipeline/peaked", group, pipeline, peaked});
}

}  // namespace bench
