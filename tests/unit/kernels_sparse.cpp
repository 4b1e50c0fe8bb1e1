// Sparse rows: ids of every type and storage, draws equal to those of the dense row, and invalid ids.
#include <specsample/rows/memory.hpp>
#include <specsample/rows/sparse.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <specsample/kernels/inspect.hpp>
#include <specsample/kernels/overlap.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/random/rng.hpp>

#include "support/catch.hpp"
#include "support/numbers.hpp"

using namespace specsample;
using namespace specsample::kernels;
using numbers::Special;

namespace {

#define EVERY_ID \
    std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t

struct Candidate {
    std::int64_t id;
    float logit;
    float p;
};

/// Some ids and their shares of 64, so that every sum of them is exact.
struct Shares {
    std::vector<std::int32_t> ids;
    std::vector<float> probs;
    Index vocab;

    Shares(Index vocabulary, Index every, std::uint64_t seed) : vocab(vocabulary) {
        for (Index id = static_cast<Index>(seed) % every; id < vocab; id += every)
            ids.push_back(static_cast<std::int32_t>(id));
        probs.assign(ids.size(), 0);
        for (std::uint32_t i = 0; i < 64; ++i) probs[Rng({.seed = seed}).bits(i) % probs.size()] += 1.f / 64;
    }

    Eigen::VectorXf dense() const {
        Eigen::VectorXf row = Eigen::VectorXf::Zero(vocab);
        for (std::size_t i = 0; i < ids.size(); ++i) row[ids[i]] = probs[i];
        return row;
    }
    auto row() const { return Sparse(ids, probs, vocab); }
};

template <class R>
std::vector<double> values(const R& row) {
    const auto probs = detail::as_row(row);
    std::vector<double> result;
    for (Index id = 0; id < probs.size(); ++id) result.push_back(static_cast<double>(probs.coeff(id)));
    return result;
}

using Values = std::vector<double>;

template <class R>
RowFault fault_of(const R& row) {
    const auto fault = inspect(row, Side::draft, 4);
    REQUIRE(fault);
    return *fault;
}

}  // namespace

TEMPLATE_TEST_CASE("ids may be of any integral type, in any memory", "[kernels]", EVERY_ID) {
    const std::vector<TestType> ids{1, 3, 4};
    const std::array<TestType, 3> array{1, 3, 4};
    const std::vector<float> probs{.25f, .25f, .5f};
    const Values expected{0, .25, 0, .25, .5, 0};
    CHECK(values(Sparse(ids, probs, 6)) == expected);
    CHECK(values(Sparse(std::span(ids), std::span(probs), 6)) == expected);
    CHECK(values(Sparse(std::vector(ids), std::vector(probs), 6)) == expected);
    CHECK(values(Sparse(array, probs, 6)) == expected);
    Eigen::Array<TestType, Eigen::Dynamic, 1> column(3);
    std::ranges::copy(ids, column.begin());
    CHECK(values(Sparse(column, probs, 6)) == expected);
    struct Entry {
        double p;
        TestType id;
    };
    const std::vector<Entry> entries{{.25, 1}, {.25, 3}, {.5, 4}};
    CHECK(values(Sparse(member(entries, &Entry::id), member(entries, &Entry::p), 6)) == expected);
}

TEMPLATE_TEST_CASE("probabilities may be of any scalar", "[kernels]", float, double, Eigen::half, Eigen::bfloat16) {
    const std::vector<int> ids{0, 2};
    const std::vector<TestType> probs{static_cast<TestType>(.25f), static_cast<TestType>(.75f)};
    CHECK(values(Sparse(ids, probs, 4)) == Values{.25, 0, .75, 0});
    CHECK_FALSE(inspect(Sparse(ids, probs, 4), Side::target, 0));
}

TEST_CASE("a sparse row of logits is normalised over the ids that are there", "[kernels]") {
    const std::vector<Candidate> candidates{{1, 0, -1}, {1 << 20, 2, -1}};
    const auto ids = member(candidates, &Candidate::id);
    const auto logit = member(candidates, &Candidate::logit);
    const Sparse row(ids, Logits(logit, 2), 1 << 21);
    const double expected = 1 / (1 + std::exp(1.));
    CHECK(detail::as_row(row).coeff(1) == Approx(expected));
    CHECK(detail::as_row(row).coeff(1 << 20) == Approx(1 - expected));
    CHECK(detail::as_row(row).coeff(0) == 0);
    CHECK(detail::as_row(row).coeff((1 << 21) - 1) == 0);
    CHECK(row.argmax() == 1 << 20);
    CHECK_FALSE(inspect(row, Side::target, 0));
    CHECK(detail::as_row(Sparse(ids, Logits(logit, 0), 1 << 21)).coeff(1 << 20) == 1);
    CHECK(detail::as_row(Sparse(ids, Logits(logit, 1, std::log(1 + std::exp(2.))), 1 << 21)).coeff(1) ==
          Approx(.119202922));
}

