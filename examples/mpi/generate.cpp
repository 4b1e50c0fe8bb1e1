// Writes texts with a target model whose head is split over the ranks of MPI, and checks that they are those of the
// whole model: ./examples/mpi/run
//
// This is tensor parallelism of the head alone. Every rank computes the same hidden states with a copy of the target's
// body, and of the logits those of its own ids, for which it needs these rows of the head only. The draft model is
// small, and runs whole on every rank. No row of the target is gathered: the ranks exchange what a round's rule reads
// of its rows, and each goes on with the same tokens.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <specsample/shaping.hpp>

#include "engine/model.hpp"
#include "engine/slice.hpp"
#include "engine/tokenizer.hpp"
#include "mpi/arguments.hpp"
#include "mpi/communicator.hpp"
#include "mpi/measure.hpp"

namespace {

using namespace specsample;
using View = std::span<const float>;

/// A model that makes its rows of the engine's logits by as_row(view).
template <class AsRow>
auto rows_of(engine::Model& model, AsRow as_row) {
    return [&model, as_row](std::span<const Token> prefix, Index n) {
        const engine::Logits logits = model.score(prefix, n);
        std::vector<decltype(as_row(View()))> rows;
        for (Index i = 0; i < n; ++i)
            rows.push_back(as_row(View(logits.data() + i * logits.cols(), static_cast<std::size_t>(logits.cols()))));
        return rows;
    };
}

/// A text, and what it took to write it.
struct Text {
    std::vector<Token> tokens;
    Index rounds;
    double seconds;
};

/// Writes the same text with all rules: by slices, and whole.
class Writer {
  public:
    Writer(const mpi::Arguments& arguments, MpiRanks& mpi)
        : ranks_(mpi),
          weights_(engine::Weights::load(shipped("target_1.8M_int8.bin"))),
          slice_(shard::even_slice(weights_->config.vocab, mpi.rank(), mpi.size())),
          whole_(weights_),
          sliced_(engine::sliced(*weights_, slice_.first, slice_.count)),
          draft_(engine::Model::load(shipped("draft_230K_kd_int8.bin"))),
          tokenizer_(engine::Tokenizer::load(shipped("bpe2048.merges.u16"), whole_.vocab())),
          options_{.lookahead = arguments.lookahead, .seed = arguments.seed},
          limits_{.max_new_tokens = arguments.max_tokens,
                  .max_length = std::min(whole_.context(), draft_.context()),
                  .stop_tokens = {tokenizer_.end()}} {
        prompt_ = tokenizer_.encode(arguments.prompt);
        prompt_.insert(prompt_.begin(), tokenizer_.begin());
        for (engine::Model* model : {&whole_, &sliced_, &draft_}) model->score(prompt_, 1);  // so that none is timed
    }

    /// Write with one rule, and print a line about it. `shape` changes both models.
    /// @returns   whether the text of the slices is that of the whole model
    template <class Rule, class Shape>
    bool compare(const char* name, Rule rule, double temperature, Shape shape) {
        const auto logits = [=](View row) { return Logits(row, temperature); };
        const auto slice = [=, this](View row) {
            return shard::Sharded(logits(row), slice_.first, sliced_.vocab(), ranks_);
        };
        const auto draft = shape([=, this](std::span<const Token> prefix) {
            return logits(View(draft_.score(prefix, 1).data(), static_cast<std::size_t>(draft_.vocab())));
        });
        const Text expected = write(draft, shape(rows_of(whole_, logits)), rule);
        const shard::Traffic before = ranks_.traffic();
        const Text text = write(draft, shape(rows_of(sliced_, slice)), rule);
        if (first_text_.empty()) first_text_ = text.tokens;
        if (ranks_.rank() == 0) print(name, text, expected, before);
        return text.tokens == expected.tokens;
    }

