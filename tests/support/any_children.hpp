// Children of a kind that is chosen when a test runs: one type of tree, so that a sampler is compiled once for all
// kinds.
#pragma once

#include <specsample/drafters/children.hpp>

namespace any {

using namespace specsample;
using namespace specsample::children;

enum class Kind { independent, without_replacement, top, greedy };

struct Children {
    Kind kind;

    template <class View, class RngOf, class Add>
    void operator()(const View& row, std::span<Token> ids, const RngOf& rng, const Add& add) const {
        switch (kind) {
            case Kind::independent:
                return Independent{}(row, ids, rng, add);
            case Kind::without_replacement:
                return WithoutReplacement{}(row, ids, rng, add);
            case Kind::top:
                return TopChildren{}(row, ids, rng, add);
            case Kind::greedy:
                return GreedyChildren{}(row, ids, rng, add);
        }
    }
};

}  // namespace any
