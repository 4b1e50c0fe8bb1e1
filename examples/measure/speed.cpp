// Measures how much faster a real text is written with each drafter than by plain decoding, with the same model, in the
// same process and in turns; and checks that greedy texts and those of Gumbel races are plain decoding's, and that
// first tokens have the target's distribution.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exact/chi_square.hpp"
#include "generate/drafts.hpp"
#include "generate/run.hpp"
#include "speed/arguments.hpp"
#include "speed/chart.hpp"
#include "speed/other.hpp"
#include "speed/prompts.hpp"

namespace {

struct Contender {
    std::string name;
    DraftKind kind;
    std::vector<specsample::Index> tree{};
};

std::vector<Contender> contenders(const Arguments& base) {
    std::vector<Contender> result{
        {"plain", DraftKind::none}, {"lookup", DraftKind::lookup}, {"layers", DraftKind::self}};
    if (base.heads.empty()) return result;
    result.push_back({"eagle", DraftKind::eagle});
    result.push_back({"auto", DraftKind::automatic});
    result.push_back({"tree", DraftKind::automatic, {2, 1, 1}});
    return result;
}

/// What a contender did on one prompt, over all runs.
struct Sums {
    std::vector<double> seconds{};  ///< one per run
    std::vector<double> written{};  ///< tokens: one per run, as texts that are drawn may depend on what is drafted
    double tokens = 0;
    double passes = 0;
    double positions = 0;  ///< drafted ones, in all target passes
    double drafts = 0;     ///< passes of the drafter
    std::vector<specsample::Token> text{};
};

class Measurement {
  public:
    explicit Measurement(const speed::Arguments& arguments)
        : arguments_(arguments),
          model_(std::make_shared<engine::Model>(engine::Weights::load(arguments.target), nullptr,
                                                 std::make_shared<engine::Team>(arguments.threads))),
          tokenizer_(engine::Tokenizer::load(arguments.tokenizer, model_->vocab())),
          contenders_(contenders(arguments)) {
        const auto all = speed::prompts(tokenizer_, arguments.prompts);
        const auto every = static_cast<std::size_t>(arguments.every);
        for (std::size_t i = 0; i < all.size(); i += every) prompts_.push_back(all[i]);
    }

    /// Returns false if a text is not plain decoding's where it must be.
    bool run() {
        bool good = true;
        std::optional<speed::Chart> chart;
        if (!arguments_.chart.empty()) chart.emplace(arguments_.chart);
        for (const double temperature : arguments_.temperatures) {
            const auto sums = measure(temperature, RuleKind::block, arguments_.runs);
            print(temperature, sums);
            if (chart) chart->add(panel(temperature, sums));
            if (temperature == 0) good = same_texts(sums, "temperature 0") && good;
        }
        if (chart) chart->write();
        good = same_texts(measure(1, RuleKind::gumbel, 1), "Gumbel races at temperature 1") && good;
        return first_tokens() && good;
    }

  private:
    using AllSums = std::vector<std::vector<Sums>>;  // per prompt, per contender, and the other program's

    AllSums measure(double temperature, RuleKind rule, int runs) {
        const RowShaper shaper(temperature, 1);
        const LanguageModel target(model_, shaper);
        std::vector<Drafts> drafts;
        for (const Contender& contender : contenders_) {
            Arguments arguments = arguments_;  // those of generate
            arguments.draft_kind = contender.kind;
            arguments.tree = contender.tree;
            drafts.emplace_back(arguments, target, shaper);
        }
        draft_costs_.clear();
        for (const Drafts& each : drafts) draft_costs_.push_back(each.cost());
        const bool has_other = !arguments_.other.empty() && temperature == 0;
        AllSums sums(prompts_.size(), std::vector<Sums>(contenders_.size() + has_other));
        for (int turn = 0; turn < runs; ++turn) {
            for (std::size_t p = 0; p < prompts_.size(); ++p) {
                for (std::size_t c = 0; c < contenders_.size(); ++c)
                    record(sums[p][c], write_one(drafts[c], target, contenders_[c], rule, prompts_[p]));
                if (has_other)
                    record(sums[p].back(),
                           speed::Other(arguments_.other).write(prompts_[p].tokens, arguments_.max_tokens));
                std::fprintf(stderr, "\rtemperature %g, run %d of %d, prompt %zu of %zu ", temperature, turn + 1, runs,
                             p + 1, prompts_.size());
            }
        }
        std::fprintf(stderr, "\r%60s\r", "");
        return sums;
    }

