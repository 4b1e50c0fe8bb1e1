// Measures the library's share of a round on real logits: the time to draw drafts and to verify them, beside
// llama.cpp's own sampler chain for the same positions, and a plain read of the same rows.
//
//     share MODEL...
//
// All are timed in turn, round after round in one process, so that other load on the machine meets all of them alike;
// figures are medians over the rounds. The draft is the same model, which sees only the end of the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specsample/shaping/from_logits.hpp>
#include <specsample/shaping/shaped.hpp>

#include "generate/stopwatch.hpp"
#include "llama_cpp/glue.hpp"
#include "llama_cpp/load.hpp"

namespace {

using namespace specsample;
using namespace specsample::filters;
using namespace specsample::kernels;

constexpr Index lookahead = 4;
constexpr double temperature = .8;
constexpr std::size_t seen_by_draft = 24;  ///< tokens
constexpr std::string_view paragraph =
    "The lighthouse stood on a spit of rock that the sea covered twice a day, and whoever kept it had to think of "
    "everything a day ahead: oil, bread, letters, the weather. Old Marten had done so for thirty years. He knew the "
    "sound of every wind in the chimney, and he could tell from the colour of the water in the morning whether the "
    "boat would come in the evening. When the company wrote that the lamp would from now on be lit by a machine, he "
    "read the letter twice, folded it, and put it under the leg of the table that had always been too short.";

/// Rows that a model wrote after consecutive prefixes of a text.
class Recorded {
  public:
    Recorded(LlamaModel::Rows rows, Index first) : rows_(std::move(rows)), first_(first) {}

    const LlamaModel::Rows::value_type& operator()(std::span<const Token> prefix) const {
        return rows_[static_cast<std::size_t>(std::ssize(prefix) - first_)];
    }
    const LlamaModel::Rows& operator()(std::span<const Token>, Index) const { return rows_; }

  private:
    LlamaModel::Rows rows_;
    Index first_;  ///< tokens before the first row
};

/// A chain of llama.cpp's samplers, the last of which selects a token.
class LlamaChain {
  public:
    /// @param samplers   the chain takes ownership
    LlamaChain(std::initializer_list<llama_sampler*> samplers)
        : chain_(llama_sampler_chain_init(llama_sampler_chain_default_params())) {
        for (llama_sampler* sampler : samplers) llama_sampler_chain_add(chain_.get(), sampler);
    }

    /// Selects a token from an output of the last decode; -1 is the last output.
    Token operator()(llama_context* context, Index output) const {
        return llama_sampler_sample(chain_.get(), context, static_cast<std::int32_t>(output));
    }

  private:
    struct Free {
        void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
    };
    std::unique_ptr<llama_sampler, Free> chain_;
};

/// A temperature and nothing else.
struct Plain {
    static constexpr std::string_view name = "temperature .8";
    static constexpr double goal = 10;  ///< the chain must take this many times longer

    static auto model(const Recorded& rows) { return from_logits(std::ref(rows), temperature); }
    static LlamaChain chain() {
        return {llama_sampler_init_temp(static_cast<float>(temperature)), llama_sampler_init_dist(1)};
    }
};

/// llama.cpp's default filters, in its order.
struct Filtered {
    static constexpr std::string_view name = "top-k 40, top-p .95, min-p .05, temperature .8";
    static constexpr double goal = 2;

