// No id is ever emitted that the target cannot have: no padding, no masked or absent id. Random rows of
// every kind, every rule, random numbers of the keyed RNG and those at the ends of [0, 1).
#include <functional>
#include <optional>
#include <vector>

#include <specsample/specsample.hpp>

#include "support/catch.hpp"
#include "support/numbers.hpp"
#include "support/rules.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

constexpr Index lookahead = 3;
constexpr double last_draw = 1 - 0x1p-53;

/// Logits as a model leaves them: some masked, often at the ends of the row, with other data in the memory beside it.
class RandomRows {
  public:
    RandomRows(Index vocab, std::uint64_t seed, double masked)
        : vocab_(vocab), stride_(vocab + static_cast<Index>(seed % 5)) {
        const Rng noise({.seed = seed});
        memory_.assign(static_cast<std::size_t>((lookahead + 1) * stride_), 1e30f);
        for (Index i = 0; i <= lookahead; ++i) {
            const auto lane = [&](Index id) { return static_cast<std::uint32_t>(i * vocab + id); };
            float* row = memory_.data() + i * stride_;
            for (Index id = 0; id < vocab; ++id) {
                row[id] = static_cast<float>(40 * noise.uniform(lane(id)) - 20);
                const bool at_end = id < vocab / 4 || id >= vocab - vocab / 4;
                if (noise.uniform(lane(id) + 100000) < (at_end ? std::sqrt(masked) : masked))
                    numbers::write(row[id], numbers::Special::minus_infinity);
            }
            const auto possible = static_cast<Index>(noise.uniform(lane(0) + 200000) * static_cast<double>(vocab));
            row[possible] = 1;
            if (stride_ > vocab) numbers::write(row[stride_ - 1], numbers::Special::nan);
        }
    }

    Index vocab() const { return vocab_; }
    auto logits() const { return rows_in_memory(memory_.data(), lookahead + 1, vocab_, stride_); }
    bool is_possible(Index i, Index id) const {
        return id >= 0 && id < vocab_ && numbers::is_finite(memory_[static_cast<std::size_t>(i * stride_ + id)]);
    }

    /// The ids that are not masked, and their logits.
    auto sparse(Index i) const {
        std::vector<std::int32_t> ids;
        std::vector<float> left;
        for (Index id = 0; id < vocab_; ++id) {
            if (!is_possible(i, id)) continue;
            ids.push_back(static_cast<std::int32_t>(id));
            left.push_back(memory_[static_cast<std::size_t>(i * stride_ + id)]);
        }
        return Sparse(std::move(ids), Logits(std::move(left), .9), vocab_);
    }

  private:
    Index vocab_, stride_;
    std::vector<float> memory_;
};

// The same rows in every kind: a function from a position to a row.

struct AsLogits {
    const RandomRows& rows;
    auto operator()(Index i) const { return Logits(Eigen::VectorXf(rows.logits().row(i)), .9); }
};
struct AsStridedLogits {
    const RandomRows& rows;
    auto operator()(Index i) const { return logits_of(rows.logits(), .9)[static_cast<std::size_t>(i)]; }
};
template <class Scalar>
struct AsProbs {
    const RandomRows& rows;
    auto operator()(Index i) const {
        const Logits row(rows.logits().row(i), .9);
        return Eigen::Array<Scalar, Eigen::Dynamic, 1>(detail::as_row(row).template cast<Scalar>());
    }
};
struct AsHalfLogits {
    const RandomRows& rows;
    auto operator()(Index i) const {
        return Logits(
            Eigen::Array<Eigen::half, Eigen::Dynamic, 1>(rows.logits().row(i).transpose().cast<Eigen::half>()), .9);
    }
};
struct AsSparse {
    const RandomRows& rows;
    auto operator()(Index i) const { return rows.sparse(i); }
};
struct AsGreedy {
    const RandomRows& rows;
    auto operator()(Index i) const { return Logits(Eigen::VectorXf(rows.logits().row(i)), 0); }
};

/// Keyed random numbers, or one value for all of them: one type, so that a rule is compiled once for both.
struct AnyRng {
    RoundRng random;
    std::optional<double> value = {};

