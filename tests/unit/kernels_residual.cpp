// The residual after rejections, against a plain double sum: sizes around a block, several rows, ids left out, ids
// removed, scalars and layouts, and bad entries.
#include <specsample/kernels/residual.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <specsample/kernels/draw.hpp>
#include <specsample/random/rng.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

constexpr Index sizes[] = {1, 2, 63, 64, 65, 127, 511, 512, 513, 575, 576, 1024, 1025, 3000};

/// One rejected child: a row that is subtracted, or a token whose residual becomes 0.
template <class Q>
struct Child {
    const Q* row = nullptr;
    std::vector<Token> without = {};
    double factor = 0;
    Token token = -1;
};

/// Rejected children in order, as a node of a walk lists them.
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
};

template <class P, class Q>
ResidualWeights<P, Q, Children<Q>> residual(const P& p, const Children<Q>& taken) {
    return {p, taken};
}

/// Entry i by the definition, in double.
template <class P, class Q>
double entry(const P& p, const Children<Q>& taken, Index i) {
    double result = static_cast<double>(p.coeff(i));
    for (const Child<Q>& child : taken.list) {
        if (child.row == nullptr && child.token == i) return 0;
        if (child.row != nullptr && std::ranges::find(child.without, i) == child.without.end())
            result -= child.factor * static_cast<double>(child.row->coeff(i));
    }
    return result > 0 ? result : 0;
}

template <class P, class Q>
double sum(const P& p, const Children<Q>& taken, Index first, Index count) {
    long double total = 0;
    for (Index i = first; i < first + count; ++i) total += static_cast<long double>(entry(p, taken, i));
    return static_cast<double>(total);
}

/// A distribution, one entry in five zero.
template <class Scalar>
std::vector<Scalar> distribution(Index size, std::uint64_t seed) {
    const Rng noise({.seed = seed});
    std::vector<double> weights(static_cast<std::size_t>(size));
    double total = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto lane = static_cast<std::uint32_t>(i);
        total += weights[i] = noise.bits(lane) % 5 == 0 ? 0 : noise.open_uniform(lane + 50000);
    }
    std::vector<Scalar> row;
    for (const double weight : weights)
        row.push_back(static_cast<Scalar>(static_cast<float>(weight / std::max(total, 1e-9))));
    return row;
}

/// Ids around the ends of the first block, and some more, inside a row.
std::vector<Token> some_ids(Index size, std::uint64_t seed) {
    std::vector<Token> ids;
    for (const Index id : {Index{511}, Index{0}, Index{512}, Index{63}, size - 1})
        if (id < size && std::ranges::find(ids, id) == ids.end()) ids.push_back(static_cast<Token>(id));
    const auto more = static_cast<Token>(Rng({.seed = seed}).bits() % static_cast<std::uint64_t>(size));
    if (std::ranges::find(ids, more) == ids.end()) ids.push_back(more);
    return ids;
}

/// Every kind of list of children over three rows of one type.
template <class Q>
std::vector<Children<Q>> lists(const Q& a, const Q& b, const Q& c) {
    const Index size = a.size();
    const auto ids = some_ids(size, 3);
    const Child<Q> whole{&a, {}, .5}, other{&b, {}, .25}, less{&c, ids, .75}, first{.token = ids.front()},
        last{.token = ids.back()}, less_one{&b, {ids.front()}, 1};
    Children<Q> points{{whole}};
    for (const Token id : ids) points.list.push_back({.token = id});
    return {points,
            {{}},
            {{whole}},
            {{less}},
            {{whole, other}},
            {{whole, less}},
            {{less, whole, other}},
            {{first}},
            {{first, last}},
            {{first, whole}},
            {{whole, first}},
            {{less_one, first, last, less}},
            {{first, whole, last, other, less}}};
}

template <class Scalar, class DraftScalar>
void agree(double tolerance) {
    for (const Index size : sizes) {
        const auto target = distribution<Scalar>(size, 1);
        const auto p = detail::as_row(target);
        const std::vector<std::vector<DraftScalar>> drafts{
            distribution<DraftScalar>(size, 2), distribution<DraftScalar>(size, 3), distribution<DraftScalar>(size, 4)};
        const auto a = detail::as_row(drafts[0]), b = detail::as_row(drafts[1]), c = detail::as_row(drafts[2]);
        int number = 0;
        for (const auto& taken : lists(a, b, c)) {
            INFO("size " << size << ", list " << number++);
            const auto weights = residual(p, taken);
            REQUIRE(weights.size() == size);
            for (Index i = 0; i < size; i += 1 + size / 97)
                REQUIRE(weights[i] == Approx(entry(p, taken, i)).margin(1e-300));
            CHECK(weights.sum(0, size) == Approx(sum(p, taken, 0, size)).margin(tolerance));
            const Index from = size / 3, count = size / 2;
            CHECK(weights.sum(from, count) == Approx(sum(p, taken, from, count)).margin(tolerance));
            CHECK(weights.sum(from, 0) == 0);
        }
    }
}

}  // namespace

