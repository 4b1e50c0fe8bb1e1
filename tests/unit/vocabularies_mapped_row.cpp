// push_forward: the distribution of a draft's token as a target id, against sums over both vocabularies.
#include <specsample/vocabularies/mapped_row.hpp>

#include <cmath>
#include <numeric>
#include <vector>

#include <specsample/shaping/truncation.hpp>
#include <specsample/theory/acceptance.hpp>
#include <specsample/vocabularies/id_map_texts.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::vocabularies;
using namespace specsample::theory;
using namespace specsample::kernels;
using namespace specsample::filters;

namespace {

using Images = std::vector<int>;

/// The same without order, sparse rows or logits: a double loop by definition.
Array<double> reference(const Images& to_target, Index target_vocab, const Array<double>& q) {
    Array<double> row = Array<double>::Zero(target_vocab);
    for (Index y = 0; y < target_vocab; ++y)
        for (std::size_t x = 0; x < to_target.size(); ++x)
            if (to_target[x] == y) row[y] += q[static_cast<Index>(x)];
    return row / row.sum();
}

template <RowLike R>
Array<double> pushed(const IdMap& map, const R& row) {
    filters::ShapedMemory<detail::ShapedValue<R>> memory;
    return probs_by_id(push_forward(map, row, memory));
}

/// A random map: each draft id has an image with probability `share`, injective or not, in order or not.
Images random_images(Index draft_vocab, Index target_vocab, double share, bool injective, bool ordered,
                     std::uint64_t seed) {
    const Rng rng({.seed = seed});
    std::uint32_t lane = 0;
    std::vector<int> pool(static_cast<std::size_t>(target_vocab));
    std::iota(pool.begin(), pool.end(), 0);
    Images images;
    for (Index i = 0; i < draft_vocab; ++i) {
        const bool has_one = rng.uniform(lane++) < share && !pool.empty();
        const auto at = static_cast<std::size_t>(rng.uniform(lane++) * static_cast<double>(pool.size()));
        images.push_back(has_one ? pool[at] : -1);
        if (has_one && injective) pool.erase(pool.begin() + static_cast<Index>(at));
    }
    if (images[0] < 0) images[0] = pool.empty() ? 0 : pool[0];
    std::vector<int> some;
    std::copy_if(images.begin(), images.end(), std::back_inserter(some), [](int y) { return y >= 0; });
    if (ordered) std::sort(some.begin(), some.end());
    for (std::size_t i = 0, next = 0; i < images.size(); ++i)
        if (images[i] >= 0) images[i] = some[next++];
    return images;
}

template <class F>
void for_maps(F&& f) {
    std::uint64_t seed = 0;
    for (const auto& [draft_vocab, target_vocab] :
         std::vector<std::pair<Index, Index>>{{1, 1}, {1, 7}, {5, 5}, {7, 3}, {40, 70}, {70, 40}, {600, 1200}})
        for (const double share : {.1, .5, 1.})
            for (const bool injective : {false, true})
                for (const bool ordered : {false, true}) {
                    const auto images = random_images(draft_vocab, target_vocab, share, injective, ordered, ++seed);
                    INFO(draft_vocab << " to " << target_vocab << ", share " << share << ", injective " << injective
                                     << ", ordered " << ordered);
                    f(images, draft_vocab, target_vocab, seed);
                }
}

const Images all_kinds{4, -1, 1, 4, 0, -1};

}  // namespace

TEST_CASE("random maps push rows of every kind forward as a double loop does", "[shaping]") {
    for_maps([](const Images& images, Index draft_vocab, Index target_vocab, std::uint64_t seed) {
        const IdMap map(images, target_vocab);
        const auto logits = random_logits(draft_vocab, seed);
        const Array<double> q = softmax_of(logits), hot = softmax_of(logits, .3);
        const auto expected = reference(images, target_vocab, q), expected_hot = reference(images, target_vocab, hot);
        REQUIRE(distance(pushed(map, q), expected) < 1e-14);
        REQUIRE(distance(pushed(map, Array<float>(q.cast<float>())), expected) < 1e-6);
        REQUIRE(distance(pushed(map, Logits(logits)), expected) < 1e-14);
        REQUIRE(distance(pushed(map, Logits(logits, .3)), expected_hot) < 1e-13);
        REQUIRE(distance(pushed(map, Logits(Array<float>(logits.cast<float>()), .3)), expected_hot) < 1e-5);
        const auto mass = mapped_mass(map, q);
        double sum = 0;
        for (std::size_t x = 0; x < images.size(); ++x) sum += images[x] < 0 ? 0 : q[static_cast<Index>(x)];
        REQUIRE(mass == Approx(sum).epsilon(1e-12));
        REQUIRE(mapped_mass(map, Logits(logits)) == Approx(sum).epsilon(1e-12));
    });
}