    struct Rng {
        specsample::Rng random;
        std::optional<double> value;

        double uniform() const { return value ? *value : random.uniform(); }
        void open_uniforms(std::span<const std::uint32_t> lanes, double* uniforms) const {
            if (!value) return random.open_uniforms(lanes, uniforms);
            std::fill_n(uniforms, lanes.size(), std::max(*value, 0x1p-53));
        }
    };
    Rng at(Purpose purpose, Index node) const { return {random.at(purpose, node), value}; }
};

long rounds = 0, emitted = 0, accepted = 0;

void check_drafted(const RandomRows& draft, Index node, const Drawn& drawn) {
    REQUIRE(draft.is_possible(node, drawn.index));
}

void check_round(const RandomRows& target, const Round& round) {
    REQUIRE(round);
    for (std::size_t i = 0; i < round.tokens.size(); ++i)
        REQUIRE(target.is_possible(static_cast<Index>(i), round.tokens[i]));
    ++rounds;
    emitted += std::ssize(round.tokens);
    accepted += round.accepted;
}

/// Tokens and the rows that they were drawn from.
template <class Draft>
struct Drafted {
    std::vector<decltype(std::declval<const Draft&>()(0))> q{};
    std::vector<Token> tokens{};

    Drafted(const Draft& draft, const AnyRng& rng) {
        for (Index node = 0; node < lookahead; ++node) {
            q.push_back(draft(node));
            const Drawn drawn = specsample::draw(rng.at(Purpose::draft, node), row_weights(q.back()));
            check_drafted(draft.rows, node, drawn);
            tokens.push_back(static_cast<Token>(drawn.index));
        }
    }
};

/// What each token was drawn from: one type for all rules, which then share what is compiled for residuals.
template <class Draft>
struct Distributions {
    const Drafted<Draft>& drafted;
    auto operator()(Index node) const { return Sampled(drafted.q[static_cast<std::size_t>(node)]); }
};

/// One round: tokens drawn from q and judged by p.
template <class Draft, class Target, class Rule>
Round judge(const Drafted<Draft>& drafted, const Target& target, const Rule& rule, const AnyRng& rng) {
    static Workspace workspace;
    const Distributions<Draft> distribution{drafted};
    return verify(drafted.tokens, rules::drafted_for(rule, distribution), target, rule, rng,
                  {.check = Check::every_row}, workspace);
}

/// Call f(q, p, rng) for many rows of drafts and targets.
void for_rows(const std::function<void(const RandomRows& q, const RandomRows& p, const AnyRng& rng)>& f) {
    std::uint64_t seed = 0;
    for (const Index vocab : {1, 2, 5, 64, 700})
        for (const double masked : {0., .3, .9, .99})
            for (int repeat = 0; repeat < (vocab > 64 ? 2 : 8); ++repeat) {
                const RandomRows q(vocab, ++seed, masked), p(vocab, ++seed, masked);
                const RoundRng random(seed, 0, repeat);
                // A draft that is nearly right, and one that knows nothing.
                for (const RandomRows* drafted : {&p, &q})
                    for (const AnyRng& rng : {AnyRng{random}, {random, 0}, {random, last_draw}}) f(*drafted, p, rng);
            }
}

template <class Draft, class Target>
void check_kinds() {
    for_rows([](const RandomRows& q, const RandomRows& p, const AnyRng& rng) {
        rules::for_each([&](const auto& rule, const char*) {
            check_round(p, judge(Drafted<Draft>(Draft{q}, rng), Target{p}, rule, rng));
        });
    });
    CHECK(emitted > rounds);
    CHECK(accepted > rounds / 4);
}

}  // namespace

TEMPLATE_TEST_CASE("no id is emitted that the target's logits mask or that pads them", "", AsLogits, AsProbs<float>,
                   AsHalfLogits, AsSparse) {
    check_kinds<TestType, AsStridedLogits>();
}

TEMPLATE_TEST_CASE("no id is emitted that has no probability in the target's row", "", AsProbs<float>,
                   AsProbs<Eigen::bfloat16>, AsHalfLogits, AsSparse, AsGreedy) {
    check_kinds<AsLogits, TestType>();
}
