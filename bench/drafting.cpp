// Drafting trees from a model's rows: our drafters beside the textbook's form of each, on a model that takes no time.
//
//   drawn     60 tokens, (4, 2, 2, 2) children: 29 rows, each read once
//   likeliest the EAGLE-2 tree: 60 tokens of a beam search of width 8 over six levels: 41 rows
//
// The model declares stable_rows, as one with a buffer per row does; the rows of any other model are copied as well.
#include "kernels.hpp"
#include "textbook.hpp"

#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <specsample/drafters/beam.hpp>
#include <specsample/drafters/tree.hpp>
#include <specsample/rows/logits.hpp>

namespace bench {
namespace {

using specsample::Purpose;
using specsample::RoundRng;
using specsample::Token;

const std::vector<Index> branching{4, 2, 2, 2};
constexpr Index drawn_rows = 1 + 4 + 8 + 16;
constexpr specsample::DynamicTree likeliest{.width = 8, .nodes = 60};
constexpr Index levels = 6, likeliest_rows = 1 + (levels - 1) * likeliest.width;

/// A model whose rows are the target's at consecutive positions of the pool.
template <Numbers numbers>
struct PoolModel {
    static constexpr bool stable_rows = true;

    const Pool* pool;
    std::shared_ptr<Index> next;

    auto operator()(std::span<const Token>) const {
        const Row row = (*pool)[(*next)++].target;
        if constexpr (numbers == Numbers::logits)
            return specsample::Logits(row);
        else
            return row;
    }
};

/// A drafter, and what it needs from call to call.
template <class Drafter>
struct Drafting {
    Pool pool;
    std::shared_ptr<Index> next = std::make_shared<Index>();
    std::optional<Drafter> drafter{};
    specsample::DraftTree<typename Drafter::Distribution> tree{};
    std::vector<Token> prefix{1, 2, 3};

    Index operator()(const RoundRng& rng, Index first) {
        *next = first;
        tree.open(levels, specsample::ListRef<Token>{}, pool[0].target.size());
        drafter->propose(std::span<const Token>(prefix), rng, tree);
        return tree.size();
    }
};

/// The logarithms of a row's probabilities.
template <Numbers numbers>
Eigen::ArrayXf logarithms(const Row& row) {
    return numbers == Numbers::logits ? Eigen::ArrayXf(row - textbook::log_sum_exp(row)) : Eigen::ArrayXf(row.log());
}

/// The largest `count` numbers' ids, in order.
std::vector<Token> largest(const Eigen::ArrayXf& numbers, Index count) {
    std::vector<Token> ids(static_cast<std::size_t>(numbers.size()));
    std::iota(ids.begin(), ids.end(), Token{0});
    std::partial_sort(ids.begin(), ids.begin() + count, ids.end(),
                      [&](Token a, Token b) { return numbers[a] > numbers[b]; });
    ids.resize(static_cast<std::size_t>(count));
    return ids;
}

/// The textbook's tree of draws without replacement: the largest sums of log-probability and Gumbel noise per row.
template <Numbers numbers>
Index draw_tree(const Pool& pool, const RoundRng& rng, Index first) {
    Index nodes = 0, parents = 1, row = 0;
    for (const Index count : branching) {
        for (Index parent = 0; parent < parents; ++parent, ++row) {
            Eigen::ArrayXf scores = logarithms<numbers>(pool[first + row].target);
            const auto random = rng.at(Purpose::draft, nodes);
            for (Index id = 0; id < scores.size(); ++id) {
                const double u = random.open_uniform(static_cast<std::uint32_t>(id));
                scores[id] -= std::log(-std::log(static_cast<float>(u)));
            }
            nodes += std::ssize(largest(scores, count));
        }
        parents *= count;
    }
    return nodes;
}

/// The textbook's EAGLE-2 tree: a beam search that keeps the `width` likeliest paths of each level.
template <Numbers numbers>
Index search_tree(const Pool& pool, Index first) {
    std::vector<float> beams{0}, all;
    Index row = 0;
    for (Index level = 0; level < levels; ++level) {
        std::vector<float> scores;
        for (const float beam : beams) {
            const Eigen::ArrayXf logs = logarithms<numbers>(pool[first + row++].target);
            for (const Token id : largest(logs, likeliest.width)) scores.push_back(beam + logs[id]);
        }
        std::ranges::sort(scores, std::greater{});
        all.insert(all.end(), scores.begin(), scores.end());
        scores.resize(static_cast<std::size_t>(likeliest.width));
        beams = scores;
    }
    std::ranges::partial_sort(all, all.begin() + likeliest.nodes, std::greater{});
    return likeliest.nodes;
}

/// Race a drafter against the textbook's form of it.
template <class Make, class Textbook>
Race race_drafter(const Setting& setting, Index rows, const Make& make, const Textbook& textbook) {
    const Pool pool(setting);
    const auto ours = make(pool);
    std::vector<RoundRng> rngs;
    for (Index i = 0; i < 4; ++i) rngs.emplace_back(42, 0, i);
    if ((*ours)(rngs[0], 0) != 60 || textbook(pool, rngs[0], 0) != 60)
        return {.refused = "a tree has another number of tokens than 60"};
    return make_race(
        setting, rows, rngs, [=](const RoundRng& rng, Index first) { return (*ours)(rng, first); },
        [=](const RoundRng& rng, Index first) { return textbook(pool, rng, first); },
        [=](const auto& reader, const RoundRng&, Index first) {
            auto sum = reader(pool[first].target);
            for (Index i = 1; i < rows; ++i) sum += reader(pool[first + i].target);
            return sum;
        });
}

template <Numbers numbers>
void add_drafters(Kernels& kernels, const std::string& name) {
    using Model = PoolModel<numbers>;
    const auto add = [&](const std::string& kind, Index rows, const auto& make, const auto& textbook) {
        const auto race = [=](const Setting& setting) {
            return race_drafter(
                setting, rows,
                [=](const Pool& pool) {
                    using Drafter = decltype(make(std::declval<Model>()));
                    const auto drafting = std::make_shared<Drafting<Drafter>>(Drafting<Drafter>{pool});
                    drafting->drafter.emplace(make(Model{&drafting->pool, drafting->next}));
                    return drafting;
                },
                textbook);
        };
        kernels.push_back({"tree_60/" + kind + name, "drafting", race, {.numbers = numbers}});
    };
    using specsample::children::Independent;
    const auto drawn = [](const Pool& pool, const RoundRng& rng, Index first) {
        return draw_tree<numbers>(pool, rng, first);
    };
    const auto searched = [](const Pool& pool, const RoundRng&, Index first) {
        return search_tree<numbers>(pool, first);
    };
    add(
        "drawn", drawn_rows, [](const Model& model) { return specsample::TreeDrafter(model, branching); }, drawn);
    add(
        "independent", drawn_rows,
        [](const Model& model) { return specsample::TreeDrafter(model, branching, Independent{}); }, drawn);
    add(
        "likeliest", likeliest_rows,
        [](const Model& model) { return specsample::DynamicTreeDrafter<Model>(model, likeliest); }, searched);
}

}  // namespace

void add_drafting(Kernels& kernels) {
    add_drafters<Numbers::probs>(kernels, "/probs");
    add_drafters<Numbers::logits>(kernels, "/logits");
}

}  // namespace bench
