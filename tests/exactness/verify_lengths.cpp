// Lengths that are chosen after drafting: those of verify_lengths keep the distribution, their wrong twins do not.
#include <array>

#include <specsample/length/verify_lengths.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"

using namespace cases;

namespace {

using Lengths = std::function<void(std::span<const double> confidence, Index most, std::span<Index> lengths)>;

double line(Index n) { return 1 + .3 * static_cast<double>(n - 1); }

/// The length with the most expected tokens per cost, all confidences considered: what is biased.
template <class Cost>
Index best_of_all(std::span<const double> confidence, const Cost& cost) {
    Index best = 0;
    double tokens = 1, survival = 1, speed = 1;
    for (Index k = 0; k < std::ssize(confidence); ++k) {
        tokens += survival *= confidence[static_cast<std::size_t>(k)];
        if (tokens / cost(k + 2) <= speed) continue;
        speed = tokens / cost(k + 2);
        best = k + 1;
    }
    return best;
}

/// A whole chain is drafted, and a part of it is shown to the target. Confidences are the largest probability of each
/// row, or the probability of the token that was drawn from it.
struct Shortened {
    using Distribution = Sampled<RememberedView>;

    Remembered model;
    Lengths choose;
    bool by_own_probability = false;

    template <class Source>
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<Distribution>& draft_tree) {
        std::vector<Token> text(prefix.begin(), prefix.end());
        const Index most = draft_tree.depth_limit();
        std::vector<double> confidence;
        for (Index k = 0; k < most; ++k) {
            const Eigen::VectorXd& row = model(text);
            text.push_back(
                static_cast<Token>(draw(rng.at(Purpose::draft, k), kernels::RowWeights(detail::as_row(row))).index));
            confidence.push_back(by_own_probability ? row[text.back()] : row.maxCoeff());
        }
        Index length = 0;
        choose(confidence, most, {&length, 1});
        const std::size_t start = prefix.size();
        for (Index node = root_node, k = 0; k < length; ++k)
            node = draft_tree.add(node, text[start + static_cast<std::size_t>(k)],
                                  Sampled(model(std::span(text).first(start + static_cast<std::size_t>(k)))));
    }
};

/// Return the distance of two requests' joint distribution, after one round that they share, from the product of
/// theirs.
/// @param depends   set if the length of the first request is not a function of its own draft
double distance_of_two(const std::array<Pair, 2>& both, const Lengths& choose, bool& depends) {
    constexpr Index most = 2;
    using Texts = std::array<std::vector<Token>, 2>;
    std::map<Texts, double> rounds;
    std::map<std::vector<Token>, Index> length_of_first;
    Enumerator enumerator;
    enumerator.run([&](Enumerator& paths) {
        std::array<EnumeratedRng, 2> rng{EnumeratedRng(paths), EnumeratedRng(paths)};
        Texts drafts;
        std::vector<double> confidence;
        for (std::size_t r = 0; r < 2; ++r)
            for (Index k = 0; k < most; ++k) {
                const Eigen::VectorXd& row = both[r].draft(drafts[r]);
                confidence.push_back(row.maxCoeff());
                drafts[r].push_back(static_cast<Token>(
                    draw(rng[r].at(Purpose::draft, k), kernels::RowWeights(detail::as_row(row))).index));
            }
        std::array<Index, 2> lengths{};
        choose(confidence, most, lengths);
        const auto [seen, is_new] = length_of_first.try_emplace(drafts[0], lengths[0]);
        depends |= !is_new && seen->second != lengths[0];
        Texts texts;
        for (std::size_t r = 0; r < 2; ++r) {
            const auto tokens = std::span(drafts[r]).first(static_cast<std::size_t>(lengths[r]));
            std::vector<Sampled<RememberedView>> distributions;
            std::vector<Eigen::VectorXd> rows{both[r].target(std::span<const Token>())};
            for (std::size_t k = 0; k < tokens.size(); ++k) {
                distributions.emplace_back(both[r].draft(tokens.first(k)));
                rows.push_back(both[r].target(tokens.first(k + 1)));
            }
            Workspace workspace;
            const Round round = verify(tokens, distributions, rows, TokenVerification{}, rng[r], {}, workspace);
            REQUIRE(round);
            texts[r].assign(round.tokens.begin(), round.tokens.end());
        }
        rounds[texts] += paths.probability();
    });
    double distance = 0;
    for (const auto& [first, p_first] : joint_distribution(both[0].target, most + 1))
        for (const auto& [second, p_second] : joint_distribution(both[1].target, most + 1)) {
            double probability = 0;  // of these texts, the rounds completed by the target
            for (const auto& [texts, of_round] : rounds) {
                double rest = of_round;
                for (const auto& [r, text] : {std::pair(0u, &first), std::pair(1u, &second)}) {
                    const std::vector<Token>& begun = texts[r];
                    if (!std::equal(begun.begin(), begun.end(), text->begin())) rest = 0;
                    for (std::size_t i = begun.size(); i < text->size(); ++i)
                        rest *= both[r].target(std::span(*text).first(i))[(*text)[i]];
                }
                probability += rest;
            }
            distance += std::abs(probability - p_first * p_second) / 2;
        }
    return distance;
}

}  // namespace

