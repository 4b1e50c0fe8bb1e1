// Measures what a race at the end of llama.cpp's sampler chain is worth to programs that keep a drafted token if the
// target's sampler chooses the same one, beside llama.cpp's own `dist`.
//
//     compare_samplers MODEL DRAFT [--filters] [--quick]
//
// Every text is written without drafts and with drafts of four kinds, and the texts are compared. With --filters, the
// chain has llama.cpp's default filters before its last sampler: top-k 40, top-p .95, min-p .05.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "exact/prompts.hpp"
#include "llama_cpp/equality_loop.hpp"
#include "llama_cpp/load.hpp"
#include "llama_cpp/race_sampler.hpp"

namespace {

enum class Last { dist, race };  ///< the sampler at the end of a chain

/// A chain of llama.cpp's samplers.
struct ChainOptions {
    Last last;
    double temperature;
    bool filters;
    std::uint32_t seed;

    ChainOwner make() const {
        ChainOwner chain(llama_sampler_chain_init(llama_sampler_chain_default_params()));
        const auto add = [&](llama_sampler* sampler) { llama_sampler_chain_add(chain.get(), sampler); };
        if (filters) {
            add(llama_sampler_init_top_k(40));
            add(llama_sampler_init_top_p(.95f, 1));
            add(llama_sampler_init_min_p(.05f, 1));
        }
        add(llama_sampler_init_temp(static_cast<float>(temperature)));
        add(last == Last::dist ? llama_sampler_init_dist(seed) : race_sampler({.seed = seed}));
        return chain;
    }
};

/// The texts of all prompts.
struct Texts {
    std::vector<std::vector<llama_token>> tokens{};
    int rounds = 0, drafted = 0, accepted = 0, written = 0;

    void add(EqualityText text) {
        rounds += text.rounds;
        drafted += text.drafted;
        accepted += text.accepted;
        written += static_cast<int>(text.tokens.size());
        tokens.push_back(std::move(text.tokens));
    }
    int same_as(const Texts& other) const {
        int count = 0;
        for (std::size_t i = 0; i < tokens.size(); ++i) count += tokens[i] == other.tokens[i];
        return count;
    }
};

class Comparison {
  public:
    Comparison(const std::string& target, const std::string& draft, bool filters, bool quick)
        : target_model_(load(target)), draft_model_(load(draft)), filters_(filters), length_(quick ? 16 : 64) {
        same_vocabulary(*draft_model_, *target_model_);
        for (const std::string& prompt : exact::all_prompts({}))
            if (prompts_.push_back(tokenise(vocab(), prompt)); quick && prompts_.size() == 3) break;
    }

    void print(double temperature) {
        std::printf("\ntemperature %.1f%s: %zu texts of up to %d tokens, %d drafted a round\n", temperature,
                    filters_ ? ", top-k 40, top-p .95, min-p .05" : "", prompts_.size(), length_, lookahead);
        std::printf("  %-5s %-42s %9s %12s  %s\n", "last", "drafts", "accepted", "tokens/pass", "texts as without");
        for (const Last last : {Last::dist, Last::race}) {
            const ChainOptions chain{last, temperature, filters_, 1};
            const Texts plain = write(chain, 0, {});
            row(chain, plain, "n-gram", draft_by_lookup(llama_vocab_n_tokens(&vocab())));
            row(chain, plain, "model, its likeliest token", draft_by_model(draft_, greedy));
            const auto apart = [other = ChainOptions(chain)](const llama_sampler*) mutable {
                other.seed += 1000;
                return other.make();
            };
            row(chain, plain, "model, its samples by other numbers", draft_by_model(draft_, apart));
            row(chain, plain, "model, its samples by a clone of the chain", draft_by_model(draft_, clone_of));
        }
    }

  private:
    static constexpr int lookahead = 4;
    static constexpr ContextOptions size{.n_ctx = 512, .n_batch = 512, .threads = 1};

    const llama_vocab& vocab() const { return *llama_model_get_vocab(target_model_.get()); }

    Texts write(const ChainOptions& options, int drafted, const DraftTokens& draft) {
        Texts texts;
        const auto none = [](auto, int, const llama_sampler*) { return std::vector<llama_token>(); };
        const auto ends = [&](llama_token token) { return llama_vocab_is_eog(&vocab(), token); };
        for (std::size_t i = 0; i < prompts_.size(); ++i) {
            ChainOptions given = options;
            given.seed += static_cast<std::uint32_t>(i);
            const ChainOwner chain = given.make();
            texts.add(write_by_equality(target_, chain.get(), prompts_[i], length_, drafted,
                                        draft ? draft : DraftTokens(none), ends));
        }
        return texts;
    }

    void row(const ChainOptions& chain, const Texts& plain, const char* drafts, const DraftTokens& draft) {
        const Texts texts = write(chain, lookahead, draft);
        std::printf("  %-5s %-42s %9.3f %12.2f  %d of %zu\n", chain.last == Last::dist ? "dist" : "race", drafts,
                    texts.accepted / std::max(1., static_cast<double>(texts.drafted)),
                    static_cast<double>(texts.written) / texts.rounds, texts.same_as(plain), prompts_.size());
        std::fflush(stdout);
    }

    ModelOwner target_model_, draft_model_;
    ContextOwner target_context_ = context(*target_model_, size), draft_context_ = context(*draft_model_, size);
    Decoder target_{target_context_.get()}, draft_{draft_context_.get()};
    bool filters_;
    int length_;
    std::vector<std::vector<llama_token>> prompts_{};
};

}  // namespace

int main(int count, char** values) try {
    std::vector<std::string> words(values + 1, values + count);
    const bool quick = std::erase(words, "--quick") > 0, filters = std::erase(words, "--filters") > 0;
    if (words.size() != 2) throw std::invalid_argument("usage: compare_samplers MODEL DRAFT [--filters] [--quick]");
    Comparison comparison(words[0], words[1], filters, quick);
    for (const double temperature : {.8, 1.}) comparison.print(temperature);
} catch (const std::exception& error) {
    std::fprintf(stderr, "compare_samplers: %s\n", error.what());
    return 2;
}
