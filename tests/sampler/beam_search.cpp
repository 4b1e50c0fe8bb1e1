// Speculative beam search: the same beams as plain beam search, to the bit, with every draft and every lookahead.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>

#include <specsample/beam.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::beam;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

using Text = std::vector<Token>;
using Prefix = std::span<const Token>;
using RowAfter = std::function<std::vector<double>(const Text&)>;

constexpr Index vocab = 4;
const Text prompt{1, 2};

/// Plain beam search: every extension is made, and all are sorted.
std::vector<Beam> plain(const RowAfter& model, std::size_t width, const Limits& limits) {
    struct Candidate {
        Beam beam;
        std::size_t place;
        double prob;
        Token id;
    };
    std::vector<Beam> beams(1);
    for (Index step = 0; step < std::min(limits.max_new_tokens, limits.max_length - std::ssize(prompt)); ++step) {
        std::vector<Candidate> all;
        for (std::size_t place = 0; place < beams.size(); ++place) {
            if (beams[place].finished) {
                all.push_back({beams[place], place, 1, 0});
                continue;
            }
            Text text = prompt;
            text.insert(text.end(), beams[place].tokens.begin(), beams[place].tokens.end());
            const auto row = model(text);
            for (std::size_t id = 0; id < row.size(); ++id) {
                if (row[id] == 0) continue;
                Beam beam = beams[place];
                beam.tokens.push_back(static_cast<Token>(id));
                beam.log_prob += std::log(row[id]);
                beam.finished = std::ranges::count(limits.stop_tokens, beam.tokens.back()) > 0;
                all.push_back({beam, place, row[id], beam.tokens.back()});
            }
        }
        std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
            return std::tuple(-a.beam.log_prob, a.place, -a.prob, a.id) <
                   std::tuple(-b.beam.log_prob, b.place, -b.prob, b.id);
        });
        beams.clear();
        for (const Candidate& each : all)
            if (beams.size() < width) beams.push_back(each.beam);
    }
    return beams;
}

/// Rows of few different numbers, with zeros: nearly every step has ties.
struct TieModel {
    std::uint64_t seed;

    std::vector<double> operator()(const Text& text) const {
        static const std::vector<std::vector<double>> kinds{
            {.5, .25, .125, .125}, {.25, .25, .25, .25}, {.5, .5, 0, 0}, {1, 0, 0, 0}, {.5, .25, .25, 0}};
        std::uint64_t context = seed;
        for (const Token token : text) context = Rng({.seed = context, .position = token + 1}).bits();
        const Rng noise({.seed = context});
        std::vector<double> row = kinds[static_cast<std::size_t>(noise.uniform() * 5)];
        for (std::uint32_t i = 3; i > 0; --i)
            std::swap(row[i], row[static_cast<std::size_t>(noise.uniform(i) * (i + 1))]);
        return row;
    }
};

/// Either of the two, as models that do not share their rows.
RowAfter tied(std::uint64_t seed) { return TieModel{seed}; }
RowAfter smooth(std::uint64_t seed, RowKind rows = RowKind::smooth) {
    return [model = ContextModel(vocab, seed, rows)](const Text& text) {
        const Eigen::VectorXd row = model(text);
        return std::vector<double>(row.begin(), row.end());
    };
}

/// The first model three times out of four, else the second.
RowAfter mostly(RowAfter one, RowAfter other) {
    return [=](const Text& text) {
        std::uint64_t context = 77;
        for (const Token token : text) context = Rng({.seed = context, .position = token + 1}).bits();
        return context % 4 > 0 ? one(text) : other(text);
    };
}

/// A cache of the last prefix, which refuses a prefix that does not extend it.
struct Cache {
    RowAfter model;
    Text held{};
    int passes = 0;

    void show(Prefix prefix, Index positions) {
        REQUIRE(std::ssize(held) <= std::max<Index>(0, std::ssize(prefix) - positions));
        REQUIRE(std::equal(held.begin(), held.end(), prefix.begin()));
        held.assign(prefix.begin(), prefix.end());
        ++passes;
    }
    void rollback(Index length) {
        REQUIRE(length <= std::ssize(held));
        held.resize(static_cast<std::size_t>(length));
    }
};

struct OnePosition : Cache {
    std::vector<double> operator()(Prefix prefix) {
        show(prefix, 1);
        return model(held);
    }
};

