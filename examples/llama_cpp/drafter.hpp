// A drafter chosen when the program runs: a model, in chains or in trees, or lookup in the text itself.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <specsample/specsample.hpp>

#include "llama_cpp/text_model.hpp"

/// The shape of drafts: the number of children at each depth; empty for a chain.
struct DraftShape {
    std::vector<specsample::Index> children{};
    bool are_likeliest = false;  ///< children are the likeliest tokens, not drawn ones
};

class TextDrafter {
    using DraftModel = std::reference_wrapper<TextModel>;

  public:
    using Distribution = specsample::TreeDrafter<DraftModel>::Distribution;

    /// Drafts by lookup in the text itself.
    TextDrafter() = default;

    /// Drafts by a model, which is borrowed.
    TextDrafter(TextModel& model, const DraftShape& tree) : drafter_(kind(model, tree)) {}

    template <class Source, class L>
    void propose(std::span<const specsample::Token> prefix, const Source& rng, specsample::DraftTree<L>& draft_tree) {
        std::visit([&](auto& drafter) { drafter.propose(prefix, rng, draft_tree); }, drafter_);
    }

    void rollback(specsample::Index length) {
        if (auto* lookup = std::get_if<specsample::LookupDrafter>(&drafter_)) lookup->rollback(length);
    }

  private:
    using Kind = std::variant<specsample::LookupDrafter, specsample::ChainDrafter<DraftModel>,
                              specsample::TreeDrafter<DraftModel>,
                              specsample::TreeDrafter<DraftModel, specsample::children::TopChildren>>;

    static Kind kind(DraftModel model, const DraftShape& tree) {
        using namespace specsample;
        using namespace specsample::children;
        if (tree.children.empty()) return ChainDrafter(model);
        if (tree.are_likeliest) return TreeDrafter(model, tree.children, TopChildren());
        return TreeDrafter(model, tree.children);
    }

    Kind drafter_{};
};