TEST_CASE("a sparse row draws what its dense row draws", "[kernels]") {
    for (const Index every : {1, 2, 7, 40, 700})
        for (const Index vocab : {700, 1100, 5000}) {
            const Shares shares(vocab, every, 3);
            const auto dense = shares.dense();
            const auto sparse = shares.row();
            CHECK(argmax(sparse) == argmax(dense));
            int other = 0;
            for (Index i = 0; i < 500; ++i) {
                const Rng random({.seed = 8, .node = i});
                const Drawn drawn = draw(random, row_weights(sparse));
                other += drawn.index != draw(random, row_weights(dense)).index || drawn.sum != 1;
                other += race(random, row_weights(sparse)) != race(random, row_weights(dense));
                other += dense[drawn.index] == 0;
            }
            INFO("one id in " << every << " of " << vocab);
            CHECK(other == 0);
        }
}

TEST_CASE("no random number draws an id that is absent or of weight 0", "[kernels]") {
    const std::vector<int> ids{2, 5, 6, 900};
    const std::vector<float> probs{0, .5f, 0, .5f};
    for (const double u : {0., 0x1p-53, .5 - 0x1p-53, .5, .5 + 0x1p-53, 1 - 0x1p-53}) {
        const Index drawn = draw_index(row_weights(Sparse(ids, probs, 1000)), [&] { return u; }).index;
        CHECK(drawn == (u < .5 ? 5 : 900));
    }
}

TEST_CASE("as many ids as there are numbers, and no more than the vocabulary", "[kernels]") {
    const std::vector<int> ids{0, 1, 2};
    const std::vector<float> two{.5f, .5f}, three{.5f, .25f, .25f};
    CHECK_THROWS_WITH(Sparse(ids, two, 10),
                      "specsample::Sparse: the number of probabilities is 2, but must be that of ids, 3");
    CHECK_THROWS_WITH(Sparse(ids, Logits(two, .5), 10),
                      "specsample::Sparse: the number of probabilities is 2, but must be that of ids, 3");
    CHECK_THROWS_WITH(Sparse(ids, three, 2),
                      "specsample::Sparse: vocab is 2, but must be at least the number of ids, 3");
    CHECK_THROWS_AS(Sparse(ids, three, -1), std::invalid_argument);
    CHECK(values(Sparse(ids, three, 3)) == Values{.5, .25, .25});
}

TEMPLATE_TEST_CASE("ids out of order, repeated or outside are named with their place", "[kernels]", std::int16_t,
                   std::int32_t, std::int64_t) {
    const auto sentence = [](const std::vector<TestType>& ids) {
        const std::vector<float> probs(ids.size(), 1.f / static_cast<float>(ids.size())), logits(ids.size());
        const std::string text = message(fault_of(Sparse(ids, probs, 10)));
        CHECK(message(fault_of(Sparse(ids, Logits(logits), 10))) == text);
        return text;
    };
    const std::string order = ", but the ids of a sparse row must be strictly increasing";
    const std::string inside = ", but must have ids inside the vocabulary [0, 10)";
    CHECK(sentence({1, 5, 3, 7}) == "draft row 4 has id 3 after 5 at place 2" + order);
    CHECK(sentence({1, 5, 5, 7}) == "draft row 4 has id 5 after 5 at place 2" + order);
    CHECK(sentence({5, 1, 0}) == "draft row 4 has id 1 after 5 at place 1" + order);
    CHECK(sentence({-1, 5}) == "draft row 4 has id -1 at place 0" + inside);
    CHECK(sentence({1, -5, 7}) == "draft row 4 has id -5 at place 1" + inside);
    CHECK(sentence({1, 10}) == "draft row 4 has id 10 at place 1" + inside);
    CHECK(sentence({1, 12, 7}) == "draft row 4 has id 12 at place 1" + inside);
}