    Run write_one(const Drafts& drafts, const LanguageModel& target, const Contender& contender, RuleKind rule,
                  const speed::Prompt& prompt) const {
        const bool is_tree = !contender.tree.empty();
        Request request{.rule = is_tree && rule == RuleKind::block ? RuleKind::traversal : rule,
                        .options = {.lookahead = contender.kind == DraftKind::none ? 0
                                                 : is_tree                         ? std::ssize(contender.tree)
                                                                                   : 8,
                                    .seed = 1},
                        .adapts = contender.kind != DraftKind::none && !is_tree,
                        .limits = {.max_new_tokens = arguments_.max_tokens,
                                   .max_length = std::min(drafts.context(), model_->context()),
                                   .stop_tokens = {tokenizer_.end()}}};
        return ::run(drafts, target, request, prompt.tokens, [](const auto&, const auto*) {});
    }

    static void record(Sums& sums, const Run& run) {
        add_text(sums, run.seconds, run.tokens.size());
        sums.passes += static_cast<double>(run.tally.rounds);
        sums.positions += static_cast<double>(run.tally.proposed);
        sums.drafts += static_cast<double>(run.draft_passes);
        sums.text = run.tokens;
    }

    static void record(Sums& sums, const speed::Written& written) {
        add_text(sums, written.seconds, written.tokens.size());
        sums.passes = sums.tokens;
        sums.text = written.tokens;
    }

    static void add_text(Sums& sums, double seconds, std::size_t tokens) {
        sums.seconds.push_back(seconds);
        sums.written.push_back(static_cast<double>(tokens));
        sums.tokens += static_cast<double>(tokens);
    }

    /// Seconds per token of one run over the prompts of a group.
    double pace(const AllSums& sums, std::size_t contender, std::size_t turn, std::string_view group) const {
        double seconds = 0, tokens = 0;
        for (std::size_t p = 0; p < prompts_.size(); ++p) {
            if (!group.empty() && prompts_[p].group != group) continue;
            seconds += sums[p][contender].seconds[turn];
            tokens += sums[p][contender].written[turn];
        }
        return seconds / tokens;
    }

    /// Seconds per token of the median run.
    static double pace(const Sums& sums) {
        std::vector<double> paces;
        for (std::size_t turn = 0; turn < sums.seconds.size(); ++turn)
            paces.push_back(sums.seconds[turn] / sums.written[turn]);
        return median(paces);
    }

    void print(double temperature, const AllSums& sums) const {
        std::printf("\ntemperature %g: times plain decoding, median of %d runs (least to most); tokens per pass\n",
                    temperature, arguments_.runs);
        std::printf("%-8s", "");
        for (const char* group : {"all prompts", "code", "chat", "edit"}) std::printf("  %-24s", group);
        std::printf("  worst prompt  computed*\n");
        for (std::size_t c = 0; c < contenders_.size(); ++c) {
            print_groups(sums, c, 0, contenders_[c].name);
            double worst = 1e9;
            for (const auto& prompt : sums) {
                worst = std::min(worst, pace(prompt[0]) / pace(prompt[c]));
            }
            std::printf("  %.2f          %.2f\n", worst, computed(sums, c));
        }
        if (const std::size_t other = contenders_.size(); other < sums.front().size()) {
            print_groups(sums, other, 0, "other");
            std::printf("\ntimes the other program:\n");
            for (std::size_t c = 0; c < contenders_.size(); ++c) {
                print_groups(sums, c, other, contenders_[c].name);
                std::printf("\n");
            }
        }
        std::printf(
            "* with these texts and drafts, where a pass over 5 positions costs 1.05 of one, as on a GPU, and the "
            "drafter its share of the weights\n");
        std::printf("plain decoding: %.1f tokens a second\n", 1 / plain_seconds(sums));
    }

    /// Tokens per pass over the cost of a round, where passes are bound by reading the weights.
    double computed(const AllSums& sums, std::size_t contender) const {
        double tokens = 0, cost = 0;
        for (const auto& prompt : sums) {
            const Sums& own = prompt[contender];
            tokens += own.tokens;
            cost += own.passes + .05 / 4 * own.positions + draft_costs_[contender] * own.drafts;
        }
        return tokens / cost;
    }

    speed::Panel panel(double temperature, const AllSums& sums) const {
        speed::Panel result{temperature, {}};
        for (std::size_t c = 1; c < contenders_.size(); ++c) {
            speed::Bars bars{contenders_[c].name, {}};
            for (std::size_t g = 0; g < speed::groups.size(); ++g)
                bars.ratios[g] = median(ratios(sums, c, 0, g == 0 ? "" : speed::groups[g]));
            result.bars.push_back(bars);
        }
        return result;
    }

