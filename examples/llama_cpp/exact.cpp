// Checks on a real model: texts equal those of plain decoding wherever the engine's logits do, and every rule has the
// target's distribution.
//
//   exact MODEL DRAFT [--quick] [--prompts FILE]     FILE: JSON lines with a "prompt" each, as HumanEval has them
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <specsample/specsample.hpp>
#include <specsample/verify.hpp>

#include "exact/prompts.hpp"
#include "llama_cpp/exact/distributions.hpp"
#include "llama_cpp/exact/texts.hpp"
#include "llama_cpp/load.hpp"

namespace {

using namespace exact;
using namespace specsample::walks;
using namespace specsample::children;

struct Arguments {
    std::vector<std::string> models{};
    std::filesystem::path prompts{};
    bool quick = false;
};

Arguments arguments(int count, char** words) {
    Arguments result;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (word == "--quick") {
            result.quick = true;
        } else if (word == "--prompts" && i + 1 < count) {
            result.prompts = words[++i];
        } else {
            result.models.push_back(word);
        }
    }
    if (result.models.size() != 2) throw std::invalid_argument("usage: exact MODEL DRAFT [--quick] [--prompts FILE]");
    return result;
}

/// Two models, with a context each for the library, and one for plain decoding by llama.cpp.
class RealModel {
  public:
    explicit RealModel(const Arguments& given)
        : prompts_(all_prompts(given.prompts)),
          quick_(given.quick),
          target_(load(given.models[0])),
          draft_(load(given.models[1])) {
        same_vocabulary(*draft_, *target_);
    }

    bool run() {
        const bool texts = greedy_texts();
        const bool races = raced_texts();
        const bool distributions = enumerated_distributions();
        const bool counts = first_token_counts();
        std::printf("\n%s\n", texts && races && distributions && counts ? "all of it holds" : "NOT ALL OF IT HOLDS");
        return texts && races && distributions && counts;
    }

  private:
    /// One thread: several threads split the attention of a single token in a long text, and of nothing else.
    static constexpr ContextOptions size{.n_ctx = 2048, .n_batch = 1024, .n_seq_max = 5, .threads = 1};

    std::vector<Token> tokens(const std::string& text) const { return tokenise(vocab(), text); }
    const llama_vocab& vocab() const { return *llama_model_get_vocab(target_.get()); }
    Limits limits() const { return {.max_new_tokens = length(), .stop_tokens = end_tokens(vocab())}; }
    Index length() const { return quick_ ? 24 : 64; }
    std::size_t step() const { return quick_ ? 6 : 1; }  ///< every step-th prompt is used

    std::string shown(Token token) const { return loading::shown(piece(vocab(), token, true)); }

    /// Prints one line per prompt. Returns true if every token is what the rows of its own text choose, and texts
    /// differ only after rows that differ.
    template <class One, class Other, class Noise>
    bool compare_texts(const char* title, const One& one, const Other& other, const Noise& noise) {
        std::printf("\n%s\n", title);
        int same = 0, same_bits = 0, count = 0;
        bool good = true;
        for (std::size_t i = 0; i < prompts_.size(); i += step(), ++count) {
            const auto prompt = tokens(prompts_[i]);
            const auto noise_at = [&](Index place, Token token) { return noise(std::ssize(prompt) + place, token); };
            const Noted first = one(prompt), second = other(prompt);
            const Comparison result = compare(first, second, noise_at);
            same += result.is_same;
            same_bits += result.first_unlike < 0;
            print(i, result);
            good = good && result.is_right();
            for (const Noted* text : {&first, &second}) {
                const Index wrong = first_wrong(*text, noise_at);
                if (wrong < 0) continue;
                good = false;
                std::printf("  token %td is NOT WHAT ITS ROW CHOOSES\n", wrong + 1);
            }
        }
        std::printf("  %d of %d texts are the same, %d of them with logits the same to the bit%s\n", same, count,
                    same_bits, good ? "; every token is what its row chooses" : "");
        return good;
    }

    void print(std::size_t prompt, const Comparison& result) const {
        std::printf("  prompt %2zu: ", prompt + 1);
        if (result.first_unlike < 0) {
            std::printf("logits the same to the bit, ");
        } else {
            std::printf("logits differ from token %td on, by %.2g at most, ", result.first_unlike + 1,
                        static_cast<double>(result.largest));
        }
        if (result.is_same) return void(std::printf("text the same, %td tokens\n", result.same));
        const std::string one = shown(result.one), other = shown(result.other);
        std::printf("text differs at token %td: %s leads %s by %.2g, and in the other's row %s leads by %.2g%s\n",
                    result.same + 1, one.c_str(), other.c_str(), result.one_leads, other.c_str(), result.other_leads,
                    result.is_right() ? "" : ": NOT EXPLAINED");
    }

