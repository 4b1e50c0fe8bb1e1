// What rejections leave of a node's row is the same, to the bit, whether it is kept in memory or computed again.
#include <specsample/rows.hpp>
#include <specsample/verify.hpp>

#include <cmath>
#include <cstddef>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;

namespace {

/// What is seen of a node after each rejection.
struct Seen {
    double left, mass;
    Index drawn;

    bool operator==(const Seen&) const = default;
};

/// Not a rule: it rejects every child of the root, and below each of them, before its next sibling, every child of it.
template <bool keeps>
struct RejectAll {
    static constexpr bool lossless = false;

    std::vector<Seen>* seen;

    template <class T>
    Outcome operator()(const T& context) const {
        reject_below(context, root_node);
        return {.last = LastToken::bonus};
    }

    template <class T>
    void reject_below(const T& context, Index at) const {
        using Node = walks::ResidualTarget<T, keeps>;
        { Node(context, at, at == root_node ? 1 : .5); }
        for (Index child = context.shape.first_child(at); child != no_node; child = context.shape.next_sibling(child)) {
            reject_below(context, child);
            Node node(context, at, typename Node::Return{});
            node.weigh(child);
            node.reject(child);
            const walks::Ratio mass = node.mass();
            seen->push_back({mass.s, mass.q, node.draw(SetRng{.3}).index});
            REQUIRE_FALSE(node.fault());
        }
    }

    /// One number, for every draw.
    struct SetRng {
        double u;
        double uniform() const { return u; }
    };
};

/// A tree: the root has the children 0, 1, 5, 6 and node 1 has 2, 3, 4.
const std::vector<Index> parents{-1, -1, 1, 1, 1, -1, -1};

/// The rows of a round, and the children that are drawn from them.
template <class R>
class Draft {
  public:
    /// @param target   [8] the target's rows
    /// @param rows     the draft's rows
    /// @param source   [7] the number of the row that each child is drawn from
    /// @param point    a child whose row has nothing left, so that it counts as a point mass; 7: none
    Draft(const std::vector<R>& target, const std::vector<R>& rows, const std::vector<std::size_t>& source,
          std::size_t point = 7)
        : target_(target) {
        for (std::size_t i = 0; i < source.size(); ++i) {
            const auto rest = i == point ? std::optional<double>(0) : std::nullopt;
            origins_.emplace_back(rows[source[i]], without_[i], rest);
        }
    }

    template <bool keeps>
    std::vector<Seen> reject_all(Workspace& workspace) const {
        std::vector<Seen> seen;
        const Tree<Token, Index> tree{tokens_, parents};
        REQUIRE(verify(tree, origins_, target_, RejectAll<keeps>{&seen}, RoundRng(1, 0, 0), {}, workspace));
        return seen;
    }

  private:
    using Sample = decltype(Sampled(std::declval<const R&>(), ListRef<Token>(), std::optional<double>()));

    std::vector<Token> tokens_{3, 600, 9, 700, 20, 1100, 1200};
    std::vector<std::vector<Token>> without_{{}, {3}, {}, {9}, {9, 700}, {3, 600}, {3, 600, 1100}};
    const std::vector<R>& target_;
    std::vector<Sample> origins_;
};

/// Compare kept and computed residuals, in a workspace that was used before and in a new one.
/// @returns   the computed ones
template <class R>
std::vector<Seen> compare(Workspace& used, const Draft<R>& draft) {
    Workspace fresh;
    const std::vector<Seen> computed = draft.template reject_all<false>(fresh);
    CHECK(computed.size() == parents.size());
    CHECK(draft.template reject_all<true>(used) == computed);
    CHECK(draft.template reject_all<true>(fresh) == computed);
    return computed;
}

constexpr std::size_t vocab = 1300;  // two blocks and a half

/// Return `count` rows of logits.
template <class Scalar>
std::vector<std::vector<Scalar>> random_logits(std::size_t count, unsigned seed) {
    std::mt19937 numbers(seed);
    std::normal_distribution<double> normal(0, 2);
    std::vector<std::vector<Scalar>> rows(count, std::vector<Scalar>(vocab));
    for (auto& row : rows)
        for (Scalar& logit : row) logit = static_cast<Scalar>(normal(numbers));
    return rows;
}

template <class Scalar>
std::vector<std::vector<Scalar>> probs_of(std::vector<std::vector<Scalar>> rows) {
    for (auto& row : rows) {
        const double log_sum = kernels::log_sum_exp(row);
        for (Scalar& x : row) x = static_cast<Scalar>(std::exp(static_cast<double>(x) - log_sum));
    }
    return rows;
}

const std::vector<Token> some_ids = [] {
    std::vector<Token> ids;
    for (Token id = 0; id < static_cast<Token>(vocab); ++id)
        if (id % 13 != 0) ids.push_back(id);
    return ids;
}();

template <class Scalar>
std::vector<Scalar> at_some_ids(const std::vector<Scalar>& row) {
    std::vector<Scalar> numbers;
    for (const Token id : some_ids) numbers.push_back(row[static_cast<std::size_t>(id)]);
    return numbers;
}

/// Compare all drafts from two rows.
/// @returns   what all of them see, one after the other
template <class R>
std::vector<Seen> compare_drafts(Workspace& used, const std::vector<R>& target, const std::vector<R>& rows) {
    std::vector<Seen> all;
    using Source = std::vector<std::size_t>;
    for (const Source& source : {Source(7, 0), Source{0, 0, 1, 1, 1, 1, 0}, Source{0, 1, 1, 0, 1, 0, 1}}) {
        for (const std::size_t point : {7U, 1U, 5U}) {
            const std::vector<Seen> seen = compare(used, Draft<R>(target, rows, source, point));
            all.insert(all.end(), seen.begin(), seen.end());
        }
    }
    return all;
}

}  // namespace

TEMPLATE_TEST_CASE("a kept residual is the computed one", "[verify]", float, double) {
    Workspace used;
    for (unsigned seed = 0; seed < 6; ++seed) {
        INFO("seed " << seed);
        const auto target = random_logits<TestType>(8, seed), draft = random_logits<TestType>(2, 100 + seed);
        const auto logits = [](const auto& numbers) {
            return std::vector<Logits<std::span<const TestType>>>(numbers.begin(), numbers.end());
        };
        const auto by_logits = compare_drafts(used, logits(target), logits(draft));
        const auto target_probs = probs_of(target), draft_probs = probs_of(draft);
        const auto by_probs = compare_drafts(used, target_probs, draft_probs);
        REQUIRE(by_logits.size() == by_probs.size());
        for (std::size_t i = 0; i < by_logits.size(); ++i)
            CHECK(by_logits[i].left == Approx(by_probs[i].left).margin(1e-5));

        // Rows without every 13th id, which are read at each other's places.
        const auto sparse = [](const auto& rows) {
            std::vector<decltype(Sparse(some_ids, rows[0], Index{vocab}))> list;
            for (const auto& row : rows) list.emplace_back(some_ids, row, Index{vocab});
            return list;
        };
        std::vector<std::vector<TestType>> some_target, some_draft;
        for (const auto& row : target) some_target.push_back(at_some_ids(row));
        for (const auto& row : draft) some_draft.push_back(at_some_ids(row));
        compare_drafts(used, sparse(logits(some_target)), sparse(logits(some_draft)));
        for (auto* rows : {&some_target, &some_draft}) *rows = probs_of(*rows);
        compare_drafts(used, sparse(some_target), sparse(some_draft));
    }
}
