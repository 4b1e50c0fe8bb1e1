// The residual after rejections from rows that lie in one memory: a row that siblings share is read once, and rows that
// only look alike are not taken for one.
#include <specsample/kernels/residual.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <specsample/random/rng.hpp>
#include <specsample/rows/logits.hpp>
#include <specsample/rows/row_view.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

/// Rejected children of two rows, a and b, each with the ids that it was not drawn from.
template <class Q>
struct Siblings {
    struct Child {
        const Q* row;
        std::vector<Token> without;
        double factor;
    };
    std::vector<Child> list;

    void each(const auto& row, const auto&) const {
        for (const Child& child : list) row(*child.row, std::span<const Token>(child.without), child.factor);
    }
    double left_of(double residual, Token id) const {
        for (const Child& child : list)
            if (std::ranges::find(child.without, id) == child.without.end())
                residual -= child.factor * static_cast<double>(child.row->coeff(id));
        return std::max(residual, 0.);
    }
};

/// The largest difference of the sums of some ranges from sums of single ids.
template <class P, class Q>
double error_of(const P& p, const Siblings<Q>& taken) {
    const kernels::ResidualWeights<P, Q, Siblings<Q>> residual(p, taken);
    double largest = 0;
    for (const Index first : {Index{0}, p.size() / 3}) {
        double sum = 0;
        for (Index id = first; id < p.size(); ++id)
            sum += taken.left_of(static_cast<double>(p.coeff(id)), static_cast<Token>(id));
        largest = std::max(largest, std::abs(residual.sum(first, p.size() - first) - sum));
    }
    return largest;
}

/// The largest error over orders of rejections from the rows `a` and `b`.
template <class P, class Q>
double largest_error(const P& p, const Q& a, const Q& b) {
    const auto last = static_cast<Token>(p.size() - 1);
    const std::vector<Token> without{last, 0, static_cast<Token>(last / 2)};
    const std::vector<Siblings<Q>> orders{{{{&a, {}, .2}, {&a, without, .3}, {&a, {}, .1}}},
                                          {{{&a, {}, .2}, {&b, {}, .2}, {&a, without, .1}, {&b, without, .1}}},
                                          {{{&b, without, .2}, {&a, {}, .2}, {&b, {}, .1}}}};
    double largest = 0;
    for (const Siblings<Q>& taken : orders) largest = std::max(largest, error_of(p, taken));
    return largest;
}

template <class Value>
std::vector<Value> some_logits(Index size, std::uint64_t seed) {
    const Rng rng({.seed = seed});
    std::vector<Value> logits;
    for (Index i = 0; i < size; ++i)
        logits.push_back(static_cast<Value>(3 * rng.uniform(static_cast<std::uint32_t>(i))));
    return logits;
}

}  // namespace

TEST_CASE("the residual after rejections from rows of one memory", "[kernels]") {
    for (const Index size : {Index{1}, Index{65}, Index{512}, Index{1300}}) {
        INFO("size " << size);
        const auto target = some_logits<float>(size, 1), floats = some_logits<float>(2 * size, 2);
        const auto doubles = some_logits<double>(size, 3);
        const auto p = detail::as_row(Logits(target, .5));
        const std::span half(floats.data(), static_cast<std::size_t>(size));
        CHECK(largest_error(p, detail::as_row(Logits(half, .5)), detail::as_row(Logits(half, 4.))) < 1e-6);
        CHECK(largest_error(p, detail::as_row(Logits(doubles, 1.)), detail::as_row(Logits(doubles, 0.))) < 1e-6);
        const auto of_values = [&](const Row& a, const Row& b) {
            return largest_error(p, detail::RowView<float>(a).probs(), detail::RowView<float>(b).probs());
        };
        CHECK(of_values(Row::logits(half, .5), Row::logits(half, 4)) < 1e-6);
        // The second row has every other number, and every number's own value: known normalisers give both rows one
        // encoding.
        CHECK(of_values(Row::logits(half, 1, 9), Row::logits({floats.data(), size, 2}, 1, 9)) < 1e-6);
    }
}
