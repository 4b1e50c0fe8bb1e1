// The data of the adapter tests: logits as an engine's two models leave them, and the text of their probabilities.
#pragma once

#include <vector>

#include <specsample/specsample.hpp>

namespace adapters {

using namespace specsample;
using namespace specsample::kernels;

inline constexpr Index vocab = 300;
inline constexpr double temperature = .8;

/// Logits of one position, a function of the whole prefix, with some ids far likelier than others.
inline std::vector<float> logits_after(std::uint64_t model, std::span<const Token> prefix) {
    std::uint64_t context = 99;
    for (const Token token : prefix.last(std::min<std::size_t>(prefix.size(), 2)))
        context = Rng({.seed = context, .position = token + 1}).bits();
    std::vector<float> row;
    for (std::uint32_t id = 0; id < vocab; ++id) {
        // Two models of one text: half of a logit is the same in both.
        const double shared = Rng({.seed = context}).uniform(id), own = Rng({.seed = context + model}).uniform(id);
        row.push_back(static_cast<float>(12 * shared * shared + 2 * own));
    }
    return row;
}

/// The k likeliest ids of logits, in the order of the ids.
inline std::vector<Index> top_of(const std::vector<float>& logits, std::size_t k) {
    std::vector<Index> ids(logits.size());
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<Index>(i);
    std::ranges::stable_sort(ids, std::greater(), [&](Index id) { return logits[static_cast<std::size_t>(id)]; });
    ids.resize(k);
    std::ranges::sort(ids);
    return ids;
}

/// The reference: probabilities as full dense rows. Cut to the k likeliest
/// ids, if k is given.
inline std::vector<double> dense(const std::vector<float>& logits, std::size_t k = vocab) {
    std::vector<double> probs(logits.size());
    double sum = 0;
    for (const Index id : top_of(logits, k)) {
        const auto at = static_cast<std::size_t>(id);
        sum += probs[at] = std::exp(static_cast<double>(logits[at]) / temperature);
    }
    for (double& p : probs) p /= sum;
    return probs;
}

inline constexpr Index lookahead = 3;

/// The text of dense rows: rounds of drafted tokens, drawn from q and judged by verify.
inline std::vector<Token> dense_text(std::size_t k = vocab, std::size_t length = 120) {
    std::vector<Token> text{1};
    Workspace workspace;
    while (text.size() < length) {
        const RoundRng rng(7, 0, static_cast<Index>(text.size()));
        std::vector<Token> path = text, tokens;
        std::vector<std::vector<double>> q, p{dense(logits_after(2, text), k)};
        for (Index node = 0; node < lookahead; ++node) {
            q.push_back(dense(logits_after(1, path), k));
            tokens.push_back(
                static_cast<Token>(draw(rng.at(Purpose::draft, node), RowWeights(detail::as_row(q.back()))).index));
            path.push_back(tokens.back());
            p.push_back(dense(logits_after(2, path), k));
        }
        const auto distributions = [&](Index node) { return Sampled(q[static_cast<std::size_t>(node)]); };
        const Round round = verify(tokens, distributions, p, TokenVerification{}, rng, {}, workspace);
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    return text;
}

}  // namespace adapters