struct ManyPositions : Cache {
    std::vector<std::vector<double>> operator()(Prefix prefix, Index n) {
        show(prefix, n);
        std::vector<std::vector<double>> rows;
        for (Index i = 0; i < n; ++i) rows.push_back(model(Text(held.begin(), held.end() - (n - 1 - i))));
        return rows;
    }
};

struct OnTrees : Cache {
    Index missing = 0;

    RowMajorMatrix<double> operator()(Prefix prefix, Tree<Token, Index> tree) {
        show(prefix, 1);
        std::vector<Text> texts{held};
        for (std::size_t node = 0; node < tree.tokens.size(); ++node) {
            texts.push_back(texts[static_cast<std::size_t>(tree.parents[node] + 1)]);
            texts.back().push_back(tree.tokens[node]);
        }
        RowMajorMatrix<double> rows(std::ssize(texts) - missing, vocab);
        for (Index i = 0; i < rows.rows(); ++i)
            rows.row(i) = Eigen::Map<const Eigen::RowVectorXd>(model(texts[static_cast<std::size_t>(i)]).data(), vocab);
        return rows;
    }
};

/// Makes rows of a tree on access, and reads the tree at that time.
struct LazilyOnTrees : Cache {
    struct Made {
        RowAfter model;
        Text prefix;
        Tree<Token, Index> tree;

        std::size_t size() const { return tree.tokens.size() + 1; }
        std::vector<double> operator[](std::size_t i) const {
            Text tail;
            for (auto node = static_cast<Index>(i) - 1; node != root_node;
                 node = tree.parents[static_cast<std::size_t>(node)])
                tail.push_back(tree.tokens[static_cast<std::size_t>(node)]);
            Text text = prefix;
            text.insert(text.end(), tail.rbegin(), tail.rend());
            return model(text);
        }
    };

    Made operator()(Prefix prefix, Tree<Token, Index> tree) {
        show(prefix, 1);
        return {model, held, tree};
    }
};

void check_beams(const std::vector<Beam>& found, const std::vector<Beam>& expected) {
    bool same = found.size() == expected.size();
    for (std::size_t i = 0; same && i < found.size(); ++i)
        same = found[i].tokens == expected[i].tokens && found[i].log_prob == expected[i].log_prob &&
               found[i].finished == expected[i].finished;
    CHECK(same);
}

/// Every kind of target, every lookahead and every draft width.
void check_search(const RowAfter& draft, const RowAfter& target, Index width, const Limits& limits) {
    const auto expected = plain(target, static_cast<std::size_t>(width), limits);
    for (Index lookahead = 0; lookahead <= 4; ++lookahead)
        for (Index draft_width = width; draft_width <= width + 2; ++draft_width) {
            const BeamOptions options{.width = width, .draft_width = draft_width, .lookahead = lookahead};
            OnePosition small{{draft}};
            OnTrees trees{{target}};
            const BeamResult found = BeamSearch(std::ref(small), std::ref(trees), options).generate(prompt, limits);
            check_beams(found.beams, expected);
            CHECK(trees.passes == found.rounds);
            CHECK(found.rounds <= found.steps);
            CHECK(found.steps <= found.rounds * (lookahead + 1));
            if (lookahead == 0) CHECK((small.passes == 0 && found.drafted == 0));
            for (const BeamResult& other :
                 {BeamSearch(OnePosition{{draft}}, OnePosition{{target}}, options).generate(prompt, limits),
                  BeamSearch(OnePosition{{draft}}, ManyPositions{{target}}, options).generate(prompt, limits),
                  BeamSearch(OnePosition{{draft}}, LazilyOnTrees{{target}}, options).generate(prompt, limits)}) {
                check_beams(other.beams, expected);
                CHECK(std::tuple(other.rounds, other.steps, other.drafted) ==
                      std::tuple(found.rounds, found.steps, found.drafted));
            }
        }
}

const RowAfter useless = [](const Text&) { return std::vector<double>{0, 0, 0, 1}; };
const RowAfter never_three = [](const Text& text) {
    auto row = smooth(5)(text);
    row[0] += row[3];
    row[3] = 0;
    return row;
};

}  // namespace

