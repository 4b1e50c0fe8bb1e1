// Drafters inside drafters: every composition of drafters and rules keeps the target's distribution, because every part
// has an RNG of its own.
#include <array>
#include <memory>
#include <optional>
#include <string>

#include <specsample/drafters/beam.hpp>
#include <specsample/drafters/heads.hpp>
#include <specsample/drafters/heads_tree.hpp>
#include <specsample/drafters/lookup.hpp>
#include <specsample/drafters/ngram_pool.hpp>
#include <specsample/drafters/suffix_lookup.hpp>
#include <specsample/drafters/united.hpp>
#include <specsample/length/stops.hpp>
#include <specsample/sampler/staged.hpp>
#include <specsample/theory.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"
#include "support/texts.hpp"

using namespace cases;
using namespace specsample::walks;
using namespace specsample::theory;
using namespace specsample::heads;
using namespace specsample::children;

namespace {

/// Any drafter whose distributions are point masses or rows of the test's models, for the
/// keyed RNG and for the enumerating one: one type, so that compositions can be made at run time.
class AnyPart {
  public:
    using Distribution = Mixed<RememberedView>;

    template <class Drafter>
        requires(!std::same_as<Drafter, AnyPart>)
    AnyPart(Drafter drafter) : part_(std::make_shared<Part<Drafter>>(std::move(drafter))) {}

    void propose(std::span<const Token> prefix, const RoundRng& rng, DraftTree<Distribution>& draft_tree) {
        part_->propose(prefix, rng, draft_tree);
    }
    void propose(std::span<const Token> prefix, const EnumeratedRng& rng, DraftTree<Distribution>& draft_tree) {
        part_->propose(prefix, rng, draft_tree);
    }

  private:
    struct Base {
        virtual ~Base() = default;
        virtual void propose(std::span<const Token>, const RoundRng&, DraftTree<Distribution>&) = 0;
        virtual void propose(std::span<const Token>, const EnumeratedRng&, DraftTree<Distribution>&) = 0;
    };
    template <class Drafter>
    struct Part final : Base {
        explicit Part(Drafter made) : drafter(std::move(made)) {}
        void propose(std::span<const Token> prefix, const RoundRng& rng, DraftTree<Distribution>& draft_tree) override {
            drafter.propose(prefix, rng, draft_tree);
        }
        void propose(std::span<const Token> prefix, const EnumeratedRng& rng,
                     DraftTree<Distribution>& draft_tree) override {
            drafter.propose(prefix, rng, draft_tree);
        }
        Drafter drafter;
    };

    std::shared_ptr<Base> part_;
};

struct Composition {
    std::string name;
    AnyPart drafter;
};

/// Random compositions of all drafters, of all lossless rules inside them, of lengths and of depths.
class Composer {
  public:
    /// @param vocab   of all models
    Composer(Index vocab, std::uint64_t seed) : dice_{seed}, vocab_(vocab) {}

    /// A random drafter, nested at most `depth` deep.
    Composition operator()(int depth) {
        if (depth == 1) return leaf();
        switch (dice_(depth == 2 ? 5 : 4)) {
            case 0: {
                const Composition a = (*this)(depth - 1), b = (*this)(depth - 1);
                return {"United(" + a.name + ", " + b.name + ")", United(a.drafter, b.drafter)};
            }
            case 1: {
                const Composition a = (*this)(depth - 1), b = (*this)(depth - 1);
                return {"FirstOf(" + a.name + ", " + b.name + ")", FirstOf(a.drafter, b.drafter)};
            }
            case 2:
                return staged((*this)(depth - 1));
            case 3: {
                const Composition a = (*this)(depth - 1);
                return {"HybridDrafter(" + a.name + ")", HybridDrafter(a.drafter, Heads{model(), 2}, {1, 1})};
            }
            default:
                return leaf();
        }
    }

    Remembered model() { return ContextModel(vocab_, 100 + static_cast<std::uint64_t>(dice_(4))); }

  private:
    Composition leaf() {
        switch (dice_(12)) {
            case 0:
                return {"TreeDrafter without replacement", TreeDrafter(model(), {2})};
            case 1:
                return {"TreeDrafter of independent children", TreeDrafter(model(), {2}, Independent{})};
            case 2:
                return {"TreeDrafter of greedy children", TreeDrafter(model(), {1, 2}, GreedyChildren{})};
            case 3:
                return {"BeamDrafter", BeamDrafter(model(), 2)};
            case 4:
                return {"HeadsDrafter", HeadsDrafter(Heads{model(), 2}, 2)};
            case 5:
                return {"HeadsTreeDrafter", HeadsTreeDrafter(Heads{model(), 2}, expansion_tree({2, 1}))};
            case 6:
                return {"DynamicTreeDrafter", DynamicTreeDrafter(model(), {.width = 2, .nodes = 3},
                                                                 [](Index n) { return .7 + .3 * double(n); })};
            case 7:
                return {"LookupDrafter", FirstOf(LookupDrafter({.min_match = 1}), ChainDrafter(model()))};
            case 8:
                return {"SuffixLookupDrafter",
                        FirstOf(SuffixLookupDrafter({.nodes = 3, .min_match = 1}), ChainDrafter(model()))};
            case 9:
                return {"PoolDrafter", PoolDrafter(ngrams())};
            case 10:
                return {"ChainDrafter with a stop", ChainDrafter(model(), ConfidenceStop(.4))};
            default:
                return {"ChainDrafter", ChainDrafter(model())};
        }
    }

    /// A pool of one text, for any drafter.
    static const NgramPool& ngrams() {
        static const NgramPool pool = [] {
            NgramPool made(3, 2);
            made.add(std::vector<Token>{0, 1, 1, 0, 0, 1, 0});
            return made;
        }();
        return pool;
    }

