// push_forward of rows of which nearly nothing is mapped: what can be scaled up to 1 is, and nothing else.
#include <specsample/vocabularies/mapped_row.hpp>

#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::vocabularies;
using namespace specsample::filters;

TEST_CASE("a mapped mass of any normal number is scaled up to 1, and a smaller one is no mass", "[shaping]") {
    const IdMap map(std::vector<int>{2, 0, -1}, 4);
    const auto pushed = [&](double first, double second) {
        const std::vector<double> row{first, second, 1};
        ShapedMemory<double> memory;
        return probs_by_id(push_forward(map, row, memory));
    };
    const double least = std::numeric_limits<double>::min();
    CHECK(distance(pushed(3 * least, least), (Array<double>(4) << .25, 0, .75, 0).finished()) < 1e-15);
    const Array<double> uniform = (Array<double>(4) << .5, 0, .5, 0).finished();
    CHECK(distance(pushed(1e-320, 3e-320), uniform) == 0);
    CHECK(distance(pushed(0, 0), uniform) == 0);
}
