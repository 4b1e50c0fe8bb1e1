#pragma once

// A drafter that continues the target's states: one Llama block, in the manner of EAGLE.
//
// With h_i the target's state after token i, from which its classifier E gives token i + 1, a_i and b_i its residual
// stream after a third and two thirds of its layers, and e its embedding:
//
//     x_i = F [norm(h_i); norm(e(token i + 1))] + M [norm(a_i); norm(b_i)]
//     g_i = norm(block(x_i)),   logits of token i + 2 = E' g_i
//
// E' holds those rows of E that belong to the target's most frequent ids, and to the ids of the text that a draft
// begins behind: rare ones are mostly repeated. Other ids are not drafted. In a draft, where the target has not been,
// g_i takes the place of h_(i+1), and nothing that of a and b: M's part is left out. The block attends to the positions
// before.
//
// Li et al. 2024, "EAGLE: speculative sampling requires rethinking feature uncertainty", arXiv:2401.15077.
// Li et al. 2025, "EAGLE-3: scaling up inference acceleration of large language models via training-time test",
// arXiv:2503.01840: states of several layers.

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "engine/model.hpp"
#include "engine/trunk.hpp"

namespace engine {

class Eagle {
  public:
    /// A drafter for the model of `target`, on its team. The file is the one that models/train_drafter.py writes.
    /// Throws std::runtime_error, with the file, what is wrong and what was expected, for a file that is damaged or
    /// made for a model of another shape.
    static Eagle load(const std::filesystem::path& path, std::shared_ptr<Model> target);

    // Copies would share the memory in which the classifier grows.
    Eagle(Eagle&&) = default;
    Eagle& operator=(Eagle&&) = default;

    /// Begins a draft behind `text`: reads the target's states of it, which the target computes where it has not yet,
    /// and lets drafts have its ids. Throws std::invalid_argument for an empty text, one that is longer than context(),
    /// or a token outside the vocabulary.
    void begin(std::span<const Token> text);

    /// Logits after `prefix`, which continues the last text, of ids() alone. Valid until the next call. What an earlier
    /// call computed for the same tokens is used again. Throws std::invalid_argument for a prefix that does not
    /// continue the text, or is longer than context().
    Logits few(std::span<const Token> prefix);

    /// The same as a row as wide as the target's, -inf for ids that are not drafted.
    Logits operator()(std::span<const Token> prefix);

    /// The ids that a draft may have behind the last text, each once.
    const std::vector<Index>& ids() const { return ids_; }

    /// The softmax of the largest logit of the last call: about how often that token is right.
    double confidence() const;

    Index context() const { return weights_->config.context; }
    Index vocab() const { return weights_->config.vocab; }
    /// Read for one token of a draft.
    std::size_t weight_bytes() const { return join_.bytes() + weights_->bytes_per_pass() + classifier_.bytes(); }

  private:
    static constexpr Index middle_states = states_per_position - 1;
    using MiddleNorms = std::array<Eigen::ArrayXf, middle_states>;
    struct Parts {
        std::shared_ptr<const Weights> weights;  // of one layer, without an embedding and a classifier
        PackedMatrix join, middle;               // F and M
        Eigen::ArrayXf state_norm, token_norm;
        MiddleNorms middle_norms;
        std::vector<Index> ids;
    };
    Eagle(Parts parts, std::shared_ptr<Model> target);

    void check_length(std::size_t tokens) const;
    void list_ids(std::span<const Token> text);
    void place_input(Index row, const ConstVector& state, Token token);
    void place_middle(Index row, std::span<const Token> prefix);
    void join(Index count);
    void add_middle(Index count);

    std::shared_ptr<Model> target_;
    std::shared_ptr<const Weights> weights_;
    PackedMatrix join_, middle_;
    Eigen::ArrayXf state_norm_, token_norm_;
    MiddleNorms middle_norms_;
    std::vector<Index> ids_;  // the most frequent ones, then those of the text
    Index frequent_ids_;
    std::vector<Token> listed_{};  // the text's tokens whose ids are among them
    PackedMatrix classifier_;      // E'
    Trunk trunk_;
    Cache cache_;              // slot i: token i + 1 of the text, or of a draft
    Index text_slots_ = 0;     // those of the text come first, and have the target's states as inputs
    Eigen::ArrayXf no_state_;  // where no token comes before
    // Of the positions of a step: norm(h) and norm(e), norm(a) and norm(b), x, and M's part of it.
    RowMatrix pair_, middle_pair_, input_, middle_input_;
    RowMatrix few_logits_, logits_;  // of ids_, and of all
};

}  // namespace engine