TEST_CASE("random maps push sparse rows forward as a double loop does", "[shaping]") {
    for_maps([](const Images& images, Index draft_vocab, Index target_vocab, std::uint64_t seed) {
        const IdMap map(images, target_vocab);
        const auto logits = random_logits(draft_vocab, seed);
        const auto check = [&](const Pipeline<TopK>& pipeline, const auto& row) {
            filters::ShapedMemory<double> memory;
            const auto sparse = shape(row, pipeline, {}, memory);
            const auto q = probs_by_id(sparse);
            if (mapped_mass(map, sparse) == 0) return;  // a case by itself
            REQUIRE(distance(pushed(map, sparse), reference(images, target_vocab, q)) < 1e-13);
        };
        check(Pipeline{TopK{draft_vocab / 2 + 1}}, Logits(logits, .7));
        check(Pipeline{TopK{draft_vocab / 2 + 1}}, softmax_of(logits));
    });
}

TEST_CASE("strided, half-precision and moved rows are pushed forward", "[shaping]") {
    const IdMap map(all_kinds, 6);
    const Eigen::Array<double, 6, 1> q{.25, .25, .125, .125, .125, .125};
    const auto expected = reference(all_kinds, 6, q);
    Eigen::ArrayXXd rows = Eigen::ArrayXXd::Constant(3, 6, 99);
    rows.row(1) = q.transpose();
    CHECK(distance(pushed(map, rows.row(1)), expected) < 1e-15);
    std::vector<Eigen::half> halves;
    for (const double x : q) halves.push_back(static_cast<Eigen::half>(x));
    CHECK(distance(pushed(map, halves), expected) < 1e-7);
    filters::ShapedMemory<double> memory;
    const auto from_moved = push_forward(map, std::vector<double>(q.begin(), q.end()), memory);
    CHECK(distance(probs_by_id(from_moved), expected) < 1e-15);
    const IdMap same = IdMap::same_ids(6, 8);  // where rows that stay are viewed
    const auto viewed = push_forward(same, std::vector<double>(q.begin(), q.end()), memory);
    CHECK(distance(probs_by_id(viewed).head(6), q) == 0);
}

TEST_CASE("a half-precision row within its tolerance is one within a float's behind a map", "[shaping]") {
    std::vector<Eigen::half> q;
    for (const float x : {.5f, .25f, .125f, .12f}) q.push_back(Eigen::half(x));
    REQUIRE_FALSE(inspect(q, Side::draft, 0));
    for (const Images& images : {Images{0, 1, 2, 3}, Images{3, 1, 0, 2}, Images{0, 0, 1, 3}, Images{0, 1, 2, -1}}) {
        const IdMap map(images, 4);
        filters::ShapedMemory<float> memory;
        CHECK_FALSE(inspect(push_forward(map, q, memory), Side::draft, 0));
    }
}

TEST_CASE("numbers that keep their order are not copied, with or without padding", "[shaping]") {
    const IdMap map = IdMap::from_offsets(std::vector{1, 2, 2}, 8);
    filters::ShapedMemory<double> memory;
    const auto check_viewed = [&](const auto& row, const double* at) {
        const auto mapped = push_forward(map, row, memory);
        CHECK(detail::numbers_of(detail::inner_row(mapped)).data() == at);
        CHECK(detail::numbers_of(detail::inner_row(mapped)).size() == 3);
    };
    const std::vector<double> logits{1, 0, 2, 50, 60}, probs{.5, .25, .25};
    check_viewed(Logits(std::span(logits).first(3), .5), logits.data());
    check_viewed(Logits(std::span(logits), .5), logits.data());
    check_viewed(std::span(probs), probs.data());
    CHECK(distance(pushed(map, Logits(logits, .5)), pushed(map, Logits(std::span(logits).first(3), .5))) == 0);
}

TEST_CASE("logits stay logits at their temperature, 0 included", "[shaping]") {
    const std::vector<double> logits{3, 9, 1, 2.5, 2};
    filters::ShapedMemory<double> memory;
    const IdMap partial(std::vector{2, -1, 0, 1, -1}, 3);
    CHECK(push_forward(partial, Logits(logits, .25), memory).held().temperature() == .25);
    CHECK(distance(pushed(partial, Logits(logits, 0)), Array<double>(Eigen::Array3d(0, 0, 1))) == 0);
    const IdMap merging(std::vector{2, -1, 1, 1, 0}, 3);
    CHECK(distance(pushed(merging, Logits(logits, 0)), Array<double>(Eigen::Array3d(0, 0, 1))) == 0);
    const IdMap tied(std::vector{1, -1, -1, -1, 0}, 2);
    const std::vector<double> equal{2, 0, 0, 0, 2};
    CHECK(distance(pushed(tied, Logits(equal, 0)), Array<double>(Eigen::Array2d(1, 0))) == 0);
}

