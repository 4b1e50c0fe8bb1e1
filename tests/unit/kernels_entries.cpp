// Every mix of dense rows, rows of logits and sparse rows, id by id against plain doubles: the difference of two rows,
// the residual after several rejections, and the overlap of two rows.
#include <specsample/kernels/entries.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <specsample/kernels/overlap.hpp>
#include <specsample/kernels/residual.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/rows/memory.hpp>
#include <specsample/rows/sparse.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

constexpr Index sizes[] = {1, 2, 65, 512, 513, 1300};

struct Candidate {
    std::int32_t id;
    float p;
    float logit;
};

/// One row in every form: some ids are impossible, and absent in a sparse form.
struct Forms {
    Index vocab;
    std::vector<Candidate> candidates;
    std::vector<float> probs;
    std::vector<double> logits;
    std::vector<std::int64_t> ids;
    std::vector<double> sparse_probs;

    Forms(Index size, std::uint64_t seed) : vocab(size) {
        const Rng noise({.seed = seed});
        const double keep = noise.uniform(99999);
        double total = 0;
        for (Index id = 0; id < vocab; ++id) {
            const auto lane = static_cast<std::uint32_t>(id);
            const bool possible = noise.uniform(lane + 50000) < keep || id == static_cast<Index>(seed) % vocab;
            probs.push_back(possible ? static_cast<float>(-std::log(noise.open_uniform(lane))) : 0);
            total += static_cast<double>(probs.back());
        }
        for (Index id = 0; id < vocab; ++id) {
            float& p = probs[static_cast<std::size_t>(id)];
            p = static_cast<float>(static_cast<double>(p) / total);
            const double logit = 3 + .5 * std::log(static_cast<double>(p));
            logits.push_back(logit);
            if (p == 0) continue;
            candidates.push_back({static_cast<std::int32_t>(id), p, static_cast<float>(logit)});
            ids.push_back(id);
            sparse_probs.push_back(static_cast<double>(p));
        }
    }

    /// Call f with the row in every form.
    template <class F>
    void as_each(F&& f) const {
        f(detail::as_row(probs));
        f(detail::as_row(Logits(logits, .5)));
        f(detail::as_row(Sparse(ids, sparse_probs, vocab)));
        f(detail::as_row(
            Sparse(member(candidates, &Candidate::id), Logits(member(candidates, &Candidate::logit), .5), vocab)));
    }
};

/// The same numbers by id, in double.
template <class View>
std::vector<double> plain(const View& view) {
    std::vector<double> numbers;
    for (Index id = 0; id < view.size(); ++id) numbers.push_back(static_cast<double>(view.coeff(id)));
    return numbers;
}

/// Weights by place: their ids, and their sums over some ranges.
struct Listed {
    struct Range {
        Index first, end;
        double sum;
    };

    std::vector<Index> ids;
    std::vector<double> weights;
    std::vector<Range> ranges;

    /// True if they agree with numbers by id: each of them, and their sums over the ranges.
    bool agree(const std::vector<double>& expected) const {
        std::vector<double> by_id(expected.size()), up_to{0};
        for (std::size_t place = 0; place < weights.size(); ++place) {
            by_id[static_cast<std::size_t>(ids[place])] = weights[place];
            up_to.push_back(up_to.back() + weights[place]);
        }
        bool same = true;
        for (std::size_t id = 0; id < expected.size(); ++id) same = same && std::abs(by_id[id] - expected[id]) < 1e-15;
        for (const Range& range : ranges) {
            const double sum =
                up_to[static_cast<std::size_t>(range.end)] - up_to[static_cast<std::size_t>(range.first)];
            same = same && std::abs(range.sum - sum) < 1e-6;
        }
        return same;
    }
};

template <class W>
Listed listed(const W& weights) {
    Listed list;
    const Index size = weights.size();
    for (Index place = 0; place < size; ++place) {
        list.ids.push_back(id_of(weights, place));
        list.weights.push_back(weights[place]);
    }
    for (const Index first : {Index{0}, size / 3, std::max<Index>(size - 70, 0)})
        for (const Index end : {first, first + (size - first) / 2, size})
            list.ranges.push_back({first, end, weights.sum(first, end - first)});
    return list;
}

template <class W>
bool agree(const W& weights, const std::vector<double>& expected) {
    return listed(weights).agree(expected);
}

/// One rejected child: a row that is subtracted except at some ids, or a token whose residual becomes 0.
template <class Q>
struct Child {
    const Q* row;
    std::vector<Token> without;
    double factor;
    Token token;

    Child(const Q& off, const std::vector<Token>& but, double by) : row(&off), without(but), factor(by), token(-1) {}
    explicit Child(Token gone) : row(nullptr), without(), factor(0), token(gone) {}
};

template <class Q>
struct Children {
    std::vector<Child<Q>> list;

    template <class OfRow, class OfToken>
    void each(OfRow&& row, OfToken&& token) const {
        for (const Child<Q>& child : list) {
            if (child.row != nullptr) row(*child.row, std::span<const Token>(child.without), child.factor);
            if (child.row == nullptr) token(child.token);
        }
    }

