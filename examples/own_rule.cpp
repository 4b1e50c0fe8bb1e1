// A rule of your own, and its proof.
//
// A rule says with which probability a drafted token is accepted, and from which weights the recovered token is drawn
// where none is. `top_down` does the rest: the walk, stop tokens, budgets, bad rows. specsample/testing.hpp then
// enumerates every outcome on small models, so that the claim `lossless` is checked exactly and not by sampling.
#include <cstdio>
#include <vector>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::walks;

/// Accepts a fixed share of what token verification accepts, and makes up for it in the residual: p - share min(p, q).
/// For chains: in a tree, the siblings of a rejected child must be judged by its residual, as ResidualTarget does.
/// @tparam careful   false draws from max(0, p - q) instead, as if share were 1
template <class Context, bool careful>
struct ShareNode : NodeRow<Context> {
    ShareNode(const Context& context, Index node, double part) : NodeRow<Context>(context, node), share(part) {}

    Ratio ratio(Index child) {
        const double p = this->entry(this->context().token(child)),
                     q = this->distribution(child).weight(this->context().token(child));
        return {share * std::min(p, q), q};
    }

    void reject(Index child) { rejected = child; }
    bool is_residual() const { return rejected != no_node; }

    Drawn draw(const auto& rng) {
        if (!is_residual()) return this->draw_from_row(rng);
        const auto p = this->view();
        const auto q = this->distribution(rejected).row();
        if constexpr (careful) return specsample::draw(rng, RowWeights(p - share * p.min(q)));
        return specsample::draw(rng, ResidualWeights(p, q));
    }

    double share;
    Index rejected = no_node;
};

template <bool careful>
struct Share {
    static constexpr bool lossless = careful;
    double share = 0.5;

    Outcome operator()(const auto& context) const {
        using Node = ShareNode<std::remove_cvref_t<decltype(context)>, careful>;
        return top_down(context, [&](Index node) { return Node(context, node, share); });
    }
};

int main() {
    const testing::ContextModel draft(3, 1), target(3, 2);  // three tokens, another row after every prefix
    std::puts("lookahead   share 0.5   max(0, p - q) instead      (distance from the target's distribution)");
    bool holds = true;
    for (Index lookahead = 0; lookahead <= 3; ++lookahead) {
        const double right = testing::distance_from_target(Share<true>{}, draft, target, lookahead);
        const double wrong = testing::distance_from_target(Share<false>{}, draft, target, lookahead);
        std::printf("%9td   %9.1e   %9.1e\n", lookahead, right, wrong);
        holds = holds && right < 1e-12 && (lookahead == 0 || wrong > 1e-3);
    }
    std::printf("tokens per round at lookahead 3: %.3f, token verification %.3f\n",
                testing::exact_tokens(Share<true>{}, draft, target, 3),
                testing::exact_tokens(TokenVerification{}, draft, target, 3));

    // It can now be used like any other rule.
    Sampler sampler(draft, target, {.lookahead = 3, .seed = 1}, Share<true>{.share = 0.9});
    for (const Token token : sampler.generate({0}, {.max_new_tokens = 20}).tokens) std::printf("%d ", token);
    std::puts("");
    return holds ? 0 : 1;
}
