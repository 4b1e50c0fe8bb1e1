// A model whose rows are held whole, or in slices by ranks, and the texts that Sampler makes of it.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "shard/ranks.hpp"

#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>

namespace ranks {

using namespace specsample;

/// A model whose logits are a function of the last two tokens, of which a rank computes a slice.
template <class Scalar>
struct Toy {
    Index vocab;
    unsigned seed;
    double temperature = 1;

    /// The logits of the ids [first, first + count).
    std::vector<Scalar> logits(std::span<const Token> prefix, Index first, Index count) const {
        std::vector<Scalar> row(static_cast<std::size_t>(count));
        const auto last = static_cast<unsigned>(prefix.back()),
                   before = static_cast<unsigned>(prefix[prefix.size() - 2]);
        for (Index i = 0; i < count; ++i) {
            const Rng random(
                {.seed = last, .request = before, .position = first + i, .purpose = Purpose::draft, .node = 0});
            const double shared = -2 * std::log(random.open_uniform()), own = random.open_uniform(seed);
            row[static_cast<std::size_t>(i)] = static_cast<Scalar>(static_cast<float>(shared + own));
        }
        return row;
    }
};

template <class Scalar>
auto whole(const Toy<Scalar>& model) {
    return [model](std::span<const Token> prefix) {
        return Logits(model.logits(prefix, 0, model.vocab), model.temperature);
    };
}
template <class Scalar>
auto whole_rows(const Toy<Scalar>& model) {
    return [model](std::span<const Token> prefix, Index n) {
        std::vector<Logits<std::vector<Scalar>>> rows;
        for (std::size_t i = prefix.size() - static_cast<std::size_t>(n); i < prefix.size(); ++i)
            rows.emplace_back(model.logits(prefix.first(i + 1), 0, model.vocab), model.temperature);
        return rows;
    };
}

template <class Scalar>
auto sliced(const Toy<Scalar>& model, const ranks::Split& split, Index rank, shard::Ranks& ranks) {
    return [=, &ranks](std::span<const Token> prefix) {
        return shard::Sharded(Logits(model.logits(prefix, split.first(rank), split.count(rank)), model.temperature),
                              split.first(rank), model.vocab, ranks);
    };
}
template <class Scalar>
auto sliced_rows(const Toy<Scalar>& model, const ranks::Split& split, Index rank, shard::Ranks& ranks) {
    return [=, &ranks](std::span<const Token> prefix, Index n) {
        std::vector<shard::Sharded<Logits<std::vector<Scalar>>>> rows;
        for (std::size_t i = prefix.size() - static_cast<std::size_t>(n); i < prefix.size(); ++i)
            rows.emplace_back(
                Logits(model.logits(prefix.first(i + 1), split.first(rank), split.count(rank)), model.temperature),
                split.first(rank), model.vocab, ranks);
        return rows;
    };
}

struct Text {
    std::vector<Token> tokens;
    Index rounds = 0;
    bool operator==(const Text&) const = default;
};

template <class Draft, class Target, class Rule>
Text text_of(Draft draft, Target target, const Rule& rule) {
    Sampler sampler(draft, target, {.lookahead = 3, .seed = 9}, rule);
    const auto made = sampler.generate({1, 2}, {.max_new_tokens = 24, .stop_tokens = {0}});
    return {made.tokens, made.tally.rounds};
}

}  // namespace ranks