TEST_CASE("speculative beams are plain beams, with ties and zeros", "[beam]") {
    const Index width = GENERATE(1, 2, 3, 4);
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const RowAfter target = tied(seed);
        for (const RowAfter& draft : {mostly(target, tied(seed + 100)), tied(seed + 200)}) {
            check_search(draft, target, width, {.max_new_tokens = 7});
            check_search(draft, target, width, {.max_new_tokens = 9, .stop_tokens = {3}});
        }
    }
}

TEST_CASE("speculative beams are plain beams, without ties", "[beam]") {
    const Index width = GENERATE(1, 2, 3, 4);
    for (const RowKind rows : {RowKind::smooth, RowKind::with_zeros, RowKind::peaked, RowKind::point_masses}) {
        const RowAfter target = smooth(11, rows);
        check_search(mostly(target, smooth(12)), target, width, {.max_new_tokens = 8, .stop_tokens = {0, 2}});
    }
}

TEST_CASE("beams end at every budget and capacity, however far a round would look", "[beam]") {
    const RowAfter target = tied(3);
    for (Index most = 0; most <= 6; ++most) {
        check_search(target, target, 3, {.max_new_tokens = most});
        check_search(target, target, 3, {.max_length = std::ssize(prompt) + most});
    }
    const auto none = BeamSearch(OnePosition{{target}}, OnePosition{{target}}).generate(prompt, {.max_new_tokens = 0});
    check_beams(none.beams, {Beam{}});
    CHECK(none.rounds == 0);
}

TEST_CASE("no model is shown more than the capacity", "[beam]") {
    std::size_t longest = 0;
    const RowAfter target = [&](const Text& text) {
        longest = std::max(longest, text.size());
        return tied(4)(text);
    };
    (void)BeamSearch(OnePosition{{target}}, ManyPositions{{target}}, {.lookahead = 4})
        .generate(prompt, {.max_length = 9});
    CHECK(longest == 8);  // the last token is never shown
}

TEST_CASE("one beam is greedy decoding", "[beam]") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const RowAfter target = seed % 2 == 0 ? tied(seed) : smooth(seed);
        const RowAfter draft = mostly(target, smooth(seed + 50));
        const auto one = [&](Prefix prefix) { return target(Text(prefix.begin(), prefix.end())); };
        const Limits limits{.max_new_tokens = 25, .stop_tokens = seed % 4 == 0 ? Text{3} : Text{}};
        const auto greedy = Sampler(one, one, {.lookahead = 2}, GreedyMatch{}).generate(prompt, limits);
        const auto found = BeamSearch(OnePosition{{draft}}, one, {.width = 1, .lookahead = 3}).generate(prompt, limits);
        REQUIRE(found.beams.size() == 1);
        CHECK(found.beams[0].tokens == greedy.tokens);
        CHECK(found.beams[0].finished == (greedy.finish == FinishReason::stop));
    }
}

TEST_CASE("a perfect draft makes lookahead + 1 steps a round, however wide it is", "[beam]") {
    for (const RowAfter& target : {tied(8), smooth(8), smooth(9, RowKind::peaked)})
        for (Index width = 1; width <= 4; ++width)
            for (Index draft_width = width; draft_width <= width + 2; ++draft_width)
                for (Index lookahead = 0; lookahead <= 4; ++lookahead) {
                    BeamSearch search(OnePosition{{target}}, OnTrees{{target}},
                                      {.width = width, .draft_width = draft_width, .lookahead = lookahead});
                    const auto found = search.generate(prompt, {.max_new_tokens = 60});
                    CHECK(found.steps == 60);
                    CHECK(found.rounds == 60 / (lookahead + 1));
                    const auto ended = search.generate(prompt, {.max_new_tokens = 60, .stop_tokens = {2}});
                    CHECK(ended.rounds == (ended.steps + lookahead) / (lookahead + 1));
                }
}

TEST_CASE("a useless draft costs passes of its own and no others", "[beam]") {
    for (Index width = 1; width <= 4; ++width) {
        OnTrees target{{never_three}};
        BeamSearch search(OnePosition{{useless}}, std::ref(target), {.width = width, .lookahead = 3});
        const auto found = search.generate(prompt, {.max_new_tokens = 20});
        check_beams(found.beams, plain(never_three, static_cast<std::size_t>(width), {.max_new_tokens = 20}));
        CHECK(found.steps == 20);
        CHECK(found.rounds == 20);
        CHECK(target.passes == 20);
    }
}

