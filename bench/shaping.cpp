// Shaping, from a model's row to the row that is sampled: top-k, top-p, and a pipeline of shapers.
#include "kernels.hpp"
#include "row_races.hpp"
#include "usual_shaping.hpp"

#include <memory>

#include <specsample/shaping.hpp>

namespace bench {
namespace {

/// Race a pipeline on rows of probabilities or logits against the textbook's form, which makes a new row.
template <class Pipeline, class Textbook>
Race shaping(const Setting& setting, const Pipeline& pipeline, const Textbook& textbook) {
    const auto memory = std::make_shared<specsample::filters::ShapedMemory<float>>();
    const Pool rows(setting);
    const auto likeliest = textbook::argmax(rows.contents().target);
    const bool are_logits = setting.numbers == Numbers::logits;
    return race_values(
        setting, rows,
        [=](const Pair& at) {
            const auto left = [&](const auto& row) { return row.probs().coeff(static_cast<Index>(likeliest)); };
            return are_logits ? left(specsample::shape(specsample::Logits(at.target), pipeline, {}, *memory))
                              : left(specsample::shape(at.target, pipeline, {}, *memory));
        },
        [=](const Pair& at) { return textbook(at.target)[likeliest]; }, target_alone);
}

Race nucleus(const Setting& setting) {
    return shaping(setting, specsample::filters::TopP(.95),
                   [](const Row& probs) { return textbook::likeliest(probs, probs.size(), .95f); });
}

Race top_k(const Setting& setting) {
    return shaping(setting, specsample::filters::TopK(40),
                   [](const Row& logits) { return textbook::likeliest(textbook::softmax(logits), 40, 1); });
}

Race pipeline(const Setting& setting) {
    return shaping(setting, usual_shaping, [](const Row& logits) { return textbook_shaping(logits); });
}

}  // namespace

void add_shaping(Kernels& kernels) {
    const Setting flat, peaked{.peaked = true}, logits{.numbers = Numbers::logits};
    const std::string group = "shaping";
    kernels.push_back({"top_p/flat", group, nucleus, flat});
    kernels.push_back({"top_p/peaked", group, nucleus, peaked});
    kernels.push_back({"top_k/logits", group, top_k, logits});
    kernels.push_back({"pipeline/logits", group, pipeline, logits});
}

}  // namespace bench
