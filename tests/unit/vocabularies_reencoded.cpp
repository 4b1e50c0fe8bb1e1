// Drafts of another tokenizer, tokenised again in the target's.
#include <specsample/vocabularies/reencoded.hpp>

#include <functional>

#include "support/catch.hpp"
#include "support/two_tokenizers.hpp"

using namespace specsample;
using namespace two_tokenizers;
using specsample::vocabularies::Reencoded;

namespace {

/// Drafts chains or trees of given tokens, and keeps the text that it was shown.
struct Given {
    using Distribution = PointMass;

    std::vector<Ids> paths;
    std::reference_wrapper<Ids> shown;

    template <class Source, class L>
    void propose(std::span<const Token> prefix, const Source&, DraftTree<L>& draft_tree) {
        shown.get().assign(prefix.begin(), prefix.end());
        for (const Ids& path : paths) {
            Index node = root_node;
            for (const Token token : path) node = draft_tree.add(node, token, PointMass{});
        }
    }
};

/// Drafts with a cache of its own.
struct Cached {
    using Distribution = PointMass;
    std::reference_wrapper<Ids> text;
    std::reference_wrapper<std::vector<Index>> lengths;

    template <class Source>
    void propose(std::span<const Token> prefix, const Source&, DraftTree<PointMass>& draft_tree) {
        REQUIRE(std::equal(text.get().begin(), text.get().end(), prefix.begin()));
        text.get().assign(prefix.begin(), prefix.end());
        draft_tree.add(root_node, 2, PointMass{});
    }
    void rollback(Index length) {
        lengths.get().push_back(length);
        text.get().resize(std::min(text.get().size(), static_cast<std::size_t>(length)));
    }
};

}  // namespace

TEST_CASE("a draft's text is tokenised as a whole, and branches that begin alike share nodes") {
    Ids shown;
    DraftTree<PointMass> draft_tree;
    const auto propose = [&](std::vector<Ids> paths, Index depth) {
        Reencoded drafter(Given{std::move(paths), shown}, to_draft, to_target);
        draft_tree.open(depth, {}, 4);
        drafter.propose(Ids{2, 3}, RoundRng(1, 0, 0), draft_tree);
        return Ids(draft_tree.tokens().begin(), draft_tree.tokens().end());
    };
    CHECK(propose({{0, 1, 1}}, 3) == Ids{3, 1});
    CHECK(shown == Ids{2, 0, 1});
    CHECK(propose({{2, 0, 1}, {2, 0, 0}, {1}}, 4) == Ids{2, 3, 0, 0, 1});
    CHECK(draft_tree.parent(0) == root_node);
    CHECK(draft_tree.parent(1) == 0);
    CHECK(draft_tree.parent(2) == 0);
    CHECK(draft_tree.parent(3) == 2);
    CHECK(draft_tree.parent(4) == root_node);
    CHECK(propose({}, 4).empty());
    CHECK(propose({{2, 2, 2}}, 0).empty());
}

TEST_CASE("a drafter of another tokenizer is rolled back by its own tokens") {
    Ids text;
    std::vector<Index> lengths;
    Reencoded drafter(Cached{text, lengths}, to_draft, to_target);
    DraftTree<PointMass> draft_tree;
    for (const Ids& prefix : {Ids{3, 2}, Ids{3, 2, 3}, Ids{3, 1}, Ids{0, 0}}) {
        draft_tree.open(3, {}, 4);
        drafter.propose(prefix, RoundRng(1, 0, 0), draft_tree);
        CHECK(draft_tree.size() == 1);
    }
    CHECK(lengths == std::vector<Index>{0, 2, 1});
}