TEST_CASE("a beam that ends needs no draft", "[beam]") {
    // The target keeps token 0 and the stop token 3, of which the draft has the first alone.
    const RowAfter target = [](const Text&) { return std::vector<double>{.5, .125, .125, .25}; };
    const RowAfter draft = [](const Text&) { return std::vector<double>{.5, .3, .2, 0}; };
    BeamSearch search(OnePosition{{draft}}, OnTrees{{target}}, {.width = 2, .lookahead = 3});
    const auto found = search.generate(prompt, {.max_new_tokens = 8, .stop_tokens = {3}});
    REQUIRE(found.beams.size() == 2);
    CHECK(found.beams[0].tokens == Text{3});
    CHECK(found.beams[0].finished);
    CHECK(found.steps > 4);
    CHECK(found.rounds == (found.steps + 3) / 4);
}

TEST_CASE("a wider draft holds the target's beams more often", "[beam]") {
    const RowAfter target = smooth(21), draft = mostly(target, smooth(22));
    Index narrow = 0, wide = 0;
    for (Token first = 0; first < 4; ++first) {
        const auto rounds = [&](Index draft_width) {
            BeamSearch search(OnePosition{{draft}}, OnTrees{{target}},
                              {.width = 2, .draft_width = draft_width, .lookahead = 3});
            return search.generate({first}, {.max_new_tokens = 40}).rounds;
        };
        narrow += rounds(2);
        wide += rounds(8);
    }
    CHECK(wide < narrow);
}

TEST_CASE("as many beams as there are texts are all texts, the best first", "[beam]") {
    const RowAfter target = smooth(31);
    for (const Text& stops : {Text{}, Text{1}}) {
        std::map<double, Text> every;  // by probability
        std::function<void(Text, double)> enumerate = [&](const Text& tokens, double prob) {
            const bool stopped = !tokens.empty() && std::ranges::count(stops, tokens.back()) > 0;
            if (tokens.size() == 4 || stopped) {
                every[prob] = tokens;
                return;
            }
            Text text = prompt;
            text.insert(text.end(), tokens.begin(), tokens.end());
            const auto row = target(text);
            for (Token id = 0; id < vocab; ++id) {
                Text longer = tokens;
                longer.push_back(id);
                enumerate(longer, prob * row[static_cast<std::size_t>(id)]);
            }
        };
        enumerate({}, 1);
        BeamSearch search(OnePosition{{smooth(32)}}, OnTrees{{target}}, {.width = 256, .lookahead = 2});
        const auto found = search.generate(prompt, {.max_new_tokens = 4, .stop_tokens = stops});
        REQUIRE(found.beams.size() == every.size());
        auto next = every.rbegin();
        double sum = 0;
        for (const Beam& beam : found.beams) {
            CHECK(beam.tokens == next->second);
            CHECK(std::exp(beam.log_prob) == Approx(next->first).epsilon(1e-12));
            sum += std::exp(beam.log_prob);
            ++next;
        }
        CHECK(sum == Approx(1).epsilon(1e-12));
    }
}

TEST_CASE("the length penalty ranks the beams that were found", "[beam]") {
    const RowAfter target = smooth(41);
    const Limits limits{.max_new_tokens = 12, .stop_tokens = {0}};
    int moved = 0;
    for (const double penalty : {0., .6, 1., 2., -1.}) {
        auto expected = plain(target, 4, limits);
        const auto unranked = expected;
        const auto score = [&](const Beam& beam) {
            return beam.log_prob / std::pow(static_cast<double>(beam.tokens.size()), penalty);
        };
        std::ranges::stable_sort(expected, [&](const Beam& a, const Beam& b) { return score(a) > score(b); });
        moved += expected.front().tokens != unranked.front().tokens;
        BeamSearch search(OnePosition{{smooth(42)}}, OnTrees{{target}}, {.length_penalty = penalty});
        check_beams(search.generate(prompt, limits).beams, expected);
    }
    CHECK(moved > 0);
}

