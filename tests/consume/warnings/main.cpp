// What consumers write first, to be compiled with every warning that they may have switched on: a chain, a token tree,
// shaped logits, and the verification alone.
#include <cstdio>
#include <span>
#include <vector>

#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

namespace {

using specsample::Token;

constexpr auto draft = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::Vector3f(0.5f, 0.3f, 0.2f); };
constexpr auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::Vector3f(0.2f, 0.3f, 0.5f); };
constexpr auto logits = [](std::span<const Token>) { return std::vector<float>{0.f, 1.f, 2.f}; };

std::size_t chain() {
    specsample::Sampler sampler(draft, target, {.lookahead = 4, .seed = 42});
    const auto until = [](std::span<const Token> tokens) { return tokens.back() == 9; };
    const auto text = sampler.generate({0}, {.max_new_tokens = 16, .until = until});
    return text.size();
}

std::size_t tree() {
    specsample::Sampler sampler(specsample::TreeDrafter(draft, {2, 2, 1}), target, {.lookahead = 3, .seed = 42},
                                specsample::TraversalVerification{});
    const std::vector<Token> text = sampler.generate({0}, {.max_new_tokens = 16});
    return text.size();
}

std::size_t shaped_logits() {
    const specsample::SamplingParams shaping{.temperature = 0.8, .top_k = 2, .top_p = 0.95, .min_p = 0.05};
    const auto shaped = [&] { return specsample::shaped(specsample::from_logits(logits), shaping); };
    specsample::Sampler sampler(shaped(), shaped(), {.lookahead = 4, .seed = 42}, specsample::BlockVerification{});
    const std::vector<Token> text = sampler.generate({0}, {.max_new_tokens = 16});
    return text.size();
}

std::size_t verification_alone() {
    const Eigen::VectorXf q = draft({}), p = target({});
    const std::vector<Token> tokens{0, 1};
    const std::vector<int> parents{-1, -1};
    const std::vector distributions{specsample::Sampled{q}, specsample::Sampled{q}};
    const std::vector rows{p, p, p};
    const specsample::RoundRng rng(42, 0, 0);
    const auto go_on = [](std::span<const Token>) { return specsample::StopDecision::go_on; };
    specsample::Workspace workspace;
    const specsample::TokenVerification rule;
    std::size_t count =
        specsample::verify(tokens, distributions, rows, rule, rng, {.until = go_on}, workspace).tokens.size();
    count += specsample::verify(specsample::Tree{tokens, parents}, distributions, rows, rule, rng, {}, workspace)
                 .tokens.size();
    const auto logits_rows = specsample::logits_of(rows, 0.8);
    for (specsample::Index i = 0; i < 3; ++i) count += static_cast<std::size_t>(logits_rows[i].size());
    return count;
}

}  // namespace

int main() {
    const std::size_t alone = verification_alone();
    std::printf("%zu %zu %zu %zu\n", chain(), tree(), shaped_logits(), alone);
    return alone > 0 ? 0 : 1;
}
