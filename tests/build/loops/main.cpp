// Rounds of every rule over rows that are values, and the texts of samplers. Linked with specsample::compiled or not, the program prints the same
// hash of tokens, and with the same instruction set the same hash of all numbers.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

#include <specsample/sampler_values.hpp>

using namespace specsample;

namespace {

/// A hash of Fowler, Noll and Vo.
struct Hash {
    std::uint64_t value = 14695981039346656037u;

    template <class T>
    void add(T number) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &number, sizeof number);
        value = (value ^ bits) * 1099511628211u;
    }
};

struct Hashes {
    Hash tokens{}, numbers{};
};

struct Numbers {
    std::vector<float> floats{};
    std::vector<double> doubles{};
    std::vector<std::uint16_t> halves{};  // bfloat16
    std::vector<std::int32_t> ids{};      // every third
};

/// Numbers between 0 and 8, made without a sum of products, which flags may fuse: logits, or probabilities once they are
/// divided by their sum.
Numbers make_numbers(std::uint64_t seed, Index vocab, bool are_probs) {
    const Rng random({.seed = seed, .purpose = Purpose::policy});
    Numbers made;
    double sum = 0;
    for (Index i = 0; i < vocab; ++i) {
        const auto bits = static_cast<std::uint32_t>(random.bits(static_cast<std::uint32_t>(i)));
        made.doubles.push_back(static_cast<double>((bits >> 16) % 64 * (bits % 64) * 2 + 1) / 1024);
        sum += made.doubles.back();
    }
    for (double& number : made.doubles) {
        if (are_probs) number /= sum;
        made.floats.push_back(static_cast<float>(number));
        std::uint32_t bits = 0;
        std::memcpy(&bits, &made.floats.back(), sizeof bits);
        made.halves.push_back(static_cast<std::uint16_t>(bits >> 16));
    }
    for (Index i = 0; i < vocab; ++i) made.ids.push_back(static_cast<std::int32_t>(3 * i));
    return made;
}

enum class Kind { probs, doubles, logits, halves, sparse };

Row row_of(const Numbers& numbers, Kind kind) {
    const Index size = std::ssize(numbers.floats);
    switch (kind) {
        case Kind::probs:
            return Row::probs(numbers.floats);
        case Kind::doubles:
            return Row::probs(numbers.doubles);
        case Kind::logits:
            return Row::logits(numbers.floats, .8);
        case Kind::halves:
            return Row::logits({numbers.halves.data(), Row::Scalar::bf16, size}, .7);
        default:
            return Row::sparse(numbers.ids, Row::logits(numbers.floats, 1.1), 3 * size);
    }
}

/// Draft and judge a tree of five tokens, then score it if the rule has ratios.
template <class Rule>
void judge(const Rule& rule, bool has_ratios, std::uint64_t round, Kind kind, Index vocab, Hashes& hashes) {
    const std::vector<Index> parents{-1, 0, 1, 0, -1};
    const bool are_probs = kind == Kind::probs || kind == Kind::doubles;
    std::vector<Numbers> numbers;
    for (std::uint64_t i = 0; i < 7; ++i) numbers.push_back(make_numbers(10 * round + i, vocab, are_probs));
    std::vector<Row> rows;
    for (std::size_t i = 0; i < 6; ++i) rows.push_back(row_of(numbers[i], kind));

    const RoundRng rng(round, 3, 0);
    std::vector<Token> tokens;
    std::vector<Origin> origins;
    const Index depths[] = {0, 1, 2, 1, 0};
    for (Index node = 0; node < std::ssize(parents); ++node) {
        const auto drafted = draft_token(rule, rng, node, row_of(numbers[6], kind), depths[node], {});
        tokens.push_back(drafted.token);
        origins.push_back(drafted.origin);
        hashes.tokens.add(drafted.token);
    }
    static Workspace workspace;
    static Scores scores;
    const Tree tree{tokens, parents};
    const Round judged = verify(tree, origins, rows, rule, rng, {}, workspace);
    hashes.tokens.add(judged.accepted);
    for (const Token token : judged.tokens) hashes.tokens.add(token);
    if (!has_ratios) return;
    for (const DraftScore& score : draft_scores(judged, tree, origins, rows, rng, scores))
        for (const double number : {score.log_draft, score.ratio, score.slack}) hashes.numbers.add(number);
}

/// Write a text with models whose rows lie in one buffer each, and which end a draft at an empty row.
template <class Rule>
void write(const Rule& rule, Kind kind, Hashes& hashes) {
    const bool are_probs = kind == Kind::probs || kind == Kind::doubles;
    Numbers drafted, scored;
    const auto draft = [&](std::span<const Token> prefix) {
        drafted = prefix.size() % 7 == 0 ? Numbers() : make_numbers(2 * prefix.size(), 301, are_probs);
        return row_of(drafted, kind);
    };
    const auto target = [&](std::span<const Token> prefix) {
        scored = make_numbers(2 * prefix.size() + 1, 301, are_probs);
        return row_of(scored, kind);
    };
    Sampler sampler(draft, target, {.lookahead = 3, .seed = 5}, rule);
    for (const Token token : sampler.generate({1, 2}, {.max_new_tokens = 60})) hashes.tokens.add(token);
}

}  // namespace

int main() {
    Hashes hashes;
    for (std::uint64_t round = 0; round < 60; ++round) {
        for (const Kind kind : {Kind::probs, Kind::doubles, Kind::logits, Kind::halves, Kind::sparse}) {
            const Index vocab = round % 20 == 0 ? 5003 : 301;
            judge(TokenVerification{}, true, round, kind, vocab, hashes);
            judge(BlockVerification{}, true, round, kind, vocab, hashes);
            judge(GreedyMatch{}, false, round, kind, vocab, hashes);
            judge(SampleMatch{}, false, round, kind, vocab, hashes);
            judge(GumbelMatch{}, false, round, kind, vocab, hashes);
        }
    }
    for (const Kind kind : {Kind::probs, Kind::doubles, Kind::logits, Kind::halves, Kind::sparse}) {
        write(TokenVerification{}, kind, hashes);
        write(BlockVerification{}, kind, hashes);
        write(GumbelMatch{}, kind, hashes);
    }
    std::printf("tokens %016llx\nnumbers %016llx\n", static_cast<unsigned long long>(hashes.tokens.value),
                static_cast<unsigned long long>(hashes.numbers.value));
}