TEST_CASE("beams over rows of logits and over sparse rows", "[beam]") {
    constexpr float masked = -std::numeric_limits<float>::infinity();
    const auto logits = [](Prefix prefix) {
        Eigen::VectorXf row{{1.5f, .25f, masked, -.5f, 1.25f}};
        for (std::size_t i = 0; i < prefix.size(); ++i)
            row[prefix[i] % 2] += static_cast<float>(prefix[i]) * .07f / static_cast<float>(i + 1);
        return row;
    };
    const auto softmax = [&](const Text& text) {
        const Eigen::VectorXd weights = logits(text).cast<double>().array().exp();
        const Eigen::VectorXd probs = weights / weights.sum();
        return std::vector<double>(probs.begin(), probs.end());
    };
    const auto expected = plain(softmax, 3, {.max_new_tokens = 6});
    const auto close = [&](const std::vector<Beam>& found) {
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            CHECK(found[i].tokens == expected[i].tokens);
            CHECK(found[i].log_prob == Approx(expected[i].log_prob).epsilon(1e-6));
        }
    };
    const auto given = [&](Prefix prefix) { return Logits(logits(prefix), 1.); };
    const auto sparse = [&](Prefix prefix) {
        const auto row = softmax(Text(prefix.begin(), prefix.end()));
        return Sparse(std::vector<int>{0, 1, 3, 4}, std::vector<double>{row[0], row[1], row[3], row[4]}, 5);
    };
    const Limits limits{.max_new_tokens = 6};
    close(BeamSearch(given, given, {.width = 3}).generate(prompt, limits).beams);
    close(BeamSearch(given, sparse, {.width = 3}).generate(prompt, limits).beams);
    close(BeamSearch(sparse, given, {.width = 3, .lookahead = 2}).generate(prompt, limits).beams);

    const auto cold = [&](Prefix prefix) { return Logits(logits(prefix), 0.); };
    const auto only = BeamSearch(given, cold, {.width = 3}).generate(prompt, limits);
    REQUIRE(only.beams.size() == 1);  // at temperature 0 one text is possible
    CHECK(only.beams[0].log_prob == 0);
    CHECK(only.beams[0].tokens == Sampler(cold, cold, {}, GreedyMatch{}).generate(prompt, limits).tokens);
}

TEST_CASE("a row of the target that a search reads and that is bad is a fault", "[beam]") {
    const double not_a_number = std::numeric_limits<double>::quiet_NaN();
    struct Bad {
        std::vector<double> row;
        Cause cause;
        std::string sentence;
    };
    const std::vector<Bad> bads{
        {{.5, not_a_number, .25, .25}, Cause::not_finite, " is nan at id 1, but must be finite"},
        {{.5, .75, -.25, 0}, Cause::negative, " is -0.25 at id 2, but must be non-negative"},
        {{0, 0, 0, 0}, Cause::not_normalised, " sums to 0, but must sum to 1 within 0.001"},
        {{.5, .5}, Cause::wrong_size, " has 2 entries, but must have 4 like the first target row"},
        {{}, Cause::empty, " is empty, but must hold one probability"}};
    const RowAfter good = smooth(51);
    const auto path = plain(good, 2, {.max_new_tokens = 4}).front().tokens;
    for (const Bad& bad : bads) {
        // After the first 4 tokens of the best beam, which the rounds of 2 steps reach in the third, at its root.
        bool broken = true;
        const RowAfter spoilt = [&](const Text& text) {
            return broken && text.size() == prompt.size() + 4 ? bad.row : good(text);
        };
        BeamSearch search(OnePosition{{good}}, OnePosition{{spoilt}}, {.width = 2, .lookahead = 1});
        try {
            (void)search.generate(prompt, {.max_new_tokens = 10});
            FAIL("must throw");
        } catch (const Fault& fault) {
            CHECK(fault.fault.side == Side::target);
            CHECK(fault.fault.cause == bad.cause);
            CHECK(fault.emitted == path);
            CHECK(std::string_view(fault.what()).starts_with("specsample::BeamSearch: "));
            CHECK_THAT(fault.what(), ContainsSubstring("target row " + std::to_string(fault.fault.row) + bad.sentence));
        }
        broken = false;
        check_beams(search.generate(prompt, {.max_new_tokens = 10}).beams, plain(good, 2, {.max_new_tokens = 10}));
    }
}

