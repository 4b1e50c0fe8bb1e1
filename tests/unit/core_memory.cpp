// Rows and fields as engines hold them: read in place, and never the padding between them.
#include <specsample/rows/memory.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <specsample/rows/rows.hpp>

#include "support/catch.hpp"
#include "support/numbers.hpp"

using namespace specsample;

namespace {

struct Candidate {
    std::int32_t id;
    float logit;
    float p;
};

struct Wide {
    double p;
    std::int64_t id;
    float logit;
    std::int16_t rank;
};

}  // namespace

TEMPLATE_TEST_CASE("rows in memory are seen in place", "[core]", float, double, Eigen::half, Eigen::bfloat16) {
    std::vector<TestType> memory;
    for (int i = 0; i < 24; ++i) memory.push_back(static_cast<TestType>(static_cast<float>(i)));
    const auto rows = rows_in_memory(memory.data(), 3, 5, 8);
    CHECK(rows.rows() == 3);
    CHECK(rows.cols() == 5);
    CHECK(rows.data() == memory.data());
    for (Index i = 0; i < 3; ++i) {
        const auto row = detail::as_row(detail::element(rows, i));
        REQUIRE(row.size() == 5);
        CHECK(row.data() == memory.data() + 8 * i);
        for (Index j = 0; j < 5; ++j) CHECK(static_cast<float>(row[j]) == static_cast<float>(8 * i + j));
    }
    const auto dense = rows_in_memory(memory.data(), 4, 6);
    CHECK(dense.row(3).data() == memory.data() + 18);
}

TEST_CASE("what pads a row is not part of it", "[core]") {
    std::vector<float> memory(40, 1);
    for (std::size_t i = 0; i < memory.size(); ++i)
        if (i % 10 >= 7) numbers::write(memory[i], numbers::Special::nan);
    const auto rows = rows_in_memory(memory.data(), 4, 7, 10);
    CHECK(rows.sum() == 28);
}

TEST_CASE("rows in memory may be none", "[core]") {
    const float* nothing = nullptr;
    CHECK(rows_in_memory(nothing, 0, 5, 8).rows() == 0);
    CHECK(detail::element_count(rows_in_memory(nothing, 0, 5)) == 0);
}

TEST_CASE("rows in memory have a vocabulary, and a stride that holds it", "[core]") {
    const std::vector<float> memory(10);
    CHECK_THROWS_WITH(rows_in_memory(memory.data(), -1, 5, 5),
                      "specsample::rows_in_memory: count is -1, but must be at least 0");
    CHECK_THROWS_WITH(rows_in_memory(memory.data(), 1, 0, 5),
                      "specsample::rows_in_memory: vocab is 0, but must be at least 1");
    CHECK_THROWS_WITH(rows_in_memory(memory.data(), 1, -4),
                      "specsample::rows_in_memory: vocab is -4, but must be at least 1");
    CHECK_THROWS_WITH(rows_in_memory(memory.data(), 2, 5, 4),
                      "specsample::rows_in_memory: stride is 4, but must be at least vocab, 5");
    CHECK_THROWS_AS(rows_in_memory(memory.data(), 2, 5, -5), std::invalid_argument);
}

TEST_CASE("a field of an array of structs is seen in place", "[core]") {
    std::vector<Candidate> candidates{{7, .5f, .25f}, {9, 1.5f, .5f}, {2, 2.5f, .75f}};
    const auto id = member(candidates, &Candidate::id);
    const auto logit = member(candidates, &Candidate::logit);
    const auto p = member(candidates, &Candidate::p);
    REQUIRE(id.size() == 3);
    for (Index i = 0; i < 3; ++i) {
        const Candidate& candidate = candidates[static_cast<std::size_t>(i)];
        CHECK(&id.coeffRef(i) == &candidate.id);
        CHECK(&logit.coeffRef(i) == &candidate.logit);
        CHECK(&p.coeffRef(i) == &candidate.p);
    }
    candidates[1].p = 0;  // a view, not a copy
    CHECK(p[1] == 0);
}

TEST_CASE("fields of every width are seen through padding", "[core]") {
    const std::array<Wide, 2> structs{{{.5, 1LL << 40, 2, 3}, {.25, -1, 4, 5}}};
    CHECK(member(structs, &Wide::p)[1] == .25);
    CHECK(member(structs, &Wide::id)[0] == 1LL << 40);
    CHECK(member(structs, &Wide::id)[1] == -1);
    CHECK(member(structs, &Wide::logit)[1] == 4);
    CHECK(member(structs, &Wide::rank)[0] == 3);
    CHECK(member(structs, &Wide::rank)[1] == 5);
}

TEST_CASE("structs may be a vector, a span, an array or none", "[core]") {
    const std::vector<Candidate> vector{{1, 2, 3}};
    const Candidate plain[] = {{4, 5, 6}, {7, 8, 9}};
    CHECK(member(vector, &Candidate::p)[0] == 3);
    CHECK(member(std::span(vector), &Candidate::p)[0] == 3);
    CHECK(member(plain, &Candidate::p)[1] == 9);
    CHECK(member(std::span(plain, 1), &Candidate::p).size() == 1);
    const std::vector<Candidate> none;
    CHECK(member(none, &Candidate::p).size() == 0);
}

static_assert(RowLike<decltype(member(std::declval<const std::vector<Candidate>&>(), &Candidate::p))>);
static_assert(!RowLike<decltype(member(std::declval<const std::vector<Candidate>&>(), &Candidate::id))>);
static_assert(detail::RowSource<detail::RowsInMemory<float>>);
