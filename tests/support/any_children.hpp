// The children of a tree's nodes, of a kind that is chosen when a test runs: one type of tree, so that a sampler is
// compiled once for all of them.
#pragma once

#include <specsample/draft/children.hpp>

namespace any {

using namespace specsample;

enum class Kind { independent, without_replacement, top, greedy };

struct Children {
    Kind kind;

    template <class View, class CoinOf, class Add>
    void operator()(const View& row, std::span<Token> ids, const CoinOf& coin, const Add& add) const {
        switch (kind) {
            case Kind::independent:
                return Independent{}(row, ids, coin, add);
            case Kind::without_replacement:
                return WithoutReplacement{}(row, ids, coin, add);
            case Kind::top:
                return TopChildren{}(row, ids, coin, add);
            case Kind::greedy:
                return GreedyChildren{}(row, ids, coin, add);
        }
    }
};

}  // namespace any
