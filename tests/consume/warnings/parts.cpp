// Parts that some consumers add, to be compiled as main.cpp is: drafters without a model and of several stages,
// lengths, batches, another vocabulary, beams, rows that are values, a lossy rule, reports and theory.
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <specsample/beam.hpp>
#include <specsample/drafters/beam.hpp>
#include <specsample/drafters/heads.hpp>
#include <specsample/drafters/suffix_lookup.hpp>
#include <specsample/drafters/united.hpp>
#include <specsample/length.hpp>
#include <specsample/lossy.hpp>
#include <specsample/metrics.hpp>
#include <specsample/sampler/staged.hpp>
#include <specsample/sampler_values.hpp>
#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>
#include <specsample/theory.hpp>
#include <specsample/tree/attention.hpp>
#include <specsample/verify.hpp>
#include <specsample/verify/batch.hpp>
#include <specsample/vocabularies.hpp>

namespace {

using namespace specsample;

constexpr auto draft = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::Vector3f(0.5f, 0.3f, 0.2f); };
constexpr auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::Vector3f(0.2f, 0.3f, 0.5f); };
constexpr auto heads_model = [](std::span<const Token>) {
    return RowMajorMatrix<float>::Constant(2, 3, 1.f / 3).eval();
};

/// A model whose rows stay where they are.
struct StableLogits {
    static constexpr bool stable_rows = true;
    Eigen::VectorXd row = Eigen::Vector3d(0., 1., 2.);
    auto operator()(std::span<const Token>) { return Logits(Eigen::Map<const Eigen::VectorXd>(row.data(), 3), 0.8); }
};

template <class Draft, class Rule = TokenVerification, class Lengths = FixedLength>
Tally tally_of(Draft drafter, Rule rule = {}, Lengths length = {}) {
    Sampler sampler(std::move(drafter), target, {.lookahead = 4, .seed = 42}, rule, length);
    return sampler.generate({0}, {.max_new_tokens = 16}).tally;
}

Tally drafters() {
    Tally all = tally_of(United(SuffixLookupDrafter(), ChainDrafter(draft, ConfidenceStop())), BlockVerification{});
    all += tally_of(StagedDrafter(SuffixLookupDrafter(), draft, 2), GumbelMatch{});
    all += tally_of(heads::HeadsDrafter(heads_model, 2), KSeq{}, GoodputLength(0.1));
    all += tally_of(DynamicTreeDrafter(draft), TraversalVerification{});
    all += tally_of(vocabularies::mapped(draft, vocabularies::IdMap::same_ids(3, 3)), lossy::Lenience{.l = 0.5});
    return all;
}

/// Rows of slices, of which one rank has all.
Tally slices() {
    shard::OneRank communicator;
    shard::Ranks ranks(communicator);
    const auto sliced = [&](std::span<const Token>) {
        return shard::Sharded(Logits(std::vector<float>{0, 1, 2}, 0.8), 0, 3, ranks);
    };
    Sampler sampler(draft, sliced, {.lookahead = 2, .seed = 1}, BlockVerification{});
    return sampler.generate({0}, {.max_new_tokens = 16}).tally;
}

/// Compiled, not run: KSeq refuses siblings that are drawn in different ways.
std::size_t mixed_tree() {
    const TreeDrafter drafter(StableLogits{}, {2, 2}, children::GreedyChildren{});
    Sampler sampler(drafter, StableLogits{}, {.lookahead = 2}, KSeq{});
    return sampler.generate({0}).tokens.size();
}

std::size_t batch() {
    const Eigen::VectorXf q = draft({}), p = target({});
    const std::vector<Token> tokens{0, 1};
    const std::vector distributions{Sampled{q}, Sampled{q}};
    const std::vector rows{p, p, p};
    BatchWorkspace memory;
    std::vector<
        Request<const std::vector<Token>&, decltype((distributions)), decltype((rows)), TokenVerification, RoundRng>>
        requests;
    requests.push_back({tokens, distributions, rows, TokenVerification{}, RoundRng(42, 0, 0)});
    std::size_t count = 0;
    const auto rounds = verify_batch(requests, memory);
    for (const Round& round : rounds) count += round.tokens.size();
    return count;
}

std::size_t values() {
    const std::vector<float> logits{0, 1, 2, 3, 4, 5};
    const RoundRng rng(42, 0, 0);
    const Rows rows(Row::logits({logits.data(), 3}, .8), 2);
    const auto [token, origin] = draft_token(TokenVerification{}, rng, 0, rows[1]);
    const std::vector tokens{token};
    const std::vector origins{origin};
    Workspace workspace;
    Scores scores;
    const Round round = verify(tokens, origins, rows, TokenVerification{}, rng, {}, workspace);
    std::size_t count = token_scores(round, rows, scores, 2).size();
    count += draft_scores(round, tokens, origins, rows, rng, scores).size();
    count += verify(tokens, origins, rows, BlockVerification{}, rng, {}, workspace).tokens.size();
    const auto model = [&](std::span<const Token>) { return Row::logits(logits); };
    Sampler sampler(TreeDrafter(model, {2}), model);
    return count + sampler.generate({0}, {.max_new_tokens = 4}, [](const TokenScore&) {}).size();
}

std::size_t beams() {
    beam::BeamSearch search(draft, target, {.width = 2});
    return search.generate({0}, {.max_new_tokens = 4}).beams.size();
}

}  // namespace

int main() {
    Tally tally = drafters();
    tally += slices();
    const std::string written = metrics::report(tally) + metrics::to_json(tally) + metrics::to_prometheus(tally);
    std::printf("%s%zu %zu %zu %zu %f\n", written.c_str(), mixed_tree(), batch(), beams(), values(),
                theory::speedup(0.8, 4, 0.05));
    return theory::acceptance(draft({}), target({})) > 0 ? 0 : 1;
}
