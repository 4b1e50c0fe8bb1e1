// verify_lengths against its definition.
#include <specsample/length/verify_lengths.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "support/catch.hpp"
#include "support/uniforms.hpp"

using namespace specsample;
using namespace specsample::theory;

namespace {

double line(Index n) { return 1 + .15 * static_cast<double>(n - 1); }
double flat(Index) { return 1; }

/// The same lengths by a sort of all tokens.
/// @param stops   stops(tokens, admitted) after which nothing more is admitted
template <class Stops>
std::vector<Index> by_sorting(const std::vector<double>& confidence, std::size_t most, const Stops& stops) {
    struct Token {
        double survival;
        std::size_t request;
    };
    std::vector<Token> tokens;
    const std::size_t requests = confidence.size() / most;
    for (std::size_t r = 0; r < requests; ++r) {
        double survival = 1;
        for (std::size_t k = 0; k < most; ++k) tokens.push_back({survival *= confidence[r * most + k], r});
    }
    std::ranges::stable_sort(tokens, std::greater{}, &Token::survival);
    std::vector<Index> lengths(requests);
    double sum = static_cast<double>(requests);
    Index admitted = 0;
    for (const Token& token : tokens) {
        if (token.survival == 0 || stops(sum, sum + token.survival, admitted)) break;
        sum += token.survival;
        ++admitted;
        ++lengths[token.request];
    }
    return lengths;
}

}  // namespace

TEST_CASE("drafted tokens are verified for as long as the likeliest raises the tokens per cost", "[length]") {
    Uniforms uniform{5};
    bool none = false, all = false, unequal = false;
    for (int i = 0; i < 500; ++i) {
        const std::size_t requests = 1 + static_cast<std::size_t>(uniform() * 5), most = 4;
        std::vector<double> confidence(requests * most);
        for (double& c : confidence) c = i % 7 == 0 ? 1 : uniform();
        const double slope = .6 * uniform();
        const auto cost = [slope](Index n) { return 1 + slope * static_cast<double>(n - 1); };
        std::vector<Index> lengths(requests, -7);
        verify_lengths(confidence, 4, cost, lengths);
        const auto start = static_cast<Index>(requests);
        CHECK(lengths == by_sorting(confidence, most, [&](double before, double after, Index admitted) {
                  return !(after / cost(start + admitted + 1) > before / cost(start + admitted));
              }));
        none |= std::ranges::count(lengths, 0) == start;
        all |= std::ranges::count(lengths, 4) == start;
        unequal |= std::ranges::max(lengths) != std::ranges::min(lengths);

        const auto budget = static_cast<Index>(uniform() * 4 * static_cast<double>(requests + 1));
        verify_lengths(confidence, 4, budget, lengths);
        CHECK(lengths ==
              by_sorting(confidence, most, [&](double, double, Index admitted) { return admitted == budget; }));
    }
    CHECK((none && all && unequal));
}

TEST_CASE("the likeliest tokens of many requests are admitted, also where many are about as likely", "[length]") {
    Uniforms uniform{6};
    constexpr std::size_t requests = 300, most = 6;
    std::vector<double> confidence(requests * most);
    std::vector<Index> lengths(requests);
    for (int i = 0; i < 40; ++i) {
        for (double& c : confidence) {
            const double u = uniform();
            c = i % 4 == 0   ? u
                : i % 4 == 1 ? 1 - 1e-4 * u
                : i % 4 == 2 ? std::ceil(4 * u) / 4
                : u < .1     ? 1e-150 * u
                             : 1;
        }
        for (const Index budget : {Index{1}, Index{100}, Index{700}, Index{2000}}) {
            verify_lengths(confidence, most, budget, lengths);
            CHECK(lengths ==
                  by_sorting(confidence, most, [&](double, double, Index admitted) { return admitted == budget; }));
        }
    }
}

