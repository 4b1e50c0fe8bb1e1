// The exact output distribution of a rule on small models, and its distance from the target's.
//
// A rule is lossless if and only if the tokens of a round, followed by plain target sampling up to lookahead + 1
// tokens, have exactly the target's joint distribution. Neither marginals nor one toy example prove that: use models
// that depend on the context and have three tokens or more.
//
//   exact_distribution(rule, draft, target, lookahead)   by enumeration, through Sampler and verify as users call them
//   joint_distribution(target, length)                   the distribution that it must equal
//   total_variation(a, b)                                their distance: below 1e-12 for a lossless rule
//   distance_from_target(rule, draft, target, lookahead, prompts)   all of it: the largest distance after any prompt
//
// A drafter may be right after some prompts only, for example if it looks at the last token: give prompts that show it
// every case. Without prompts, only the round after the empty text is tested.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include <specsample/core/eigen.hpp>
#include <specsample/sampler.hpp>
#include <specsample/testing/enumerate.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace testing {

/// Probabilities of token strings.
using TextDistribution = std::map<std::vector<Token>, double>;

/// Continue `text` to `length` tokens drawn from the target: one continuation per path of the enumeration.
template <class Target>
void complete(Enumerator& paths, Target& target, std::size_t length, std::vector<Token>& text) {
    while (text.size() < length) {
        Eigen::VectorXd row = detail::as_row(target(std::span<const Token>(text))).template cast<double>().matrix();
        row /= row.sum();  // rows of few bits do not sum to 1
        text.push_back(static_cast<Token>(paths.choose({row.begin(), row.end()})));
    }
}

/// Compute the distribution of `length` tokens after `prompt` under a model.
template <class Target>
TextDistribution joint_distribution(Target target, Index length, const std::vector<Token>& prompt = {}) {
    TextDistribution distribution;
    Enumerator().run([&](Enumerator& paths) {
        std::vector<Token> text = prompt;
        complete(paths, target, prompt.size() + static_cast<std::size_t>(length), text);
        distribution[{text.begin() + static_cast<Index>(prompt.size()), text.end()}] += paths.probability();
    });
    return distribution;
}

/// Call f(round, paths) for every outcome of one round; paths.probability() is its exact probability.
template <class Rule, class Draft, class Target, class F>
void for_rounds(const Rule& rule, Draft draft, Target target, Index lookahead, F&& f,
                const std::vector<Token>& prompt = {}, const Limits& limits = {}) {
    Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = lookahead}, rule);
    Enumerator().run([&](Enumerator& paths) {
        const Round round = sampler.step(prompt, limits, EnumeratedRng(paths));
        f(round, paths);
    });
}

/// Compute the distribution of a round's tokens, over the random draws of drafting and of verification, without
/// completing the text.
template <class Rule, class Draft, class Target>
TextDistribution round_distribution(const Rule& rule, Draft draft, Target target, Index lookahead,
                                    const std::vector<Token>& prompt = {}, const Limits& limits = {}) {
    TextDistribution distribution;
    for_rounds(
        rule, std::move(draft), std::move(target), lookahead,
        [&](const Round& round, Enumerator& paths) {
            distribution[{round.tokens.begin(), round.tokens.end()}] += paths.probability();
        },
        prompt, limits);
    return distribution;
}

/// Compute the distribution of a round's tokens, completed by the target to lookahead + 1 tokens.
///
/// For a lossless rule and any draft the result equals joint_distribution(target, lookahead + 1, prompt).
template <class Rule, class Draft, class Target>
TextDistribution exact_distribution(const Rule& rule, Draft draft, Target target, Index lookahead,
                                    const std::vector<Token>& prompt = {}, const Limits& limits = {}) {
    TextDistribution distribution;
    for_rounds(
        rule, std::move(draft), target, lookahead,
        [&](const Round& round, Enumerator& paths) {
            std::vector<Token> text = prompt;
            text.insert(text.end(), round.tokens.begin(), round.tokens.end());
            complete(paths, target, prompt.size() + static_cast<std::size_t>(lookahead) + 1, text);
            distribution[{text.begin() + static_cast<Index>(prompt.size()), text.end()}] += paths.probability();
        },
        prompt, limits);
    return distribution;
}

/// Compute the expected number of tokens of a round, by enumeration.
template <class Rule, class Draft, class Target>
double exact_tokens(const Rule& rule, Draft draft, Target target, Index lookahead,
                    const std::vector<Token>& prompt = {}, const Limits& limits = {}) {
    double tokens = 0;
    for_rounds(
        rule, std::move(draft), std::move(target), lookahead,
        [&](const Round& round, Enumerator& paths) {
            tokens += paths.probability() * static_cast<double>(round.tokens.size());
        },
        prompt, limits);
    return tokens;
}

/// Compute the total variation of two distributions: half the sum of absolute differences, which is the largest
/// difference between their probabilities of any event.
inline double total_variation(const TextDistribution& a, const TextDistribution& b) {
    double sum = 0;
    for (const auto& [text, probability] : a) {
        const auto other = b.find(text);
        sum += std::abs(probability - (other == b.end() ? 0 : other->second));
    }
    for (const auto& [text, probability] : b)
        if (!a.contains(text)) sum += probability;
    return sum / 2;
}

/// Compute the total variation between a rule's output distribution and the target's on these models: 0 up to rounding
/// if the rule is lossless.
/// @param prompts   texts after which a round is made; give several to catch a drafter that is wrong after some texts
///                  only
/// @returns         the largest distance after any prompt
/// @edge            no prompts: 0
template <class Rule, class Draft, class Target>
double distance_from_target(const Rule& rule, Draft draft, Target target, Index lookahead,
                            const std::vector<std::vector<Token>>& prompts = {std::vector<Token>{}}) {
    double largest = 0;
    for (const std::vector<Token>& prompt : prompts)
        largest =
            std::max(largest, total_variation(exact_distribution(rule, std::ref(draft), target, lookahead, prompt),
                                              joint_distribution(target, lookahead + 1, prompt)));
    return largest;
}

/// List every text of at most `length` tokens of a vocabulary, the empty text first: prompts for distance_from_target.
inline std::vector<std::vector<Token>> all_texts(Index vocab, Index length) {
    std::vector<std::vector<Token>> texts{{}};
    for (std::size_t first = 0; length > 0; --length) {
        const std::size_t end = texts.size();
        for (; first < end; ++first)
            for (Token token = 0; token < vocab; ++token) {
                texts.push_back(texts[first]);
                texts.back().push_back(token);
            }
    }
    return texts;
}

}}}  // namespace specsample::testing