TEST_CASE("merged logits neither overflow nor vanish", "[shaping]") {
    const IdMap map(std::vector{0, 0, 1, 1, -1}, 2);
    const auto check = [&](const std::vector<double>& logits, double temperature, double first) {
        const auto row = pushed(map, Logits(logits, temperature));
        CHECK(row[0] == Approx(first).epsilon(1e-12));
        CHECK(row[1] == Approx(1 - first).epsilon(1e-12));
    };
    check({5000, 5000, 5000, 5000, 9000}, 1, .5);
    check({-5000, -5000, -5000, -infinity, 9000}, 1, 2. / 3);
    check({1, 1, -infinity, -infinity, 0}, 1, 1);
    check({1e-3, 0, 0, 0, 0}, 1e-6, 1);
}

TEST_CASE("the running example of the intersection rule", "[shaping]") {
    // p over four tokens; q over four of its own, of which three are the target's.
    const std::vector<double> p{.4, .3, .2, .1}, q{.2, .3, .1, .4};
    const std::vector<std::string> target{"a", "b", "c", "d"}, draft{"a", "b", "c", "unknown"};
    const IdMap map = vocabulary_intersection(draft, target);
    CHECK(mapped_mass(map, q) == Approx(6. / 10).epsilon(1e-15));
    CHECK(covered_mass(map, p) == Approx(9. / 10).epsilon(1e-15));
    filters::ShapedMemory<double> memory;
    const auto row = push_forward(map, q, memory);
    CHECK(distance(probs_by_id(row), Array<double>(Eigen::Array4d(2. / 6, 3. / 6, 1. / 6, 0))) < 1e-15);
    CHECK(acceptance(row, p) == Approx(4. / 5).epsilon(1e-15));
    CHECK(acceptance(row, p) <= covered_mass(map, p));
    // The union rule also draws the unknown token, and loses it.
    CHECK(acceptance(std::vector<double>{.2, .3, .1, 0}, p) == Approx(3. / 5).epsilon(1e-15));
}

TEST_CASE("no draft is accepted more often than the mass that its map covers", "[shaping]") {
    for_maps([](const Images& images, Index draft_vocab, Index target_vocab, std::uint64_t seed) {
        const IdMap map(images, target_vocab);
        const auto p = softmax_of(random_logits(target_vocab, seed + 500));
        filters::ShapedMemory<double> memory;
        const double alpha = acceptance(push_forward(map, Logits(random_logits(draft_vocab, seed)), memory), p);
        REQUIRE(alpha <= covered_mass(map, p) + 1e-12);
    });
}

TEST_CASE("the padding of a row is ignored", "[shaping]") {
    const IdMap map(all_kinds, 9);  // a target padded from 6 to 9
    const auto q = softmax_of(random_logits(6, 1));
    Array<double> padded(10), padded_logits(10);
    padded << q * .5, .125, .125, .125, .125;
    padded_logits << q.log(), 3, 30, -infinity, 3;
    const auto expected = reference(all_kinds, 9, q);
    CHECK(distance(pushed(map, padded), expected) < 1e-15);
    CHECK(distance(pushed(map, Logits(padded_logits)), expected) < 1e-14);
    CHECK(pushed(map, q).tail(3).isZero(0));
    const IdMap same = IdMap::same_ids(6, 6);  // the numbers could stay where they are
    CHECK(distance(pushed(same, padded), q) < 1e-15);
    CHECK(distance(pushed(same, Logits(padded_logits)), q) < 1e-14);
}

TEST_CASE("a draft without mass on mapped ids is uniform over the images", "[shaping]") {
    const IdMap map(all_kinds, 6);
    Array<double> uniform = Array<double>::Zero(6);
    uniform[0] = uniform[1] = uniform[4] = 1. / 3;
    const auto check = [&](const auto& row) { CHECK(distance(pushed(map, row), uniform) < 1e-7); };
    check(std::vector<double>{0, .5, 0, 0, 0, .5});
    check(std::vector<float>{0, 1, 0, 0, 0, 0});
    check(Logits(std::vector<double>{-infinity, 0, -infinity, -infinity, -infinity, 1}));
    check(Logits(std::vector<double>{-infinity, 0, -infinity, -infinity, -infinity, 1}, .1));
    check(Sparse(std::vector{1, 5}, std::vector<double>{.25, .75}, 6));
    check(Sparse(std::vector{5}, Logits(std::vector<double>{7}), 6));
    check(Sparse(std::vector{0, 5}, Logits(std::vector<double>{-infinity, 7}), 6));
}

