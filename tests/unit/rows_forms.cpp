// Rows in every form of memory: whatever numbers and ids are stored as, a row is read the same.
#include <specsample/rows/sparse.hpp>

#include <cstdint>
#include <limits>
#include <vector>

#include <specsample/kernels/inspect.hpp>
#include <specsample/rows/memory.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

template <class R>
std::vector<double> probs_of(const R& row) {
    const auto view = detail::as_row(row);
    std::vector<double> all;
    for (Index id = 0; id < view.size(); ++id) all.push_back(static_cast<double>(view.coeff(id)));
    return all;
}

}  // namespace

TEMPLATE_TEST_CASE("ids of any integral type give the same row", "[rows]", std::int8_t, std::uint8_t, std::int16_t,
                   std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, long long) {
    struct Candidate {
        TestType id;
        float prob;
    };
    const std::vector<TestType> ids{1, 3, 120};
    const std::vector<float> probs{.5f, .25f, .25f};
    std::vector<double> expected(122, 0.);
    expected[1] = .5, expected[3] = expected[120] = .25;
    CHECK(probs_of(Sparse(ids, probs, 122)) == expected);
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < ids.size(); ++i) candidates.push_back({ids[i], probs[i]});
    CHECK(probs_of(Sparse(member(candidates, &Candidate::id), member(candidates, &Candidate::prob), 122)) == expected);
    CHECK_FALSE(kernels::inspect(Sparse(ids, probs, 122), Side::draft, 0));
    CHECK(kernels::inspect(Sparse(ids, probs, 120), Side::draft, 0)->cause == Cause::id_outside);
    const std::vector<TestType> unordered{3, 1, 120}, twice{1, 1, 120};
    CHECK(kernels::inspect(Sparse(unordered, probs, 122), Side::draft, 0)->cause == Cause::unordered_ids);
    CHECK(kernels::inspect(Sparse(twice, probs, 122), Side::draft, 0)->cause == Cause::unordered_ids);
    constexpr TestType extreme = std::is_signed_v<TestType> ? TestType(-1) : std::numeric_limits<TestType>::max();
    for (const std::vector<TestType>& bad :
         {std::vector<TestType>{1, 3, extreme}, std::vector<TestType>{extreme, 3, 120}})
        CHECK(kernels::inspect(Sparse(bad, probs, 122), Side::draft, 0));
}

TEMPLATE_TEST_CASE("numbers a step apart are the same row as numbers in order", "[rows]", float, double, Eigen::half,
                   Eigen::bfloat16) {
    constexpr Index vocab = 1500;  // more than two blocks
    Eigen::Array<TestType, Eigen::Dynamic, 1> numbers(vocab), spread(3 * vocab);
    for (Index i = 0; i < vocab; ++i)
        spread[3 * i] = numbers[i] = static_cast<TestType>(static_cast<float>(i % 17) * .125f);
    const Eigen::Map<const Eigen::Array<TestType, Eigen::Dynamic, 1>, 0, Eigen::InnerStride<3>> apart(spread.data(),
                                                                                                      vocab);
    CHECK(probs_of(numbers) == probs_of(apart));
    CHECK(probs_of(Logits(numbers, .7)) == probs_of(Logits(apart, .7)));
    CHECK(kernels::log_sum_exp(numbers) == kernels::log_sum_exp(apart));
    CHECK(kernels::argmax(numbers) == kernels::argmax(apart));
}