    Composition staged(const Composition& draft) {
        const Index lookahead = 1 + dice_(2);
        const std::string name = "StagedDrafter(" + draft.name + ", " + std::to_string(lookahead) + ", ";
        switch (dice_(4)) {
            case 0:
                return {name + "block)", StagedDrafter(draft.drafter, model(), lookahead, BlockVerification{})};
            case 1:
                return {name + "sample match)", StagedDrafter(draft.drafter, model(), lookahead, SampleMatch{})};
            case 2:
                return {name + "Gumbel match)", StagedDrafter(draft.drafter, model(), lookahead, GumbelMatch{})};
            default:
                return {name + "token)", StagedDrafter(draft.drafter, model(), lookahead)};
        }
    }

    texts::Dice dice_;
    Index vocab_;
};

/// Call f(name, rule) for a random rule.
template <class F>
void with_rule(texts::Dice& dice, const F& f) {
    switch (dice(4)) {
        case 0:
            return f("BlockVerification", BlockVerification{});
        case 1:
            return f("SampleMatch", SampleMatch{});
        case 2:
            return f("GumbelMatch", GumbelMatch{});
        default:
            return f("TokenVerification", TokenVerification{});
    }
}

/// Ends an enumeration that would take too long.
struct TooMany {};

/// The distance of a round's distribution from the target's; nothing where there are too many paths.
template <class Rule>
std::optional<double> distance(const Rule& rule, const AnyPart& drafter, const Remembered& target, Index lookahead) {
    constexpr long most_paths = 10000;
    TextDistribution distribution;
    long paths_seen = 0;
    try {
        for_rounds(rule, drafter, target, lookahead, [&](const Round& round, const Enumerator& paths) {
            if (++paths_seen > most_paths) throw TooMany();
            distribution[{round.tokens.begin(), round.tokens.end()}] += paths.probability();
        });
    } catch (const TooMany&) {
        return std::nullopt;
    }
    return total_variation(completed(distribution, target, lookahead + 1), joint_distribution(target, lookahead + 1));
}

/// The models of three compositions that are biased if parts share node numbers.
const Remembered s = FixedModel{row({.4, .35, .25})}, m = FixedModel{row({.6, .25, .15})},
                 m2 = FixedModel{row({.3, .3, .4})}, t = FixedModel{row({.2, .3, .5})};

}  // namespace

// Fixed seeds; every statistic has a false-alarm probability of 1e-9.
TEST_CASE("members of a union that run rounds of their own share no random number", "[distribution]") {
    const auto twice = United(StagedDrafter(s, m, 1), StagedDrafter(s, m, 1));
    const auto deeper = United(StagedDrafter(s, m, 2), StagedDrafter(s, m2, 2));
    CHECK(rounds(SpecInfer{}, twice, t, 1, 3, 40000).holds());
    CHECK(rounds(SpecInfer{}, deeper, t, 3, 3, 40000).holds());
    CHECK(rounds(TraversalVerification{}, deeper, t, 3, 3, 40000).holds());
}

TEST_CASE("a staged drafter inside another one shares no random number with it", "[distribution]") {
    const StagedDrafter draft(FirstOf(StagedDrafter(s, m2, 1)), m, 2);
    CHECK(rounds(BlockVerification{}, draft, t, 4, 3, 60000).holds());
    CHECK(rounds(TokenVerification{}, draft, t, 4, 3, 200000).holds());
}

TEST_CASE("the noise of a match rule inside a drafter does not come back in the next round", "[distribution]") {
    const Remembered half = FixedModel{row({.5, .5})}, draft = toy_draft, target = toy_target;
    CHECK(rounds(BlockVerification{}, StagedDrafter(half, draft, 4, SampleMatch{}), target, 4, 4, 40000).holds());
    CHECK(rounds(BlockVerification{}, StagedDrafter(half, draft, 4, GumbelMatch{}), target, 4, 4, 40000).holds());
}

TEST_CASE("random compositions of drafters, rules and lengths are exact", "[distribution]") {
    double worst = 0;
    int enumerated = 0, elsewhere = 0;
    std::array composers{Composer(2, 1), Composer(3, 2)};
    texts::Dice dice{3};
    for (std::size_t i = 0; i < 2000; ++i) {
        Composer& compose = composers[i % 2];
        const Composition drafter = compose(1 + static_cast<int>(dice(3)));
        const Remembered target = compose.model();
        const Index lookahead = 1 + dice(i % 2 == 0 ? 3 : 2);
        with_rule(dice, [&](const char* rule_name, const auto& rule) {
            INFO(rule_name << " of " << drafter.name << ", lookahead " << lookahead);
            if (const auto found = distance(rule, drafter.drafter, target, lookahead)) {
                CHECK(*found < 1e-12);
                worst = std::max(worst, *found);
                ++enumerated;
            } else {
                ++elsewhere;
            }
        });
    }
    CHECK(enumerated > 1500);
    WARN("largest total variation " << worst << " over " << enumerated << " compositions; " << elsewhere
                                    << " have too many paths");
}

TEST_CASE("many rounds of random compositions have the target's joint distribution", "[distribution]") {
    Composer compose(3, 3);
    texts::Dice dice{4};
    for (int i = 0; i < 200; ++i) {
        const Composition drafter = compose(2 + static_cast<int>(dice(2)));
        const Remembered target = compose.model();
        const Index lookahead = 1 + dice(4);
        with_rule(dice, [&](const char* rule_name, const auto& rule) {
            const ChiSquare result = rounds(rule, drafter.drafter, target, lookahead, 3, 6000);
            INFO(rule_name << " of " << drafter.name << ", lookahead " << lookahead << ": " << result.statistic
                           << " of " << result.bound);
            CHECK(result.holds());
        });
    }
}
