// Drafters: their distributions and their rows.
#include <vector>

#include <specsample/drafters.hpp>
#include <specsample/models.hpp>
#include <specsample/sampler.hpp>

// case: drafter_of_another_distribution
// A drafter fills a draft tree of its own Distribution.
// expect: error: static assertion failed.*specsample::Sampler: draft.propose cannot be called with a prefix, a
// expect: a prefix, a random source and a DraftTree of its Distribution
namespace drafter_of_another_distribution {

using namespace specsample;

struct Zeros {
    using Distribution = PointMass;
#ifdef FIXED
    void propose(std::span<const Token>, const auto&, DraftTree<PointMass>& draft_tree){
#else
    void propose(std::span<const Token>, const auto&, DraftTree<SharedNoise>& draft_tree) {
#endif
        for (Index node = root_node; draft_tree.grows(node);) node = draft_tree.add(node, 0, PointMass{});
}
};

int program() {
    const auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
    Sampler sampler(Zeros{}, target);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}

}  // namespace drafter_of_another_distribution

// case: drafter_without_a_distribution
// A drafter says what its tokens are drawn from.
// expect: error: static assertion failed.*specsample::Sampler: draft has propose, but no member type
// Distribution.*write .using Distribution
namespace drafter_without_a_distribution {

using namespace specsample;

struct Zeros {
#ifdef FIXED
    using Distribution = PointMass;
#endif
    void propose(std::span<const Token>, const auto&, DraftTree<PointMass>& draft_tree) {
        for (Index node = root_node; draft_tree.grows(node);) node = draft_tree.add(node, 0, PointMass{});
    }
};

int program() {
    const auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
    Sampler sampler(Zeros{}, target);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}

}  // namespace drafter_without_a_distribution

// case: united_rows_of_two_types
// Drafters whose rows are of two types, in one tree.
// expect: error: static assertion failed.*specsample: drafters that propose together must return rows of one type
namespace united_rows_of_two_types {

using namespace specsample;

int program() {
    const auto model = [](std::span<const Token>) -> std::vector<float> { return {.5f, .5f}; };
#ifdef FIXED
    const auto other = [](std::span<const Token>) -> std::vector<float> { return {.25f, .75f}; };
#else
    const auto other = [](std::span<const Token>) -> std::vector<double> { return {.25, .75}; };
#endif
    Sampler sampler(United(model, other), model);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}

}  // namespace united_rows_of_two_types

// case: forced_by_a_cursor_without_words
// Whether a grammar forces a token is read off the words of its mask.
// expect: error: static assertion failed.*specsample::ForcedDrafter: the cursor of the grammar must have mask.., which
// returns the words of a bit mask
namespace forced_by_a_cursor_without_words {

using namespace specsample;

struct Matcher {
#ifdef FIXED
    std::vector<std::uint32_t> mask() const { return {2}; }
#else
    void mask(filters::Candidates<float>&) const {}
#endif
    void accept(Token) {}
    void rollback(Index) {}
};

int program() {
    ForcedDrafter drafter{Grammar(Matcher{})};
    DraftTree<PointMass> draft_tree;
    draft_tree.open(2, std::span<const Token>(), 2);
    drafter.propose({}, RoundRng(1, 0, 0), draft_tree);
    return static_cast<int>(draft_tree.size());
}

}  // namespace forced_by_a_cursor_without_words

// case: recurrent_without_restore
// A recurrent model takes a copy of its state back.
// expect: error: static assertion failed.*specsample::recurrent::Rewound: the model must have a type State.*and
// restore.state.
namespace recurrent_without_restore {

using namespace specsample;

struct Counter {
    using State = Index;
    Index size = 0;