    std::vector<double> left_of(std::vector<double> residual) const {
        for (std::size_t id = 0; id < residual.size(); ++id) {
            for (const Child<Q>& child : list) {
                const auto token = static_cast<Token>(id);
                if (child.row == nullptr && child.token == token) residual[id] = -1;
                if (child.row != nullptr && std::ranges::find(child.without, token) == child.without.end())
                    residual[id] -= child.factor * static_cast<double>(child.row->coeff(token));
            }
            residual[id] = std::max(residual[id], 0.);
        }
        return residual;
    }
};

/// Children after a rejection, in every mix of rows and tokens.
template <class Q>
std::vector<Children<Q>> some_children(const Q& q, const std::vector<Token>& ids, const std::vector<Token>& without) {
    const Child<Q> whole(q, {}, .5), twice(q, without, 2), some(q, without, .75), others(q, ids, .25),
        front(ids.front()), back(ids.back());
    return {
        {{}}, {{whole}}, {{some}}, {{whole, others, twice}}, {{front}}, {{front, some, back}}, {{others, back, whole}}};
}

/// Some ids of a row and some that it does not have, out of order.
std::vector<Token> some_ids(const Forms& row, std::uint64_t seed) {
    std::vector<Token> ids{static_cast<Token>(row.candidates.front().id)};
    for (std::uint32_t i = 0; i < 9; ++i) {
        const auto id = static_cast<Token>(Rng({.seed = seed}).bits(i) % static_cast<std::uint64_t>(row.vocab));
        if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
    }
    std::ranges::reverse(ids);
    return ids;
}

/// Call f(p, q) for many pairs of rows.
void for_pairs(const std::function<void(const Forms& p, const Forms& q)>& f) {
    for (const Index size : sizes)
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            INFO("size " << size << ", seed " << seed);
            f(Forms(size, 2 * seed), Forms(size, 2 * seed + 1));
        }
}

/// Call f(p, q, p in some form, q in some form) for all of them.
template <class F>
void for_mixes(F&& f) {
    for_pairs([&](const Forms& p, const Forms& q) {
        p.as_each([&](const auto& target) { q.as_each([&](const auto& draft) { f(p, q, target, draft); }); });
    });
}

}  // namespace

TEST_CASE("all forms of a row are one row", "[kernels]") {
    for (const Index size : sizes) {
        const Forms row(size, 5);
        row.as_each([&](const auto& view) {
            REQUIRE(view.size() == size);
            double most = 0;
            for (Index id = 0; id < size; ++id) {
                const double expected = row.probs[static_cast<std::size_t>(id)];
                most = std::max(most, std::abs(static_cast<double>(view.coeff(id)) - expected));
                if (expected == 0) CHECK(view.coeff(id) == 0);
            }
            CHECK(most < 1e-6);
            CHECK(agree(RowWeights(view), plain(view)));
        });
    }
}

TEST_CASE("the difference of two rows, in any mix", "[kernels]") {
    for_mixes([](const Forms&, const Forms&, const auto& p, const auto& q) {
        const auto target = plain(p), draft = plain(q);
        std::vector<double> left;
        for (std::size_t id = 0; id < target.size(); ++id) left.push_back(std::max(target[id] - draft[id], 0.));
        CHECK(agree(ResidualWeights(p, q), left));
    });
}

TEST_CASE("how much two rows agree, in any mix", "[kernels]") {
    for_mixes([](const Forms&, const Forms&, const auto& p, const auto& q) {
        const auto target = plain(p), draft = plain(q);
        double expected = 0;
        for (std::size_t id = 0; id < target.size(); ++id) expected += std::min(target[id], draft[id]);
        CHECK(std::abs(overlap(q, p) - expected) < 1e-6);
        CHECK(std::abs(overlap(p, p) - 1) < 1e-6);
    });
}

TEST_CASE("a row without some ids, in any form", "[kernels]") {
    for_pairs([](const Forms& row, const Forms& other) {
        const auto without = some_ids(row, static_cast<std::uint64_t>(other.ids.front()));
        row.as_each([&](const auto& p) {
            auto expected = plain(p);
            for (const Token id : without) expected[static_cast<std::size_t>(id)] = 0;
            CHECK(agree(WithoutWeights(p, without), expected));
        });
    });
}

TEST_CASE("the residual after several rejections, in any mix", "[kernels]") {
    for_mixes([](const Forms& row, const Forms& other, const auto& p, const auto& q) {
        using Q = std::remove_cvref_t<decltype(q)>;
        const auto ids = some_ids(row, 3), without = some_ids(other, 4);
        const auto target = plain(p);
        for (const Children<Q>& taken : some_children(q, ids, without)) {
            const ResidualWeights<std::remove_cvref_t<decltype(p)>, Q, Children<Q>> residual(p, taken);
            const auto expected = taken.left_of(target);
            CHECK(agree(residual, expected));
            for (const Token id : ids)
                CHECK(std::abs(residual.residual_at(id) - expected[static_cast<std::size_t>(id)]) < 1e-15);
        }
    });
}