    bool greedy_texts() {
        const ContextOwner plain = context(*target_, size), target = context(*target_, size),
                           draft = context(*draft_, size);
        LlamaModel target_model(target.get()), draft_model(draft.get());
        const Drafting drafting{&draft_model, 0};
        const auto by_llama = [&](bool split) {
            return [&, split](const auto& prompt) {
                return plain_greedy(plain.get(), prompt, limits().stop_tokens, length(), split);
            };
        };
        const auto no_noise = [](Index, Token) { return 0.; };
        const bool alone = compare_texts(
            "temperature 0, llama.cpp alone: the last token of the prompt in a batch with the rest, and by itself",
            by_llama(false), by_llama(true), no_noise);
        const bool chains = compare_texts(
            "temperature 0, chains of 4, against llama.cpp's own greedy decoding", by_llama(false),
            [&](const auto& prompt) {
                return sampled(drafting, target_model, TokenVerification{}, 0, 4, prompt, limits());
            },
            no_noise);
        const TreeDrafter tree(Drafting{&draft_model, 1}, {2, 2, 1}, TopChildren{});
        const bool trees = compare_texts(
            "temperature 0, trees of 2, 2, 1 children, against the same", by_llama(false),
            [&](const auto& prompt) {
                return sampled(tree, target_model, TraversalVerification{}, 0, 3, prompt, limits());
            },
            no_noise);
        return alone && chains && trees;
    }

    bool raced_texts() {
        const ContextOwner plain = context(*target_, size), target = context(*target_, size),
                           draft = context(*draft_, size);
        LlamaModel plain_model(plain.get()), target_model(target.get()), draft_model(draft.get());
        const auto with = [&](LlamaModel& model, Index lookahead) {
            return [&, lookahead](const auto& prompt) {
                return sampled(Drafting{&draft_model, 0.8}, model, GumbelMatch{}, 0.8, lookahead, prompt, limits());
            };
        };
        return compare_texts("Gumbel match at temperature 0.8, the same seed: lookahead 0 and chains of 4",
                             with(plain_model, 0), with(target_model, 4),
                             [](Index place, Token token) { return race_noise(0.8, place, token); });
    }

    bool enumerated_distributions() {
        const ContextOwner target = context(*target_, size), draft = context(*draft_, size);
        LlamaModel target_model(target.get()), draft_model(draft.get());
        std::printf("\ndistributions by enumeration, on the 4 likeliest tokens of either model, lookahead 2\n");
        double worst = 0;
        for (std::size_t i = 0; i < prompts_.size(); i += quick_ ? 12 : 4) {
            const auto text = tokens(prompts_[i]);
            const auto ids = likeliest(draft_model, target_model, text, 4);
            const Restricted p(target_model, text, ids), q(draft_model, text, ids);
            std::printf("  prompt %2zu, %zu tokens:", i + 1, ids.size());
            const auto say = [&](const char* rule, double distance) {
                std::printf(" %s %.1e", rule, distance);
                worst = std::max(worst, distance);
            };
            say("token", distance(TokenVerification{}, q, p, 2));
            say("block", distance(BlockVerification{}, q, p, 2));
            say("sample match", distance(SampleMatch{}, q, p, 2));
            say("Gumbel match", distance(GumbelMatch{}, q, p, 2));
            const TreeDrafter tree(q, {2, 1});
            say("recursive rejection", distance(RecursiveRejection{}, tree, p, 2));
            say("traversal", distance(TraversalVerification{}, tree, p, 2));
            say("K-SEQ", distance(KSeq{}, TreeDrafter(q, {2, 1}, Independent{}), p, 2));
            std::printf("\n");
        }
        std::printf("  largest difference of a string's probability from the target's: %.1e, must be 1e-12 at most\n",
                    worst);
        return worst <= 1e-12;
    }

    bool first_token_counts() {
        const ContextOwner target = context(*target_, size), draft = context(*draft_, size);
        LlamaModel target_model(target.get()), draft_model(draft.get());
        const auto text = tokens("Hello, my name is Anna and");  // many names may follow
        const Recorded p(target_model, text, 3), q(draft_model, text, 3);
        const int rounds = quick_ ? 20000 : 200000;
        std::printf("\nthe first token of %d rounds on recorded rows of %td tokens, lookahead 2: chi-square\n", rounds,
                    p.at(0).size());
        bool good = true;
        const auto say = [&](const char* rule, const ChiSquare& result) {
            std::printf("  %-13s %8.1f in %td bins, must be %.1f at most\n", rule, result.statistic, result.bins,
                        result.bound);
            good = good && result.holds();
        };
        say("token", first_tokens(TokenVerification{}, q, p, 2, rounds));
        say("block", first_tokens(BlockVerification{}, q, p, 2, rounds));
        say("sample match", first_tokens(SampleMatch{}, q, p, 2, rounds));
        std::printf("  each bound is passed by chance with probability 2.9e-7, any of the three with less than 1e-6\n");
        return good;
    }

    std::vector<std::string> prompts_;
    bool quick_;
    ModelOwner target_, draft_;
};

}  // namespace

int main(int count, char** words) {
    std::setvbuf(stdout, nullptr, _IOLBF, 1 << 12);  // it takes minutes: flush line by line
    try {
        return RealModel(arguments(count, words)).run() ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "exact: %s\n", error.what());
        return 2;
    }
}