    RowMajorMatrix<float> read(std::span<const Token> tokens, Index n, Index sure, State& state) {
        state = size + sure;
        size += std::ssize(tokens);
        return RowMajorMatrix<float>::Constant(n, 2, .5f);
    }
#ifdef FIXED
    void restore(const State& state) { size = state; }
#endif
};

int program() {
    recurrent::Rewound model(Counter{});
    return static_cast<int>(model(std::vector<Token>{1}, 1).rows());
}

}  // namespace recurrent_without_restore

// case: lattice_of_no_block
// A lattice is made of a block.
// expect: error: static assertion failed.*specsample::lattice::Model: the first argument must be a callable of a text
namespace lattice_of_no_block {

using namespace specsample;

int program() {
    static const std::vector<Token> ids{0, 1};
    static const std::vector<float> logits{0, 1};
    const auto pass = [](std::span<const Token>) {
#ifdef FIXED
        return lattice::Block<float>{ids, logits, 2};
#else
        return ids;
#endif
    };
    lattice::Model model(pass, 2);
    model.begin({});
    return static_cast<int>(model({}).size());
}

}  // namespace lattice_of_no_block

// case: recorded_target_without_rows
// A table learns rows, which a model that names its token does not return.
// expect: error: static assertion failed.*specsample::recycling::Recorded: the first argument must be a model that
namespace recorded_target_without_rows {

using namespace specsample;

int program() {
    recycling::Table table;
#ifdef FIXED
    const auto target = [](std::span<const Token>) { return Eigen::VectorXf{{.5f, .5f}}; };
#else
    const auto target = [](std::span<const Token>) { return Token{0}; };
#endif
    const recycling::Recorded recorded(target, table);
    return sizeof recorded == 0;
}

}  // namespace recorded_target_without_rows

// case: watched_target_without_rows
// Drafters are scored by rows, which a model that names its token does not return.
// expect: error: static assertion failed.*specsample::choosing::Watched: the first argument must be a model that
namespace watched_target_without_rows {

using namespace specsample;

int program() {
    choosing::Overlaps overlaps;
#ifdef FIXED
    const auto target = [](std::span<const Token>) { return Eigen::VectorXf{{.5f, .5f}}; };
#else
    const auto target = [](std::span<const Token>) { return Token{0}; };
#endif
    const choosing::Watched watched(target, overlaps);
    return sizeof watched == 0;
}

}  // namespace watched_target_without_rows

// case: best_of_without_overlaps
// A choice is made by overlaps, which the target's rows are scored in.
// expect: error: static assertion failed.*specsample::choosing: BestOf.overlaps, drafters... and Watched.target, overlaps.
namespace best_of_without_overlaps {

using namespace specsample;

int program() {
#ifdef FIXED
    choosing::Overlaps overlaps;
    const choosing::BestOf drafter(overlaps, LookupDrafter(), SuffixLookupDrafter());
#else
    const choosing::BestOf drafter(LookupDrafter{}, SuffixLookupDrafter{});
#endif
    return drafter.depth() > 0;
}

}  // namespace best_of_without_overlaps

// case: watched_by_temporary_overlaps
// The overlaps are borrowed.
// expect: error: static assertion failed.*specsample::choosing: BestOf.overlaps, drafters... and Watched.target, overlaps.
namespace watched_by_temporary_overlaps {

using namespace specsample;

int program() {
    const auto target = [](std::span<const Token>) { return Eigen::VectorXf{{.5f, .5f}}; };
#ifdef FIXED
    choosing::Overlaps overlaps;
    const choosing::Watched watched(target, overlaps);
#else
    const choosing::Watched watched(target, choosing::Overlaps());
#endif
    return sizeof watched == 0;
}

}  // namespace watched_by_temporary_overlaps

// case: tree_of_one_price
// The cost of a pass is a function of its positions.
// expect: error: static assertion failed.*specsample::DynamicTreeDrafter: the third argument must be the cost of a
// expect: a callable cost.n. of n positions, which is 1 for n = 1
namespace tree_of_one_price {

using namespace specsample;

int program() {
    const auto model = [](std::span<const Token>) { return Eigen::VectorXf{{.5f, .5f}}; };
#ifdef FIXED
    const auto cost = [](Index n) { return 1 + .05 * static_cast<double>(n - 1); };
#else
    const double cost = .05;
#endif
    const DynamicTreeDrafter drafter(model, {.width = 2, .nodes = 3}, cost);
    return sizeof drafter == 0;
}

}  // namespace tree_of_one_price

// case: outcomes_of_one_row
// Every drafted token was drawn from a row of its own.
// expect: error: static assertion failed.*specsample::ahead::likely_outcomes: the second argument must be rows
namespace outcomes_of_one_row {

using namespace specsample;

std::size_t program() {
    std::vector<ahead::RoundOutcome> outcomes;
#ifdef FIXED
    const std::vector<std::vector<float>> rows{{.5f, .5f}};
#else
    const std::vector<float> rows{.5f, .5f};
#endif
    const std::vector<Token> tokens{0};
    ahead::likely_outcomes(tokens, rows, 1, .5, 2, outcomes);
    return outcomes.size();
}

}  // namespace outcomes_of_one_row

// case: any_drafter_of_another_distribution
// A drafter in an AnyDrafter fills trees of its distribution.
// expect: error: static assertion failed.*specsample::choosing::AnyDrafter: this drafter does not fill a DraftTree<L>
namespace any_drafter_of_another_distribution {

using namespace specsample;

struct Draft {
    Eigen::VectorXf operator()(std::span<const Token>) const { return Eigen::VectorXf::Constant(2, .5f); }
};

Index program() {
#ifdef FIXED
    choosing::AnyDrafter<TreeDrafter<Draft>::Distribution> drafter = TreeDrafter(Draft{}, {2});
#else
    choosing::AnyDrafter<> drafter = TreeDrafter(Draft{}, {2});
#endif
    return drafter.depth();
}

}  // namespace any_drafter_of_another_distribution

// case: any_drafter_of_no_drafter
// expect: error: static assertion failed.*specsample::choosing::AnyDrafter: the argument must be a drafter, or a model
namespace any_drafter_of_no_drafter {

using namespace specsample;

Index program() {
#ifdef FIXED
    choosing::AnyDrafter<> drafter = LookupDrafter();
#else
    choosing::AnyDrafter<> drafter = 3;
#endif
    return drafter.depth();
}

}  // namespace any_drafter_of_no_drafter