TEST_CASE("the residual agrees with its definition in float", "[kernels]") { agree<float, float>(1e-6); }
TEST_CASE("the residual agrees with its definition in double", "[kernels]") { agree<double, double>(1e-14); }
TEST_CASE("the residual agrees with its definition in half", "[kernels]") { agree<Eigen::half, Eigen::half>(1e-6); }
TEST_CASE("the residual agrees with its definition for mixed scalars", "[kernels]") {
    agree<float, double>(1e-14);
    agree<double, float>(1e-14);
    agree<float, Eigen::half>(1e-6);
    agree<Eigen::bfloat16, float>(1e-6);
    agree<Eigen::half, double>(1e-14);
}

TEST_CASE("the residual is the same to the bit, read in place or through a buffer", "[kernels]") {
    for (const Index size : sizes) {
        Eigen::MatrixXf columns(4, size);  // its rows are strided
        std::vector<std::vector<float>> plain;
        for (Index row = 0; row < 4; ++row) {
            plain.push_back(distribution<float>(size, static_cast<std::uint64_t>(row)));
            columns.row(row) = Eigen::Map<const Eigen::RowVectorXf>(plain.back().data(), size);
        }
        const auto p = detail::as_row(plain[0]), a = detail::as_row(plain[1]), b = detail::as_row(plain[2]),
                   c = detail::as_row(plain[3]);
        const auto row0 = columns.row(0), row1 = columns.row(1), row2 = columns.row(2), row3 = columns.row(3);
        const auto strided_p = detail::as_row(row0), strided_a = detail::as_row(row1), strided_b = detail::as_row(row2),
                   strided_c = detail::as_row(row3);
        const auto in_place = lists(a, b, c);
        const auto buffered = lists(strided_a, strided_b, strided_c);
        for (std::size_t i = 0; i < in_place.size(); ++i) {
            INFO("size " << size << ", list " << i);
            const double expected = residual(p, in_place[i]).sum(0, size);
            CHECK(residual(strided_p, in_place[i]).sum(0, size) == expected);
            CHECK(residual(p, buffered[i]).sum(0, size) == expected);
            CHECK(residual(strided_p, buffered[i]).sum(0, size) == expected);
        }
    }
}

TEST_CASE("one row off the target is the residual, to the bit", "[kernels]") {
    const auto target = distribution<float>(2000, 1), draft = distribution<float>(2000, 2);
    const auto p = detail::as_row(target), q = detail::as_row(draft);
    const Eigen::ArrayXf expected = (p - q).max(0.f);
    const Children<decltype(detail::as_row(draft))> taken{{{&q, {}, 1}}}, half{{{&q, {}, .5}}};
    CHECK(residual(p, taken).sum(0, 2000) == RowWeights(expected).sum(0, 2000));
    CHECK(ResidualWeights(p, q).sum(0, 2000) == RowWeights(expected).sum(0, 2000));
    CHECK(ResidualWeights(p, q, .5).sum(0, 2000) == residual(p, half).sum(0, 2000));
    for (Index i = 0; i < 2000; i += 37) {
        CHECK(ResidualWeights(p, q)[i] == residual(p, taken)[i]);
        CHECK(ResidualWeights(p, q, .5)[i] == residual(p, half)[i]);
    }
    const Children<decltype(detail::as_row(draft))> none{};
    CHECK(residual(p, none).sum(0, 2000) == RowWeights(p).sum(0, 2000));
}

TEST_CASE("rows that take all leave nothing, exactly", "[kernels]") {
    const auto target = distribution<float>(2000, 1);
    const auto p = detail::as_row(target);
    const Children<decltype(detail::as_row(target))> all{{{&p, {}, 1}}}, halves{{{&p, {}, .5}, {&p, {}, .5}}},
        twice{{{&p, {}, 1}, {&p, {}, 1}}};
    for (const auto& taken : {all, halves, twice}) {
        CHECK(residual(p, taken).sum(0, 2000) == 0);
        CHECK(residual(p, taken)[700] == 0);
        CHECK(draw_index(residual(p, taken), [] { return .5; }).index == -1);
    }
    // Only ids that the distribution could not draw are left.
    const Children<decltype(detail::as_row(target))> but_one{{{&p, {513}, 1}}};
    CHECK(residual(p, but_one).sum(0, 2000) == Approx(target[513]).epsilon(1e-6));
    CHECK(draw_index(residual(p, but_one), [] { return .5; }).index == 513);
}

