// Over the rounds of the real pair, accepted drafts and the overlaps of their rows balance: the difference is a
// martingale, whatever the texts are.
#include <cmath>

#include <specsample/theory.hpp>

#include "pair/pair.hpp"
#include "support/catch.hpp"

namespace {

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::theory;

/// A model that keeps the rows of its calls.
struct Recorded {
    LanguageModel model;
    std::vector<Eigen::VectorXf> rows = {};

    Eigen::VectorXf operator()(std::span<const Token> prefix) { return rows.emplace_back(model(prefix)); }
    std::vector<Eigen::VectorXf> operator()(std::span<const Token> prefix, Index n) { return rows = model(prefix, n); }
};

struct OneModel {
    Recorded& recorded;
    Eigen::VectorXf operator()(std::span<const Token> prefix) const { return recorded(prefix); }
};

}  // namespace

TEST_CASE("accepted minus the sum of overlaps has mean 0 over 20000 rounds at temperature 1") {
    Recorded draft{LanguageModel(pair::draft(), 1, 1)}, target{LanguageModel(pair::target(), 1, 1)};
    Sampler sampler(OneModel{draft}, std::ref(target), {.lookahead = 4, .seed = 1});

    double sum = 0, squares = 0;
    Tally tally;
    for (std::uint64_t request = 0; tally.rounds < 20000; ++request) {
        std::vector<Token> text = pair::encode(pair::prompts[request % pair::prompts.size()]);
        while (text.size() < 250) {
            draft.rows.clear();
            const Round round = sampler.step(text, {.max_length = 256, .request = request});
            double difference = static_cast<double>(round.accepted);
            for (Index i = 0; i < round.evaluated; ++i) {
                const auto at = static_cast<std::size_t>(i);
                difference -= overlap(draft.rows[at], target.rows[at]);
            }
            sum += difference;
            squares += difference * difference;
            tally.record(round.counts());
            text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        }
    }
    const double rounds = static_cast<double>(tally.rounds);
    const double error = std::sqrt(squares) / rounds;
    WARN(tally.rounds << " rounds: mean difference " << sum / rounds << ", standard error " << error << "; acceptance "
                      << tally.acceptance().value << ", tokens per target pass " << tally.tokens_per_pass()
                      << ", the i.i.d. formula has " << expected_tokens(tally.acceptance().value, 4));
    CHECK(std::abs(sum / rounds) <= 4 * error);
    CHECK(error < 0.01);  // small enough to see a rule that is off by a hundredth
    CHECK(tally.acceptance().value > 0.5);
}
