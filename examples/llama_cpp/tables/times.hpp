// Time per token beside plain decoding, and the lookahead that an adaptive one chooses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "llama_cpp/run.hpp"
#include "llama_cpp/tables/acceptance.hpp"

/// One way to write a text.
struct Writer {
    std::string_view drafts, rule, lookahead;
    std::function<TextRun(const TextRequest&)> write;

    specsample::Tally tally{};
    std::vector<double> seconds{}, times_plain{};  ///< per token, one entry per text

    void print() const {
        const auto median = [](std::vector<double> values) {
            const auto middle = values.begin() + std::ssize(values) / 2;
            std::ranges::nth_element(values, middle);
            return *middle;
        };
        std::printf("  %-28s %-9s %9s %9.2f %9.2f %9.1f %9.2f\n", std::string(drafts).c_str(),
                    std::string(rule).c_str(), std::string(lookahead).c_str(), tally.tokens_per_round(),
                    static_cast<double>(tally.proposed) / static_cast<double>(tally.rounds), 1e3 * median(seconds),
                    median(times_plain));
    }
};

inline void silent(const specsample::Round&, const specsample::Token*) {}

class Times {
    using Index = specsample::Index;

  public:
    static constexpr Index most = 8;  ///< largest lookahead of the adaptive ones

    Times(const Pair& pair, double temperature)
        : pair_(&pair),
          temperature_(temperature),
          chain_(pair.chain(temperature, 1)),
          by_model_(costs(true)),
          by_lookup_(costs(false)) {}

    void print_costs() const {
        std::printf("\na drafted token costs %.2f target passes, and passes over 2, 3, .. positions cost",
                    by_model_.draft);
        for (std::size_t i = 1; i < by_model_.verify_curve.size(); ++i) std::printf(" %.1f", by_model_.verify_curve[i]);
        std::printf(" times one\n");
    }

    /// Runs every writer in turn, text after text, so that other load on the machine meets all of them alike.
    void print_table(const Kind& kind, const Amount& amount) {
        std::vector<Writer> writers = all_writers();
        for (std::uint64_t seed = 0; seed < amount.seeds; ++seed)
            for (std::size_t i = 0; i < amount.prompts; ++i)
                write_in_turn(writers, kind.prompts[i], seed, amount.tokens);
        std::printf("\n%s, temperature %.1f\n  %-28s %-9s %9s %9s %9s %9s %9s\n", std::string(kind.name).c_str(),
                    temperature_, "drafts", "rule", "lookahead", "per round", "drafted", "ms/token", "x plain");
        for (const Writer& writer : writers) writer.print();
        std::fflush(stdout);
    }

    /// Runs one lookahead through greedy texts of different kinds: it must fall where nothing pays, and rise again.
    void print_switches(Index tokens) {
        std::printf(
            "\none lookahead through four texts at temperature 0: mean of what it asks for, and rounds where that is "
            "0\n");
        print_switches("model", true, tokens);
        print_switches("lookup", false, tokens);
    }

  private:
    /// A lookahead that records what it asks for.
    struct Watched {
        TextLookahead length;
        Index rounds = 0, asked = 0, rests = 0;

        Index next(Index room) const { return length.next(room); }
        void record(const specsample::RoundCounts& counts) {
            ++rounds;
            asked += length.next(most);
            rests += length.next(most) == 0 ? 1 : 0;
            length.record(counts);
        }
    };

    void write_in_turn(std::vector<Writer>& writers, std::string_view prompt, std::uint64_t seed, Index tokens) {
        const TextRequest request{.prompt = pair_->tokens_of(prompt),
                                  .options = {.lookahead = 4, .seed = seed, .check = specsample::Check::entries_read},
                                  .limits = {.max_new_tokens = tokens, .stop_tokens = pair_->stop_tokens()}};
        double plain = 0;
        for (Writer& writer : writers) {
            const TextRun run = writer.write(request);
            if (run.ended == Ended::failed) throw std::runtime_error(run.error);
            const double seconds = 1 / run.tokens_per_second();
            if (plain == 0) plain = seconds;
            writer.tally += run.tally;
            writer.seconds.push_back(seconds);
            writer.times_plain.push_back(seconds / plain);
        }
    }

    /// Plain decoding comes first.
    std::vector<Writer> all_writers() {
        const auto writers = [this](bool has_model) {
            Writers result{.target = pair_->target(temperature_)};
            if (has_model) result.draft = pair_->draft(temperature_);
            return result;
        };
        const auto with = [=](auto rule, bool has_model, Index lookahead, const TextLookahead& length = {}) {
            return [=](TextRequest request) {
                request.options.lookahead = lookahead;
                request.length = length;
                return run(writers(has_model), rule, request, silent);
            };
        };
        const auto as_llama_cpp = [this, writers](bool has_model) {
            return [this, writers, has_model](const TextRequest& request) {
                Writers given = writers(has_model);
                if (has_model) given.draft = pair_->draft(0);
                return run(given, EqualityRule{&chain_}, request, silent);
            };
        };
        const specsample::TokenVerification token;
        const specsample::BlockVerification block;
        const TextLookahead as_model(by_model_), as_lookup(by_lookup_);
        return {{"none", "-", "0", with(token, false, 0)},
                {"model", "token", "4", with(token, true, 4)},
                {"model", "block", "4", with(block, true, 4)},
                {"model, its likeliest tokens", "equality", "4", as_llama_cpp(true)},
                {"model", "block", "auto", with(block, true, most, as_model)},
                {"lookup", "token", "4", with(token, false, 4)},
                {"lookup", "equality", "4", as_llama_cpp(false)},
                {"lookup", "token", "auto", with(token, false, most, as_lookup)}};
    }

    void print_switches(std::string_view drafts, bool has_model, Index tokens) {
        TextModel target = pair_->target(0), draft = pair_->draft(0);
        Watched length{TextLookahead(has_model ? by_model_ : by_lookup_)};
        std::printf("  %-8s", std::string(drafts).c_str());
        for (const std::size_t kind : {0u, 2u, 0u, 2u}) {
            length.rounds = length.asked = length.rests = 0;
            specsample::Sampler sampler(has_model ? by_model(draft) : by_lookup(), std::ref(target),
                                        {.lookahead = most, .seed = 1}, specsample::TokenVerification{},
                                        std::ref(length));
            (void)sampler.generate(pair_->tokens_of(kinds[kind].prompts[0]),
                                   {.max_new_tokens = tokens, .stop_tokens = pair_->stop_tokens()});
            std::printf("   %s %.1f, %d of %d", std::string(kinds[kind].name).c_str(),
                        static_cast<double>(length.asked) / static_cast<double>(length.rounds),
                        static_cast<int>(length.rests), static_cast<int>(length.rounds));
        }
        std::printf("\n");
    }

    PassCosts costs(bool has_model) const {
        TextModel draft = pair_->draft(temperature_);
        return measure(has_model ? &draft : nullptr, pair_->target(temperature_), pair_->tokens_of(kinds[1].prompts[1]),
                       most + 1);
    }

    const Pair* pair_;
    double temperature_;
    SamplerChain chain_;
    PassCosts by_model_, by_lookup_;
};