TEST_CASE("drafts of verified lengths have the target's joint distribution", "[distribution]") {
    const std::pair<const char*, Lengths> policies[] = {
        {"by cost",
         [](auto confidence, Index most, auto lengths) { theory::verify_lengths(confidence, most, line, lengths); }},
        {"budget 2", [](auto confidence, Index most, auto lengths) {
             theory::verify_lengths(confidence, most, Index{2}, lengths);
         }}};
    long shortened = 0, whole = 0;
    for (const auto& [name, choose] : policies)
        for (Index vocab = 2; vocab <= 3; ++vocab)
            for (const Pair& pair : pairs(vocab))
                for (Index lookahead = 1; lookahead <= 3; ++lookahead) {
                    INFO(name << ": " << pair.name << ", K = " << lookahead);
                    const Shortened draft{pair.draft, choose};
                    CHECK(distance_from_target(TokenVerification{}, draft, pair.target, lookahead) < 1e-12);
                    CHECK(distance_from_target(BlockVerification{}, draft, pair.target, lookahead) < 1e-12);
                    for_rounds(TokenVerification{}, draft, pair.target, lookahead,
                               [&](const Round& round, const Enumerator&) {
                                   ++(round.proposed < lookahead ? shortened : whole);
                               });
                }
    CHECK(shortened > 300);
    CHECK(whole > 300);
}

TEST_CASE("lengths that look past what they admit, or at the token itself, are biased") {
    // The second token is free once the first is paid for, so its confidence decides about both. After token 0 the
    // draft is sure of the second token, after token 1 it is not.
    const auto jump = [](Index n) { return n == 1 ? 1. : 1.75; };
    const auto model = [](std::span<const Token> text) -> Eigen::VectorXd {
        return text.empty() || text[0] == 0 ? row({text.empty() ? .5 : 1., text.empty() ? .5 : 0.}) : row({.5, .5});
    };
    const auto target = [](std::span<const Token>) -> Eigen::VectorXd { return row({.75, .25}); };
    const auto distance = [&](const Lengths& choose) {
        return distance_from_target(TokenVerification{}, Shortened{Remembered(model), choose}, Remembered(target), 2);
    };
    const Lengths stops = [&](auto confidence, Index most, auto lengths) {
        theory::verify_lengths(confidence, most, jump, lengths);
    };
    const Lengths searches = [&](auto confidence, Index, auto lengths) { lengths[0] = best_of_all(confidence, jump); };
    CHECK(distance(stops) < 1e-15);
    CHECK(distance(searches) == Approx(1. / 8).epsilon(1e-13));

    // The same policy, given the probability of each token itself, drops improbable tokens.
    const Lengths sure = [](auto confidence, Index, auto lengths) { lengths[0] = confidence[0] >= .4 ? 1 : 0; };
    const auto distance_of_running_example = [&](bool by_own_probability) {
        return distance_from_target(TokenVerification{}, Shortened{Remembered(ex3_draft), sure, by_own_probability},
                                    ex3_target, 1);
    };
    CHECK(distance_of_running_example(false) < 1e-15);
    CHECK(distance_of_running_example(true) == Approx(3. / 20).epsilon(1e-13));
}

TEST_CASE("requests that share a pass have the product of their distributions, though each length depends on all") {
    bool depends = false;
    for (std::uint64_t seed = 50; seed < 120; seed += 10)
        for (Index budget = 0; budget <= 3; ++budget) {
            const std::array<Pair, 2> both{pairs(2, seed)[0], pairs(2, seed + 5)[3]};
            INFO("seed " << seed << ", budget " << budget);
            const Lengths choose = [budget](auto confidence, Index most, auto lengths) {
                if (budget == 0)
                    theory::verify_lengths(confidence, most, line, lengths);
                else
                    theory::verify_lengths(confidence, most, budget, lengths);
            };
            CHECK(distance_of_two(both, choose, depends) < 1e-12);
        }
    CHECK(depends);
}