TEST_CASE("a row that is no distribution does not become one behind a map", "[shaping]") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto cause = [](const auto& row, const Images& images = all_kinds) {
        const IdMap map(images, 6);
        filters::ShapedMemory<double> memory;
        const auto bad = inspect(push_forward(map, row, memory), Side::draft, 0);
        return bad ? std::optional(bad->cause) : std::nullopt;
    };
    CHECK(cause(std::vector<double>{.2, .2, .2, .2, .1, .1}) == std::nullopt);
    CHECK(cause(std::vector<double>{.2, .2, nan, .2, .1, .1}) == Cause::not_finite);
    CHECK(cause(std::vector<double>{.2, .2, infinity, .2, .1, .1}) == Cause::not_finite);
    CHECK(cause(std::vector<double>{.6, .2, -.2, .2, .1, .1}) == Cause::negative);
    CHECK(cause(std::vector<double>{.1, .2, .1, .2, .1, .1}) == Cause::not_normalised);
    CHECK(cause(std::vector<double>{0, 0, 0, 0, 0, 0}) == Cause::not_normalised);
    CHECK(cause(std::vector<double>{4, -2, 7, 1, 0, 3}) == Cause::logits);
    CHECK(cause(std::vector<double>{0, .5, 0, 0, 0, .7}) == Cause::not_normalised);
    CHECK(cause(std::vector<double>{.1, .2, .1, .2, .1, .1}, {0, 1, 2, 3, 4, 5}) == Cause::not_normalised);
    CHECK(cause(Logits(std::vector<double>{1, 2, nan, 1, 1, 1})) == Cause::not_finite);
    CHECK(cause(Logits(std::vector<double>{1, 2, infinity, 1, 1, 1})) == Cause::not_finite);
    CHECK(cause(Logits(std::vector<double>{1, 2, 3, nan, 1, 1})) == Cause::not_finite);  // merged with another
    CHECK(cause(Logits(std::vector<double>(6, -infinity))) == Cause::all_masked);
    CHECK(cause(Logits(std::vector<double>(6, -infinity)), {0, 1, 2, 3, 4, 5}) == Cause::all_masked);
}

TEST_CASE("sizes that cannot belong to a map are refused", "[shaping]") {
    const IdMap map(all_kinds, 7);
    filters::ShapedMemory<double> memory;
    CHECK_THROWS_WITH(push_forward(map, std::vector<double>{.5, .5}, memory),
                      "specsample::push_forward: the size of the row is 2, but must be at least the draft vocabulary "
                      "of the map, 6");
    CHECK_THROWS_WITH(covered_mass(map, std::vector<double>{.5, .5}),
                      "specsample::covered_mass: the size of the row is 2, but must be the target vocabulary of the "
                      "map, 7");
}

TEST_CASE("a map onto every target id leaves a dense row", "[shaping]") {
    const IdMap map(std::vector{2, 0, 1}, 3);
    filters::ShapedMemory<double> memory;
    const auto row = push_forward(map, std::vector<double>{.5, .2, .3}, memory);
    CHECK(row.ids().holds_every_id());
    CHECK(distance(probs_by_id(row), Array<double>(Eigen::Array3d(.2, .3, .5))) == 0);
}

TEST_CASE("memory that has met a row stays where it is", "[shaping]") {
    const auto check = [](const Images& images, const auto& row) {
        const IdMap map(images, 6);
        filters::ShapedMemory<double> memory;
        push_forward(map, row, memory);
        const auto state = [&] {
            return std::vector<const void*>{memory.row.numbers.data(), memory.row.ids.data(),
                                            memory.scratch.places.data(), memory.scratch.weights.data()};
        };
        const auto before = state();
        const auto capacity = memory.scratch.places.capacity();
        for (int i = 0; i < 3; ++i) push_forward(map, row, memory);
        CHECK(state() == before);
        CHECK(memory.scratch.places.capacity() == capacity);
    };
    const std::vector<double> q{.2, .2, .2, .2, .1, .1};
    check(all_kinds, q);
    check(all_kinds, Logits(q));
    check({5, 4, 3, 2, 1, 0}, Logits(q));
    check(all_kinds, Sparse(std::vector{0, 2, 3, 4}, std::vector<double>{.25, .25, .25, .25}, 6));
}