TEST_CASE("ids are looked at in their own width", "[kernels]") {
    const std::vector<float> probs{.5f, .5f};
    CHECK(fault_of(Sparse(std::vector<std::int64_t>{1, (1LL << 32) + 2}, probs, 10)).cause == Cause::id_outside);
    CHECK(fault_of(Sparse(std::vector<std::uint64_t>{1, ~0ULL}, probs, 10)).cause == Cause::id_outside);
    CHECK(fault_of(Sparse(std::vector<std::uint64_t>{~0ULL, 3}, probs, 10)).cause == Cause::id_outside);
    CHECK(fault_of(Sparse(std::vector<std::uint8_t>{200, 100}, probs, 256)).cause == Cause::unordered_ids);
    CHECK_FALSE(inspect(Sparse(std::vector<std::uint8_t>{1, 255}, probs, 256), Side::target, 0));
}

TEST_CASE("a sparse row must be a distribution", "[kernels]") {
    const std::vector<int> ids{3, 6}, no_ids;
    std::vector<float> row{.5f, .502f};
    const std::vector<float> nothing;
    CHECK(message(fault_of(Sparse(ids, row, 9))) == "draft row 4 sums to 1.002, but must sum to 1 within 0.001");
    row = {1, -.25f};
    CHECK(fault_of(Sparse(ids, row, 9)).cause == Cause::negative);
    CHECK(fault_of(Sparse(ids, row, 9)).id == 6);
    row = {8, 3};
    CHECK(fault_of(Sparse(ids, row, 9)).cause == Cause::logits);
    for (const Special what : {Special::nan, Special::minus_nan, Special::infinity}) {
        numbers::write(row[1], what);
        for (const RowFault& fault : {fault_of(Sparse(ids, row, 9)), fault_of(Sparse(ids, Logits(row), 9))}) {
            CHECK(fault.cause == Cause::not_finite);
            CHECK(fault.id == 6);
        }
    }
    for (float& z : row) numbers::write(z, Special::minus_infinity);
    CHECK(fault_of(Sparse(ids, Logits(row), 9)).cause == Cause::all_masked);
    CHECK(fault_of(Sparse(no_ids, nothing, 9)).cause == Cause::all_masked);
    CHECK(fault_of(Sparse(no_ids, Logits(nothing), 9)).cause == Cause::all_masked);
    CHECK(fault_of(Sparse(no_ids, nothing, 0)).cause == Cause::empty);
}

TEST_CASE("a sparse row that is kept has memory of its own", "[kernels]") {
    std::vector<Candidate> candidates{{2, 1, .25f}, {4, 2, .75f}};
    const Sparse row(member(candidates, &Candidate::id), member(candidates, &Candidate::p), 6);
    const Sparse logits(member(candidates, &Candidate::id), Logits(member(candidates, &Candidate::logit), .5), 6);
    decltype(row)::Owned kept;
    decltype(logits)::Owned kept_logits;
    row.copy_to(kept);
    logits.copy_to(kept_logits);
    const Values before = values(row), logits_before = values(logits);
    candidates = {{0, 9, 1}, {1, -9, 0}};
    CHECK(values(row) != before);
    CHECK(values(kept) == before);
    CHECK(values(kept_logits) == logits_before);
}

TEST_CASE("a sparse row that is kept is as bad as it was", "[kernels]") {
    const std::vector<int> ids{1, 3};
    const std::vector<float> probs{.25f, .75f}, numbers{1, 2};
    Sparse row(ids, probs, 6);
    decltype(row)::Owned kept;
    row.copy_to(kept);
    CHECK_FALSE(inspect(kept, Side::draft, 0));
    row.refuse();
    row.copy_to(kept);
    CHECK(kept.is_refused());
    CHECK(inspect(kept, Side::draft, 0));

    // Logits with a normaliser that somebody computed wrong, which shows as long as it is known.
    const Sparse logits(ids, Logits(numbers, 1, 5), 6);
    decltype(logits)::Owned kept_logits;
    logits.copy_to(kept_logits);
    CHECK(values(kept_logits) == values(logits));
    CHECK(inspect(kept_logits, Side::draft, 0)->cause == Cause::not_normalised);
}

using Owned = Sparse<std::vector<int>, std::vector<float>>;
static_assert(!Owned::borrows && Owned::outlives_its_making);
static_assert(std::is_same_v<decltype(Sparse(std::vector<int>(), std::vector<float>(), 1)), Owned>);
using Viewed = decltype(Sparse(std::span<const int>(), std::span<const float>(), 1));
static_assert(Viewed::borrows && Viewed::outlives_its_making);
using Local = decltype(Sparse(std::declval<std::vector<int>&>(), std::vector<float>(), 1));
static_assert(!Local::outlives_its_making);
