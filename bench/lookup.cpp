// A round of prompt lookup in a long text, beside a search of the text and a plain read of as many numbers; and of
// suffix lookup, in this text and in one that repeats seven tokens.
//
// Lookup reads no rows: the vocabulary is that of the text, and nothing is read from the pool.
#include "kernels.hpp"

#include <algorithm>
#include <random>

#include <specsample/drafters/lookup.hpp>
#include <specsample/drafters/suffix_lookup.hpp>

namespace bench {
namespace {

using specsample::DraftTree;
using specsample::Token;
using Text = std::vector<Token>;

constexpr Index text_size = 100000;
constexpr Index round_size = 3;  ///< tokens that a round adds
constexpr Index lookahead = 8;
constexpr specsample::LookupOptions options{};

/// A text that alternates between new tokens and copies of earlier ones, 12 to 35 tokens each.
Text repetitive_text(Index vocab, std::mt19937_64& generator) {
    Text text;
    std::uniform_int_distribution<Token> any(0, static_cast<Token>(vocab - 1));
    const auto below = [&](Index bound) { return std::uniform_int_distribution<Index>(0, bound - 1)(generator); };
    while (std::ssize(text) < text_size) {
        for (Index i = 12 + below(24); i > 0; --i) text.push_back(any(generator));
        Index from = below(std::ssize(text));
        for (Index i = 12 + below(24); i > 0; --i) text.push_back(text[static_cast<std::size_t>(from++)]);
    }
    text.resize(text_size);
    return text;
}

/// A text that says the same seven tokens over and over.
Text loop_text(Index size) {
    Text text(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<Token>(i % 7);
    return text;
}

/// A text that the drafter has read already, with room for one more round.
template <class Drafter>
struct Reader {
    Text text;
    Index vocab;
    Drafter draft;
    DraftTree<specsample::PointMass> draft_tree{};
    Eigen::ArrayXf numbers = Eigen::ArrayXf::Zero(text_size + round_size);

    Reader(Text whole, Index ids, Drafter drafter) : text(std::move(whole)), vocab(ids), draft(std::move(drafter)) {
        draft.propose(text, specsample::RoundRng(1, 0, 0), open());
        text.resize(text.size() + round_size);
    }

    DraftTree<specsample::PointMass>& open() {
        draft_tree.open(lookahead, {}, vocab);
        return draft_tree;
    }

    void write(const Text& added) { std::ranges::copy(added, text.end() - round_size); }
};

/// Folds drafted tokens into one number, by which drafts are compared.
double digest(double sum, Token token) { return 1.25 * sum + token; }

/// The library's round: read the tokens that were added, and draft. Undoing it afterwards is timed as well.
template <class Drafter>
double with_index(Reader<Drafter>& reader, const Text& added) {
    reader.write(added);
    reader.draft.propose(reader.text, specsample::RoundRng(1, 0, 0), reader.open());
    reader.draft.rollback(text_size);
    double sum = 0;
    for (const Token token : reader.draft_tree.tokens()) sum = digest(sum, token);
    return sum;
}

/// The usual form: search the text for its own last tokens, backwards and for the longest match first.
double with_search(Reader<specsample::LookupDrafter>& reader, const Text& added) {
    reader.write(added);
    const Text& text = reader.text;
    const auto last = text.end();
    for (Index n = options.max_match; n >= options.min_match; --n)
        for (auto end = last - 1; end - text.begin() >= n; --end) {
            if (!std::equal(last - n, last, end - n)) continue;
            double sum = 0;
            for (Index i = 0; i < lookahead; ++i) sum = digest(sum, end[i % (last - end)]);
            return sum;
        }
    return 0;
}

/// What rounds add to a text: most a part of it, every fourth a new token.
std::vector<Text> rounds_of(const Text& text, Index vocab, std::mt19937_64& generator) {
    std::vector<Text> rounds;
    std::uniform_int_distribution<Index> place(0, text_size - round_size);
    for (Index i = 0; i < 64; ++i) {
        const auto from = text.begin() + place(generator);
        rounds.emplace_back(from, from + round_size);
        if (i % 4 == 0) rounds.back().back() = static_cast<Token>(vocab - 1 - i);
    }
    return rounds;
}

template <class Drafter, class Textbook>
Race race_of(const Setting& setting, const std::shared_ptr<Reader<Drafter>>& reader, std::vector<Text> rounds,
             const Textbook& textbook) {
    return make_race(
        setting, 1, std::move(rounds), [=](const Text& added, Index) { return with_index(*reader, added); }, textbook,
        [=](const auto& read, const Text&, Index) {
            return read(Row(reader->numbers.data(), reader->numbers.size()));
        });
}

Race lookup(const Setting& setting) {
    std::mt19937_64 generator(42);
    const auto reader = std::make_shared<Reader<specsample::LookupDrafter>>(
        repetitive_text(setting.vocab, generator), setting.vocab, specsample::LookupDrafter(options));
    Race race = race_of(setting, reader, rounds_of(reader->text, setting.vocab, generator),
                        [=](const Text& added, Index) { return with_search(*reader, added); });
    for (std::size_t one = 0; one < race.cases; ++one)
        if (race.ours(one, 0) != race.textbook(one, 0)) race.refused = "a search of the text drafted other tokens";
    return race;
}

/// Suffix lookup, which drafts a tree; there is no simple search that does.
template <bool in_a_loop>
Race suffix_lookup(const Setting& setting) {
    std::mt19937_64 generator(42);
    const auto reader = std::make_shared<Reader<specsample::SuffixLookupDrafter>>(
        in_a_loop ? loop_text(text_size) : repetitive_text(setting.vocab, generator), setting.vocab,
        specsample::SuffixLookupDrafter({.nodes = 16}));
    const Text whole = loop_text(text_size + round_size);
    auto rounds = in_a_loop ? std::vector<Text>{Text(whole.end() - round_size, whole.end())}
                            : rounds_of(reader->text, setting.vocab, generator);
    return race_of(setting, reader, std::move(rounds), nullptr);
}

}  // namespace

void add_lookup(Kernels& kernels) {
    kernels.push_back({"lookup/text", {}, lookup, {}});
    kernels.push_back({"lookup/suffix_text", {}, suffix_lookup<false>, {}});
    kernels.push_back({"lookup/suffix_loop", {}, suffix_lookup<true>, {}});
}

}  // namespace bench
