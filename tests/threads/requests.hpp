// Random requests of every shape, rule and limit, each with its own models and RNG.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include <specsample/kernels/draw.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/verify.hpp>
#include <specsample/verify/batch.hpp>

#include "support/rules.hpp"

namespace requests {

using namespace specsample;
using namespace specsample::kernels;

/// Random numbers, the same for the same seed.
class Chance {
  public:
    explicit Chance(std::uint64_t seed) : rng_({.seed = seed, .purpose = Purpose::policy}) {}

    double uniform() { return rng_.open_uniform(lane_++); }
    Index below(Index bound) { return static_cast<Index>(uniform() * static_cast<double>(bound)); }

    /// 0 .. size - 1 in some order.
    std::vector<Index> order(Index size) {
        std::vector<Index> places(static_cast<std::size_t>(size));
        for (Index i = 0; i < size; ++i) {
            places[static_cast<std::size_t>(i)] = i;
            std::swap(places[static_cast<std::size_t>(i)], places[static_cast<std::size_t>(below(i + 1))]);
        }
        return places;
    }

  private:
    Rng rng_;
    std::uint32_t lane_ = 0;
};

inline Eigen::VectorXf random_row(Index vocab, Chance& chance) {
    Eigen::VectorXf row(vocab);
    for (float& entry : row) entry = static_cast<float>(chance.uniform() < .2 ? 0 : chance.uniform());
    row[chance.below(vocab)] += 1;
    return row / row.sum();
}

/// One request with memory of its own: a chain or a tree of 0 to 4 drafted tokens.
struct Case {
    RowMajorMatrix<float> rows, draft_rows;
    std::vector<Token> tokens;
    std::vector<Index> parents;
    std::vector<Token> stop_tokens;
    bool is_tree = false;
    int rule = 0;
    std::uint64_t seed = 0, request = 0;
    Index start = 0;
    Index max_tokens = unlimited;
    Check check = Check::entries_read;

    explicit Case(Chance& chance) {
        const Index vocab = 1 + chance.below(12), drafted = chance.below(5);
        rows.resize(drafted + 1, vocab);
        draft_rows.resize(drafted, vocab);
        for (Index i = 0; i <= drafted; ++i) rows.row(i) = random_row(vocab, chance).transpose();
        is_tree = chance.uniform() < .5;
        for (Index i = 0; i < drafted; ++i) {
            // Half of the drafts are the target's own rows, so that long paths are accepted.
            draft_rows.row(i) = chance.uniform() < .5 ? rows.row(i).eval() : random_row(vocab, chance).transpose();
            const auto uniform = [&] { return chance.uniform(); };
            tokens.push_back(
                static_cast<Token>(draw_index(RowWeights(detail::as_row(draft_rows.row(i))), uniform).index));
            parents.push_back(is_tree ? chance.below(i + 1) - 1 : i - 1);
        }
        rule = static_cast<int>(chance.below(5));
        seed = static_cast<std::uint64_t>(chance.below(1000));
        request = static_cast<std::uint64_t>(chance.below(1000));
        start = chance.below(100000);
        if (chance.uniform() < .3) max_tokens = 1 + chance.below(3);
        if (chance.uniform() < .3) stop_tokens.push_back(static_cast<Token>(chance.below(vocab)));
        if (chance.uniform() < .5) check = Check::every_row;
    }

    RoundLimits limits() const { return {.max_tokens = max_tokens, .stop_tokens = stop_tokens, .check = check}; }
    RoundRng rng() const { return {seed, request, start}; }
    auto distributions() const {
        return [this](Index i) { return Sampled(draft_rows.row(i)); };
    }

    /// f(rule)
    template <class F>
    auto with_rule(const F& f) const {
        switch (rule) {
            case 0:
                return f(TokenVerification{});
            case 1:
                return f(BlockVerification{});
            case 2:
                return f(SampleMatch{});
            case 3:
                return f(GreedyMatch{});
            default:
                return f(GumbelMatch{});
        }
    }

    /// The request before verify.
    Round verified(Workspace& workspace) const {
        return with_rule([&](const auto& judge) {
            const auto drawn = rules::drafted_for(judge, distributions());
            if (is_tree) return verify(Tree{tokens, parents}, drawn, rows, judge, rng(), limits(), workspace);
            return verify(tokens, drawn, rows, judge, rng(), limits(), workspace);
        });
    }

    /// The same as a Request.
    Round requested(Workspace& workspace) const {
        return with_rule([&](const auto& judge) {
            const auto drawn = rules::drafted_for(judge, distributions());
            if (is_tree) return Request{Tree{tokens, parents}, drawn, rows, judge, rng(), limits()}(workspace);
            return Request{tokens, drawn, rows, judge, rng(), limits()}(workspace);
        });
    }
};

inline std::vector<Case> random_cases(Index count, Chance& chance) {
    std::vector<Case> cases;
    for (Index i = 0; i < count; ++i) cases.emplace_back(chance);
    return cases;
}

inline bool same(const std::optional<RowFault>& a, const std::optional<RowFault>& b) {
    if (!a || !b) return !a && !b;
    return a->side == b->side && a->cause == b->cause && a->row == b->row && a->value == b->value &&
           a->bound == b->bound && a->id == b->id;
}

/// Equal to the bit.
inline bool same(const Round& a, const Round& b) {
    return std::ranges::equal(a.tokens, b.tokens) && std::ranges::equal(a.path, b.path) && a.proposed == b.proposed &&
           a.depth == b.depth && a.evaluated == b.evaluated && a.accepted == b.accepted && a.discarded == b.discarded &&
           a.last == b.last && a.end == b.end && same(a.fault, b.fault);
}

/// The result of each request by itself, in an unused workspace.
struct Alone {
    Workspace workspace;
    Round round;

    explicit Alone(const Case& request) : round(request.verified(workspace)) {}
};

inline std::vector<Alone> each_alone(const std::vector<Case>& cases) {
    std::vector<Alone> rounds;
    rounds.reserve(cases.size());
    for (const Case& request : cases) rounds.emplace_back(request);
    return rounds;
}

}  // namespace requests
