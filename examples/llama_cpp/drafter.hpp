// A drafter chosen when the program runs: a model, in chains or in trees, or lookup in the text itself.
#pragma once

#include <functional>
#include <vector>

#include <specsample/drafters/any_drafter.hpp>
#include <specsample/specsample.hpp>

#include "llama_cpp/text_model.hpp"

/// The shape of drafts: the number of children at each depth; empty for a chain.
struct DraftShape {
    std::vector<specsample::Index> children{};
    bool are_likeliest = false;  ///< children are the likeliest tokens, not drawn ones
};

using TextDrafter =
    specsample::choosing::AnyDrafter<specsample::TreeDrafter<std::reference_wrapper<TextModel>>::Distribution>;

/// Drafts by lookup in the text itself.
inline TextDrafter by_lookup() { return specsample::LookupDrafter(); }

/// Drafts by a model, which is borrowed.
inline TextDrafter by_model(TextModel& model, const DraftShape& tree = {}) {
    using namespace specsample;
    if (tree.children.empty()) return ChainDrafter(std::ref(model));
    if (tree.are_likeliest) return TreeDrafter(std::ref(model), tree.children, children::TopChildren());
    return TreeDrafter(std::ref(model), tree.children);
}