    void print_header() const {
        std::printf(
            "%td ids on %td ranks. Per round: exchanges; bytes that rank 0 sends, that all ranks send, and that\n"
            "gathering its rows would take; milliseconds, and those of the whole model on every rank.\n\n"
            "rule             tokens  rounds  exchanges    sent   by all    rows     ms  whole ms\n",
            whole_.vocab(), ranks_.size());
    }
    void print_first_text() const {
        std::printf("\nBy the first rule:");
        Token previous = tokenizer_.begin();
        for (const auto* part : {&prompt_, &first_text_})
            for (const Token token : *part) {
                if (token != tokenizer_.begin())
                    std::fputs(std::string(tokenizer_.decode(previous, token)).c_str(), stdout);
                previous = token;
            }
        std::puts("");
    }

  private:
    template <class Draft, class Target, class Rule>
    Text write(Draft draft, Target target, Rule rule) {
        Sampler sampler(draft, target, options_, rule);
        const Stopwatch watch;
        const Generation made = sampler.generate(prompt_, limits_);
        return {made.tokens, made.tally.rounds, watch.seconds()};
    }

    void print(const char* name, const Text& text, const Text& expected, const shard::Traffic& before) const {
        const shard::Traffic& after = ranks_.traffic();
        const auto rounds = static_cast<double>(text.rounds);
        const auto per_round = [&](Index number) { return static_cast<double>(number) / rounds; };
        const Index sent = after.sent - before.sent;
        std::printf("%-15s %7zu %7td %10.2f %7.0f %8.0f %7td %6.2f %9.2f%s\n", name, text.tokens.size(), text.rounds,
                    per_round(after.exchanges - before.exchanges), per_round(sent),
                    per_round(sent + after.received - before.received), whole_.vocab() * 4 * (options_.lookahead + 1),
                    1e3 * text.seconds / rounds, 1e3 * expected.seconds / static_cast<double>(expected.rounds),
                    text.tokens == expected.tokens ? "" : "  ANOTHER TEXT");
    }

    shard::Ranks ranks_;
    std::shared_ptr<const engine::Weights> weights_;
    shard::SliceBounds slice_;
    engine::Model whole_, sliced_, draft_;
    engine::Tokenizer tokenizer_;
    Options options_;
    Limits limits_;
    std::vector<Token> prompt_, first_text_;
};

/// @returns   whether all texts were right
bool generate(const mpi::Arguments& arguments, MpiRanks& mpi) {
    Writer writer(arguments, mpi);
    if (mpi.rank() == 0) writer.print_header();
    const auto as_is = [](auto model) { return model; };
    const auto top_k = [](auto model) { return shaped(model, SamplingParams{.temperature = .8, .top_k = 40}); };
    bool same = writer.compare("token", TokenVerification(), .8, as_is);
    same &= writer.compare("block", BlockVerification(), .8, as_is);
    same &= writer.compare("sample match", SampleMatch(), .8, as_is);
    same &= writer.compare("gumbel match", GumbelMatch(), .8, as_is);
    same &= writer.compare("token, top_k 40", TokenVerification(), 1, top_k);
    if (mpi.rank() == 0) writer.print_first_text();
    return same;
}

/// What main does on every rank.
int run(std::span<char*> words, MpiRanks& mpi) {
    mpi::Arguments arguments;
    try {
        arguments = mpi::parse(words);
    } catch (const std::invalid_argument& error) {  // on every rank
        if (mpi.rank() == 0) std::fprintf(stderr, "generate_mpi: %s\n", error.what());
        return 2;
    }
    if (arguments.help) {
        if (mpi.rank() == 0) std::fputs(mpi::usage.data(), stdout);
        return EXIT_SUCCESS;
    }
    if (!arguments.measure) return generate(arguments, mpi) ? EXIT_SUCCESS : EXIT_FAILURE;
    mpi::measure(mpi);
    return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = EXIT_FAILURE;
    try {
        MpiRanks mpi(MPI_COMM_WORLD);
        status = run({argv + 1, argv + argc}, mpi);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "generate_mpi: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 2);  // the other ranks may be waiting for this one
    }
    MPI_Finalize();
    return status;
}