TEST_CASE("a rejection that is paid for ends the verified drafts earlier", "[length]") {
    const Replay replay{.restore = .2, .per_token = .1};
    Uniforms uniform{8};
    bool shorter = false;
    for (int i = 0; i < 300; ++i) {
        std::vector<double> confidence(3 * 4);
        for (double& c : confidence) c = uniform();
        std::vector<Index> lengths(3), free(3);
        verify_lengths(confidence, 4, line, lengths, replay);
        verify_lengths(confidence, 4, line, free);
        // By the definition: tokens and cost of the lengths so far, over all requests.
        const auto speed = [&](const std::vector<Index>& of) {
            double tokens = 3, cost = line(3 + of[0] + of[1] + of[2]);
            for (std::size_t r = 0; r < 3; ++r) {
                double survival = 1;
                for (Index k = 0; k < of[r]; ++k) {
                    const double next = survival * confidence[4 * r + static_cast<std::size_t>(k)];
                    cost += (survival - next) * (.2 + .1 * static_cast<double>(k));
                    tokens += survival = next;
                }
            }
            return tokens / cost;
        };
        std::vector<Index> best(3);
        for (;;) {
            std::vector<Index> longer = best;
            double likeliest = 0;
            for (std::size_t r = 0; r < 3; ++r) {
                double survival = 1;
                for (Index k = 0; k <= best[r] && best[r] < 4; ++k)
                    survival *= confidence[4 * r + static_cast<std::size_t>(k)];
                if (best[r] == 4 || survival <= likeliest) continue;
                likeliest = survival;
                longer = best;
                ++longer[r];
            }
            if (longer == best || !(speed(longer) > speed(best))) break;
            best = longer;
        }
        CHECK(lengths == best);
        shorter |= lengths != free;
    }
    CHECK(shorter);
}

TEST_CASE("no confidence is read before all tokens before it are admitted", "[length]") {
    // What is not read is NaN, which would be refused.
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    Uniforms uniform{6};
    for (int i = 0; i < 200; ++i) {
        std::vector<double> confidence(3 * 4);
        for (double& c : confidence) c = uniform();
        const Index budget = i % 13;
        std::vector<Index> lengths(3), ranked(3), again(3);
        const Replay replay{.restore = i % 2 == 0 ? 0 : .1, .per_token = i % 3 == 0 ? 0 : .1};
        verify_lengths(confidence, 4, line, lengths, replay);
        verify_lengths(confidence, 4, budget, ranked);
        for (const std::vector<Index>* chosen : {&lengths, &ranked}) {
            std::vector<double> read = confidence;
            for (std::size_t r = 0; r < 3; ++r)
                for (Index k = (*chosen)[r] + 1; k < 4; ++k) read[4 * r + static_cast<std::size_t>(k)] = nan;
            if (chosen == &lengths)
                verify_lengths(read, 4, line, again, replay);
            else
                verify_lengths(read, 4, budget, again);
            CHECK(again == *chosen);
        }
    }
}

TEST_CASE("the edges of verified lengths", "[length]") {
    std::vector<Index> lengths(2);
    verify_lengths(std::vector<double>{.9, .9, 0, .9, .9, .9}, 3, flat, lengths);  // a draft of two tokens
    CHECK(lengths == std::vector<Index>{2, 3});
    verify_lengths(std::vector<double>{.9, .9, 0, 0, .9, .9}, 3, 6, lengths);
    CHECK(lengths == std::vector<Index>{2, 0});
    verify_lengths(std::vector<double>{.5, .5, .5, .5}, 2, 1, lengths);  // a tie
    CHECK(lengths == std::vector<Index>{1, 0});
    verify_lengths(std::vector<double>{}, 0, flat, lengths);
    CHECK(lengths == std::vector<Index>{0, 0});
    CHECK_NOTHROW(verify_lengths(std::vector<double>{}, 5, flat, std::span<Index>{}));
    // A jump of the cost ends the search, although what follows it is free.
    const auto jump = [](Index n) { return n <= 2 ? 1. : 1.8; };
    verify_lengths(std::vector<double>{.9, .9, .9, .9}, 2, jump, lengths);
    CHECK(lengths == std::vector<Index>{0, 0});

    const std::vector<double> confidence(6, .5);
    CHECK_THROWS_WITH(verify_lengths(confidence, -1, flat, lengths),
                      "specsample::verify_lengths: most is -1, but must be 0 or more");
    CHECK_THROWS_WITH(verify_lengths(confidence, 2, flat, lengths),
                      "specsample::verify_lengths: size of confidence is 6, but must be most for each request");
    CHECK_THROWS_WITH(verify_lengths(confidence, 3, -1, lengths),
                      "specsample::verify_lengths: budget is -1, but must be 0 or more");
    CHECK_THROWS_WITH(verify_lengths(std::vector<double>{.5, 1.5}, 1, flat, lengths),
                      "specsample::verify_lengths: confidence is 1.5, but must be in [0, 1]");
    CHECK_THROWS_WITH(verify_lengths(
                          confidence, 3, [](Index) { return 0.; }, lengths),
                      "specsample::verify_lengths: verify_cost is 0, but must be finite and above 0");
    CHECK_THROWS_AS(verify_lengths(confidence, 3, std::vector<double>{1, 1}, lengths), std::invalid_argument);
}
