// The blocks of a race are handed out in the order of their bounds, each once.
#include <specsample/kernels/race_order.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <specsample/random/rng.hpp>

#include "support/catch.hpp"

using namespace specsample;

TEST_CASE("blocks are handed out from the smallest bound on, each once", "[kernels]") {
    constexpr Index group = detail::BlockOrder::group, most = detail::BlockOrder::most;
    const Rng rng({.seed = 4});
    detail::BlockOrder order;
    for (const Index count : {Index{1}, group - 1, group, group + 1, 3 * group, most - 1, most}) {
        CAPTURE(count);
        std::vector<double> bounds;
        order.clear();
        for (Index first = 0; first < count; first += group) {
            detail::BlockOrder::Bounds some;
            some.fill(1e-30f);
            const Index size = std::min(group, count - first);
            for (Index i = 0; i < size; ++i) {
                // A few equal ones, and the largest and smallest that there are.
                const double u = rng.uniform(static_cast<std::uint32_t>(first + i));
                some[static_cast<std::size_t>(i)] = u < .2    ? .25f
                                                    : u < .25 ? detail::BlockOrder::largest
                                                              : static_cast<float>(std::exp2(-50 * u));
                bounds.push_back(some[static_cast<std::size_t>(i)]);
            }
            order.add(size, some);
        }
        std::vector<bool> handed_out(bounds.size());
        double last = 0;
        for (Index i = 0; i < count; ++i) {
            REQUIRE(order.find());
            const double bound = order.bound();
            const auto block = static_cast<std::size_t>(order.take());
            REQUIRE(block < bounds.size());
            CHECK_FALSE(handed_out[block]);
            CHECK(bound <= bounds[block] * detail::BlockOrder::slack);
            CHECK(bound >= bounds[block] / detail::BlockOrder::slack);
            CHECK(bound >= last);
            handed_out[block] = true;
            last = bound;
        }
        CHECK_FALSE(order.find());
    }
}