TEST_CASE("a bad row of the draft, a missing row and an unknown id are faults of a search", "[beam]") {
    const RowAfter good = smooth(52);
    const auto cause = [&](const auto& draft, const auto& target, const Limits& limits = {.max_new_tokens = 8}) {
        try {
            (void)BeamSearch(draft, target, {.width = 2, .lookahead = 2}).generate(prompt, limits);
        } catch (const Fault& fault) {
            return std::tuple(fault.fault.side, fault.fault.cause, fault.fault.row);
        }
        return std::tuple(Side::limits, Cause::empty, Index{-1});
    };
    const RowAfter nan_after_one = [&](const Text& text) {
        auto row = good(text);
        if (text.size() == prompt.size() + 1) row[2] = std::numeric_limits<double>::quiet_NaN();
        return row;
    };
    CHECK(cause(OnePosition{{nan_after_one}}, OnTrees{{good}}) == std::tuple(Side::draft, Cause::not_finite, 1));
    CHECK(std::get<1>(cause(OnePosition{{good}}, OnTrees{{good}, 1})) == Cause::wrong_count);
    const Limits limits{.max_new_tokens = 8, .stop_tokens = {1, 4}};
    CHECK(cause(OnePosition{{good}}, OnePosition{{good}}, limits) ==
          std::tuple(Side::limits, Cause::outside_vocabulary, 1));
}

TEST_CASE("a model that throws leaves a search that goes on", "[beam]") {
    const RowAfter good = smooth(53);
    const Limits limits{.max_new_tokens = 5};
    int left = 0;  // calls until it throws
    const RowAfter throwing = [&](const Text& text) {
        if (left-- == 0) throw std::runtime_error("out of memory");
        return good(text);
    };
    BeamSearch search(OnePosition{{throwing}}, ManyPositions{{throwing}}, {.width = 2, .lookahead = 1});
    int thrown = 0;
    for (bool done = false; !done;) {
        left = thrown;
        try {
            (void)search.generate(prompt, limits);
            done = true;
        } catch (const std::runtime_error&) {
            ++thrown;
        }
        left = -1;
        check_beams(search.generate(prompt, limits).beams, plain(good, 2, limits));
    }
    CHECK(thrown > 10);
}

TEST_CASE("a search says what is wrong with its options and limits", "[beam]") {
    const OnePosition model{{tied(1)}};
    const auto with = [&](const BeamOptions& options) { return BeamSearch(model, model, options); };
    CHECK_THROWS_WITH(with({.width = 0}), "specsample::BeamSearch: options.width is 0, but must be at least 1");
    CHECK_THROWS_WITH(with({.width = 4, .draft_width = 3}),
                      "specsample::BeamSearch: options.draft_width is 3, but must be at least the width, 4");
    CHECK_THROWS_WITH(with({.lookahead = -1}),
                      "specsample::BeamSearch: options.lookahead is -1, but must be at least 0");
    CHECK_THROWS_WITH(with({.length_penalty = std::numeric_limits<double>::infinity()}),
                      "specsample::BeamSearch: options.length_penalty is inf, but must be finite");
    auto search = with({});
    CHECK_THROWS_WITH(search.generate(prompt, {.max_new_tokens = -1}),
                      "specsample::BeamSearch: limits.max_new_tokens is -1, but must be at least 0");
    CHECK_THROWS_WITH(search.generate(prompt, {.max_length = 1}),
                      "specsample::BeamSearch: limits.max_length is 1, but must be at least the 2 tokens there are");
    CHECK_THROWS_WITH(search.generate({-3}),
                      "specsample::BeamSearch: a token of the prompt is -3, but must be a token id of 31 bits");
    CHECK_THROWS_WITH(search.generate(std::span(static_cast<const Token*>(nullptr), 3)),
                      ContainsSubstring("specsample::BeamSearch: prompt is null"));
}

TEST_CASE("prompts of a search are ids of any integral type, or none", "[beam]") {
    const RowAfter target = tied(61);
    BeamSearch search(OnePosition{{target}}, OnTrees{{target}});
    const auto expected = plain(target, 4, {.max_new_tokens = 6});
    check_beams(search.generate(std::vector<std::int64_t>{1, 2}, {.max_new_tokens = 6}).beams, expected);
    check_beams(search.generate({1, 2}, {.max_new_tokens = 6}).beams, expected);
    CHECK(search.generate(Text{}, {.max_new_tokens = 6}).beams.front().tokens.size() == 6);
}
