// Your own models: callables with a cache, rolled back when the sampler's prefix does not extend what it holds.
// Prints
//   0 9 8 6 6 0 6 10 3 2 3 4 0 0 9 9 0 1 7 11
//   20 tokens; 5 target passes, 18 draft passes, 4.00 tokens per target pass
#include <cstdio>

#include <specsample/specsample.hpp>

using specsample::Index;
using specsample::Token;

/// A model with a state per position, as a transformer has keys and values: here a running sum of the tokens. It
/// computes only the positions that its cache lacks.
class CachedModel {
  public:
    CachedModel(Index vocab, float sharpness) : vocab_(vocab), sharpness_(sharpness) {}

    /// The next token's probabilities.
    Eigen::VectorXf operator()(std::span<const Token> prefix) {
        feed(prefix);
        return row(prefix.size());
    }

    /// The probabilities after each of the last n prefixes, in one pass: this is why speculation pays.
    specsample::RowMajorMatrix<float> operator()(std::span<const Token> prefix, Index n) {
        feed(prefix);
        specsample::RowMajorMatrix<float> rows(n, vocab_);
        for (Index i = 0; i < n; ++i)
            rows.row(i) = row(prefix.size() - static_cast<std::size_t>(n - 1 - i)).transpose();
        return rows;
    }

    /// Drop the positions from `length` on. Called before a prefix that differs from there on.
    void rollback(Index length) { sums_.resize(static_cast<std::size_t>(length) + 1); }

    Index passes = 0;

  private:
    void feed(std::span<const Token> prefix) {
        while (sums_.size() <= prefix.size()) sums_.push_back(sums_.back() * 5 + prefix[sums_.size() - 1]);
        ++passes;
    }

    Eigen::VectorXf row(std::size_t position) const {
        Eigen::VectorXf logits(vocab_);
        for (Index id = 0; id < vocab_; ++id) {
            const auto phase = static_cast<float>((sums_[position] + id * 7) % 11);
            logits[id] = sharpness_ * phase / 11;
        }
        return specsample::kernels::softmax(logits, 0.8);
    }

    Index vocab_;
    float sharpness_;
    std::vector<Index> sums_{1};  // one more than the tokens seen
};

int main() {
    CachedModel draft(12, 2), target(12, 3);
    specsample::Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = 4, .seed = 7});

    std::vector<Token> text{1, 2, 3};  // grows in place, and keeps what was written if a model throws
    const auto print = [](Token token) { std::printf("%d ", token); };
    (void)sampler.extend(text, {.max_new_tokens = 40, .stop_tokens = {11}}, print);
    std::printf("\n%zu tokens; %d target passes, %d draft passes, %.2f tokens per target pass\n", text.size() - 3,
                static_cast<int>(target.passes), static_cast<int>(draft.passes), sampler.tally().tokens_per_pass());
}