    /// How many times as fast as another one a contender was in each run.
    std::vector<double> ratios(const AllSums& sums, std::size_t contender, std::size_t than,
                               std::string_view group) const {
        std::vector<double> result;
        for (std::size_t turn = 0; turn < static_cast<std::size_t>(arguments_.runs); ++turn)
            result.push_back(pace(sums, than, turn, group) / pace(sums, contender, turn, group));
        return result;
    }

    void print_groups(const AllSums& sums, std::size_t contender, std::size_t than, const std::string& name) const {
        std::printf("%-8s", name.c_str());
        for (const char* group : {"", "code", "chat", "edit"}) print_group(sums, contender, than, group);
    }

    void print_group(const AllSums& sums, std::size_t contender, std::size_t than, std::string_view group) const {
        const std::vector<double> all = ratios(sums, contender, than, group);
        double tokens = 0, passes = 0;
        for (std::size_t p = 0; p < prompts_.size(); ++p) {
            if (!group.empty() && prompts_[p].group != group) continue;
            tokens += sums[p][contender].tokens;
            passes += sums[p][contender].passes;
        }
        const auto [least, most] = std::ranges::minmax(all);
        std::printf("  %.2f (%.2f to %.2f) %5.2f  ", median(all), least, most, tokens / passes);
    }

    double plain_seconds(const AllSums& sums) const {
        std::vector<double> paces;
        for (std::size_t turn = 0; turn < static_cast<std::size_t>(arguments_.runs); ++turn)
            paces.push_back(pace(sums, 0, turn, ""));
        return median(paces);
    }

    bool same_texts(const AllSums& sums, const char* what) const {
        bool good = true;
        for (std::size_t c = 1; c < contenders_.size(); ++c) {
            std::size_t same = 0;
            for (const auto& prompt : sums) same += prompt[c].text == prompt[0].text;
            std::printf("%s, %s: %zu of %zu texts are plain decoding's\n", what, contenders_[c].name.c_str(), same,
                        sums.size());
            good = good && same == sums.size();
        }
        return good;
    }

    /// Counts the first token of rounds with many seeds, behind the first prompt of every group.
    bool first_tokens() const {
        bool good = true;
        const RowShaper shaper(1, 1);
        const LanguageModel target(model_, shaper);
        Arguments arguments = arguments_;  // those of generate
        arguments.draft_kind = contenders_.back().kind;
        const Drafts drafts(arguments, target, shaper);
        std::string_view group;
        for (const speed::Prompt& prompt : prompts_) {
            if (prompt.group == group) continue;
            group = prompt.group;
            const Eigen::ArrayXd row = LanguageModel(target)(prompt.tokens).cast<double>();
            for (const RuleKind rule : {RuleKind::token, RuleKind::block}) {
                Eigen::ArrayXd counts = Eigen::ArrayXd::Zero(row.size());
                for (int seed = 0; seed < arguments_.seeds; ++seed) {
                    const specsample::Options options{.lookahead = 3, .seed = static_cast<std::uint64_t>(seed)};
                    counts[first_token(drafts, target, rule, options, prompt.tokens)] += 1;
                }
                const exact::ChiSquare found = exact::chi_square(counts, row);
                std::printf("first token, %s, %s verification: chi-square %.1f of %td bins, at most %.1f: %s\n",
                            std::string(group).c_str(), name(rule).data(), found.statistic, found.bins, found.bound,
                            found.holds() ? "holds" : "DOES NOT HOLD");
                good = good && found.holds();
            }
        }
        return good;
    }

    static specsample::Token first_token(const Drafts& drafts, LanguageModel target, RuleKind kind,
                                         const specsample::Options& options,
                                         std::span<const specsample::Token> prompt) {
        return with_rule(kind, [&](auto rule) {
            specsample::Sampler sampler(drafts.drafter(), std::ref(target), options, rule);
            return sampler.step(prompt).tokens[0];
        });
    }

    static double median(std::vector<double> values) {
        std::ranges::sort(values);
        const std::size_t half = values.size() / 2;
        return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
    }

    speed::Arguments arguments_;
    std::shared_ptr<engine::Model> model_;
    engine::Tokenizer tokenizer_;
    std::vector<Contender> contenders_;
    std::vector<speed::Prompt> prompts_{};
    std::vector<double> draft_costs_{};  // of the contenders
};

}  // namespace

int main(int argc, char** argv) {
    try {
        const speed::Arguments arguments = speed::parse({argv + 1, argv + argc});
        if (arguments.help) {
            std::fputs(speed::usage.data(), stdout);
            return EXIT_SUCCESS;
        }
        return Measurement(arguments).run() ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "speed: %s\n", error.what());
        return 2;
    }
}