TEST_CASE("an id that is removed stays removed, whatever comes off after it", "[kernels]") {
    const std::vector<double> target{.5, .25, .25}, draft{0, .5, .5};
    const auto p = detail::as_row(target), q = detail::as_row(draft);
    using Q = decltype(detail::as_row(draft));
    for (const Children<Q>& taken :
         {Children<Q>{{{.token = 0}, {&q, {1}, .25}}}, Children<Q>{{{&q, {1}, .25}, {.token = 0}}},
          Children<Q>{{{.token = 0}, {.token = 0}, {&q, {1}, .25}}}}) {
        const auto weights = residual(p, taken);
        CHECK(weights[0] == 0);
        CHECK(weights[1] == .25);
        CHECK(weights[2] == .125);
        CHECK(weights.sum(0, 3) == .375);
    }
}

TEMPLATE_TEST_CASE("a block is summed alike whether the points that are taken are in it or elsewhere", "[kernels]",
                   float, double, Eigen::half) {
    const Index size = 1300;
    const auto target = distribution<TestType>(size, 1);
    const auto p = detail::as_row(target);
    using Q = std::remove_const_t<decltype(p)>;
    const Children<Q> none{}, points{{{.token = 3}, {.token = 700}, {.token = 701}}};
    auto rest = target;
    for (const Child<Q>& child : points.list) rest[static_cast<std::size_t>(child.token)] = TestType{0};
    const auto left = detail::as_row(rest);
    for (const Index first : {Index{0}, Index{512}, Index{1024}}) {
        const Index count = std::min<Index>(512, size - first);
        CHECK(residual(p, points).sum(first, count) == residual(left, none).sum(first, count));
        CHECK(residual(left, none).sum(first, count) == RowWeights(left).sum(first, count));
    }
}

TEMPLATE_TEST_CASE("a NaN or an infinity in a row reaches the sum", "[kernels]", float, double, Eigen::half) {
    using Limits = std::numeric_limits<float>;
    for (const Index size : {Index{3}, Index{70}, Index{513}, Index{1100}})
        for (const Index at : {Index{0}, size / 2, size - 1}) {
            auto target = distribution<TestType>(size, 1), draft = distribution<TestType>(size, 2),
                 other = distribution<TestType>(size, 3);
            const auto place = static_cast<std::size_t>(at);
            const Token elsewhere = at == 0 ? 1 : 0;
            const auto p = detail::as_row(target), q = detail::as_row(draft), r = detail::as_row(other);
            using Q = decltype(detail::as_row(draft));
            const Children<Q> none{}, one{{{&q, {}, .5}}}, without{{{&q, {elsewhere}, .5}}},
                two{{{&q, {}, .5}, {&r, {}, .5}}}, point{{{.token = elsewhere}}},
                all{{{.token = elsewhere}, {&q, {elsewhere}, .5}, {&r, {}, .5}}};
            INFO("size " << size << ", at " << at);
            const auto good = target[place];
            for (const float bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::quiet_NaN()}) {
                target[place] = static_cast<TestType>(bad);
                for (const auto& taken : {none, one, without, two, point, all})
                    CHECK_FALSE(detail::is_finite(residual(p, taken).sum(0, size)));
            }
            target[place] = good;
            for (const float bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
                draft[place] = static_cast<TestType>(bad);
                for (const auto& taken : {one, without, two, all})
                    CHECK_FALSE(detail::is_finite(residual(p, taken).sum(0, size)));
            }
        }
}

TEST_CASE("a draw from the residual lands on ids with a positive residual", "[kernels]") {
    const auto target = distribution<float>(1500, 1), draft = distribution<float>(1500, 2),
               other = distribution<float>(1500, 3);
    const auto p = detail::as_row(target), q = detail::as_row(draft), r = detail::as_row(other);
    using Q = decltype(detail::as_row(draft));
    const Children<Q> taken{{{&q, {7, 513}, 1}, {.token = 600}, {&r, {}, .5}}};
    const auto weights = residual(p, taken);
    for (int i = 0; i < 3000; ++i) {
        const Drawn drawn = draw_index(weights, [&] { return Rng({.seed = 4, .node = i}).uniform(); });
        REQUIRE(drawn.index >= 0);
        REQUIRE(weights[drawn.index] > 0);
        REQUIRE(drawn.index != 600);
    }
}