    static auto model(const Recorded& rows) {
        return shaped(from_logits(std::ref(rows)), Pipeline{TopK{40}, TopP{.95}, MinP{.05}, Temperature{temperature}});
    }
    static LlamaChain chain() {
        return {llama_sampler_init_top_k(40), llama_sampler_init_top_p(.95f, 1), llama_sampler_init_min_p(.05f, 1),
                llama_sampler_init_temp(static_cast<float>(temperature)), llama_sampler_init_dist(1)};
    }
};

template <class Work>
double microseconds(Work&& work) {
    const Stopwatch watch;
    work();
    return 1e6 * watch.seconds();
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// The microseconds of one piece of work: by the library, by the chain, and by a plain read of the rows that it needs.
struct Line {
    std::string_view name{};
    std::vector<double> library{}, chain{}, read{}, times_less{};

    void record(double by_library, double by_chain, double by_read) {
        library.push_back(by_library);
        chain.push_back(by_chain);
        read.push_back(by_read);
        times_less.push_back(by_chain / by_library);
    }
    /// Records the sum of the last figures of two pieces.
    void record_sum(const Line& a, const Line& b) {
        record(a.library.back() + b.library.back(), a.chain.back() + b.chain.back(), a.read.back() + b.read.back());
    }
    double ratio() const { return median(times_less); }
};

struct Lines {
    Line named{"judge drafts that were named"}, drawn{"judge drafts of a model"}, drawing{"draw the drafts"},
        both{"draw and judge them"};
    /// The same with a check of every row, including those that no decision needs.
    Line checked_named{"judge named drafts, rows checked"}, checked_both{"draw, check and judge"};
    std::vector<double> positions{};  ///< number verified per round
};

/// Rounds on recorded rows, all of them after the same text.
template <class Way>
class Rounds {
  public:
    /// @param text     includes the drafted tokens
    /// @param target   rows in the memory of the outputs of `context`'s last decode
    Rounds(std::span<const Token> text, const Recorded& draft, const Recorded& target, llama_context* context)
        : text_(text), draft_rows_(&draft), target_rows_(&target), context_(context) {}

    void measure(int rounds, Lines& lines) {
        for (int round = -3; round < rounds; ++round) {  // the first ones warm up
            Lines unused;
            measure_one(RoundRng(1, static_cast<std::uint64_t>(round + 3), std::ssize(prefix_)),
                        round < 0 ? unused : lines);
        }
    }

  private:
    void measure_one(const RoundRng& rng, Lines& lines) {
        const auto judge = [&](const auto& tokens, const auto& distributions, Check check) {
            Round round;
            const double taken = microseconds([&] {
                round = verify(tokens, distributions, target_(text_, lookahead + 1), TokenVerification{}, rng,
                               {.check = check}, workspace_);
            });
            if (!round) throw std::runtime_error("the model has written a row that is no distribution");
            positions_ = 1 + round.accepted;
            return taken;
        };
        const auto record = [&](Line& line, double by_library) {
            line.record(by_library, by_chain(positions_), read(*target_rows_, positions_));
        };
        record(lines.named, judge(text_.last(lookahead), PointMass{}, Check::entries_read));
        record(lines.checked_named, judge(text_.last(lookahead), PointMass{}, Check::every_row));
        const double by_library = microseconds([&] {
            draft_tree_.open(lookahead, {}, vocab());
            drafter_.propose(prefix_, rng, draft_tree_);
        });
        lines.drawing.record(by_library, by_chain(lookahead), read(*draft_rows_, lookahead));
        record(lines.drawn, judge(draft_tree_.view(), draft_tree_.distributions(), Check::entries_read));
        lines.both.record_sum(lines.drawing, lines.drawn);
        Line checked;
        record(checked, judge(draft_tree_.view(), draft_tree_.distributions(), Check::every_row));
        lines.checked_both.record_sum(lines.drawing, checked);
        lines.positions.push_back(static_cast<double>(positions_));
    }

    /// The time of `count` tokens by the chain, from the first outputs of the last decode.
    double by_chain(Index count) const {
        return microseconds([&] {
            for (Index i = 0; i < count; ++i) chain_(context_, i - lookahead - 1);
        });
    }
    double read(const Recorded& rows, Index count) {
        return microseconds([&] {
            for (Index i = 0; i < count; ++i) sum_ += rows(text_, count)[static_cast<std::size_t>(i)].sum();
        });
    }
    Index vocab() const { return (*target_rows_)(prefix_).size(); }

    std::span<const Token> text_;
    std::span<const Token> prefix_ = text_.first(text_.size() - std::size_t{lookahead});
    const Recorded *draft_rows_, *target_rows_;
    llama_context* context_;
    LlamaChain chain_ = Way::chain();
    decltype(Way::model(*target_rows_)) target_ = Way::model(*target_rows_);
    ChainDrafter<decltype(Way::model(*draft_rows_))> drafter_{Way::model(*draft_rows_)};
    DraftTree<typename decltype(drafter_)::Distribution> draft_tree_;
    Workspace workspace_;
    Index positions_ = 0;  ///< number that the last round verified
    float sum_ = 0;        ///< keeps the compiler from dropping the reads
};

/// A model with two contexts, and the text to measure on.
class Share {
  public:
    explicit Share(const std::filesystem::path& path)
        : model_(load(path)),
          target_context_(context(*model_, {.n_ctx = 512, .threads = 2})),
          draft_context_(context(*model_, {.n_ctx = 512, .threads = 2})),
          target_(target_context_.get()),
          draft_(draft_context_.get()),
          text_(tokenise(*llama_model_get_vocab(model_.get()), paragraph)) {}

    Index vocab() const { return llama_vocab_n_tokens(llama_model_get_vocab(model_.get())); }

    /// Measures `rounds` rounds, each with its own RNG, after each of five beginnings of the text.
    template <class Way>
    Lines measure(int rounds) {
        Lines lines;
        const auto step = std::ssize(text_) / 7;
        for (auto size = 2 * step; size <= 6 * step; size += step)
            measure_after<Way>({text_.begin(), text_.begin() + size}, rounds, lines);
        return lines;
    }

  private:
    /// The path is the draft's likeliest one, and the target's rows are computed along it.
    template <class Way>
    void measure_after(std::vector<Token> text, int rounds, Lines& lines) {
        const Index start = std::ssize(text);
        RowMajorMatrix<float> q(lookahead, vocab());
        LlamaModel::Rows q_rows;
        for (Index i = 0; i < lookahead; ++i) {
            q.row(i) = draft_(std::span(text).last(seen_by_draft + static_cast<std::size_t>(i)), 1).front().matrix();
            q_rows.emplace_back(q.row(i).data(), vocab());
            text.push_back(static_cast<Token>(argmax(q_rows.back())));
        }
        const Recorded draft(std::move(q_rows), start), target(target_(text, lookahead + 1), start);
        Rounds<Way>(text, draft, target, target_context_.get()).measure(rounds, lines);
    }

    ModelOwner model_;
    ContextOwner target_context_, draft_context_;
    LlamaModel target_, draft_;
    std::vector<Token> text_;
};

void print(const Line& line) {
    std::printf("  %-34s %12.1f %12.1f %12.1f %12.1f\n", std::string(line.name).c_str(), median(line.library),
                median(line.chain), median(line.read), line.ratio());
}

/// @returns   true if both kinds of drafts reach the goal
template <class Way>
bool report(Share& share, int rounds) {
    const Lines lines = share.measure<Way>(rounds);
    std::printf("\n%s\n  %-34s %12s %12s %12s %12s\n", std::string(Way::name).c_str(), "microseconds", "specsample",
                "llama.cpp", "plain read", "times less");
    for (const Line* line :
         {&lines.named, &lines.drawn, &lines.drawing, &lines.both, &lines.checked_named, &lines.checked_both})
        print(*line);
    const bool reached = std::min({lines.named.ratio(), lines.drawn.ratio(), lines.both.ratio()}) >= Way::goal;
    const double positions = std::accumulate(lines.positions.begin(), lines.positions.end(), 0.0);
    std::printf("  %.2f positions judged a round; goal without checks: %.0f times less, %s\n",
                positions / static_cast<double>(lines.positions.size()), Way::goal, reached ? "reached" : "missed");
    return reached;
}

}  // namespace

int main(int count, char** values) try {
    std::vector<std::string_view> words(values + 1, values + count);
    const bool quick = std::erase(words, "--quick") > 0;
    if (words.empty()) throw std::invalid_argument("usage: share MODEL... [--quick]");
    bool all_reached = true;
    for (const std::string_view path : words) {
        Share share{std::filesystem::path(path)};
        std::printf("%s: %d tokens, chains of %d, one thread\n", std::string(path).c_str(),
                    static_cast<int>(share.vocab()), static_cast<int>(lookahead));
        const int rounds = quick ? 10 : 100;
        all_reached &= report<Plain>(share, rounds);
        all_reached &= report<Filtered>(share, rounds);
        std::printf("\n");
    }
    return all_reached ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "share: %s\n", error.what());
    return 2;
}
