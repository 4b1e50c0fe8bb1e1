// A recurrent target that is rewound after each rejection has its own distribution, under every kind of rule.
#include <specsample/drafters/tree.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"
#include "support/recurrent_toy.hpp"

using namespace cases;
using namespace specsample::theory;

namespace {

}  // namespace

TEMPLATE_TEST_CASE("a recurrent target keeps its distribution", "", TokenVerification, BlockVerification) {
    const ContextModel draft(3, 41), target(3, 42);
    const TextDistribution distribution = joint_distribution(target, 4);
    for (const Index states : {1, 2, 5}) {
        INFO(states << " states");
        CHECK(total_variation(exact_distribution(TestType{}, recurrent::Rewound(RecurrentToy{draft}, states),
                                                 recurrent::Rewound(RecurrentToy{target}, states), 3),
                              distribution) < 1e-12);
    }
}

TEST_CASE("trees drafted by a recurrent model keep the target's distribution") {
    const ContextModel draft(3, 41), target(3, 42);
    const TextDistribution distribution = joint_distribution(target, 3);
    for (const Index states : {1, 4})
        CHECK(total_variation(exact_distribution(TraversalVerification{},
                                                 TreeDrafter(recurrent::Rewound(RecurrentToy{draft}, states),
                                                             std::vector<Index>{2, 1}),
                                                 recurrent::Rewound(RecurrentToy{target}, states), 2),
                              distribution) < 1e-12);
}
