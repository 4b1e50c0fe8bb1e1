// A round of prompt lookup in a long text, beside a search of the text and a plain read of as many numbers.
//
// Lookup reads no rows: the vocabulary is that of the text, and nothing is read from the pool.
#include "kernels.hpp"

#include <algorithm>
#include <random>

#include <specsample/drafters/lookup.hpp>

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

/// A text that the drafter has read already, with room for one more round.
struct Reader {
    Text text;
    Index vocab;
    specsample::LookupDrafter draft{options};
    DraftTree<specsample::PointMass> draft_tree{};
    Eigen::ArrayXf numbers = Eigen::ArrayXf::Zero(text_size + round_size);

    Reader(Text whole, Index ids) : text(std::move(whole)), vocab(ids) {
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
double with_index(Reader& reader, const Text& added) {
    reader.write(added);
    reader.draft.propose(reader.text, specsample::RoundRng(1, 0, 0), reader.open());
    reader.draft.rollback(text_size);
    double sum = 0;
    for (const Token token : reader.draft_tree.tokens()) sum = digest(sum, token);
    return sum;
}

/// The usual form: search the text for its own last tokens, backwards and for the longest match first.
double with_search(Reader& reader, const Text& added) {
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

Race lookup(const Setting& setting) {
    std::mt19937_64 generator(42);
    const auto reader = std::make_shared<Reader>(repetitive_text(setting.vocab, generator), setting.vocab);
    // Most rounds continue with a part of the text, every fourth with a new token.
    std::vector<Text> rounds;
    std::uniform_int_distribution<Index> place(0, text_size - round_size);
    for (Index i = 0; i < 64; ++i) {
        const auto from = reader->text.begin() + place(generator);
        rounds.emplace_back(from, from + round_size);
        if (i % 4 == 0) rounds.back().back() = static_cast<Token>(setting.vocab - 1 - i);
    }
    Race race = make_race(
        setting, 1, std::move(rounds), [=](const Text& added, Index) { return with_index(*reader, added); },
        [=](const Text& added, Index) { return with_search(*reader, added); },
        [=](const auto& read, const Text&, Index) {
            return read(Row(reader->numbers.data(), reader->numbers.size()));
        });
    for (std::size_t one = 0; one < race.cases; ++one)
        if (race.ours(one, 0) != race.textbook(one, 0)) race.refused = "a search of the text drafted other tokens";
    return race;
}

}  // namespace

void add_lookup(Kernels& kernels) { kernels.push_back({"lookup/text", {}, lookup, {}}); }

}  // namespace bench
