// What lookup offers to a draft tree, and how often it was right.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include <specsample/drafters.hpp>

/// The tokens that followed the text's last ones where these occurred before. Whether they are right shows in what is
/// written next, drafted or not; the more of them in a row were right, the more will be.
class LookupOffer {
  public:
    explicit LookupOffer(specsample::LookupDrafter lookup) : lookup_(std::move(lookup)) {}

    /// Called before every round of one text. `most`: tokens offered at most.
    void begin(std::span<const specsample::Token> text, specsample::Index most) {
        learn(text);
        draft_.open(most, {}, std::numeric_limits<specsample::Token>::max());
        lookup_.propose(text, specsample::RoundRng(0, 0, 0), draft_);  // it draws nothing
        start_ = text.size();
    }

    std::span<const specsample::Token> tokens() const { return draft_.tokens(); }

    /// How often an offered token is right if the `i` before it are.
    double probability(specsample::Index i) const { return shares_[place(right_in_a_row_ + i)].value(); }

    void rollback(specsample::Index length) { lookup_.rollback(length); }

  private:
    /// A share of what was counted, of which about the last thirty count, and a guess before them.
    struct Share {
        double right, all = 2;

        double value() const { return right / all; }
        void count(bool is_right) {
            right = memory * right + is_right;
            all = memory * all + 1;
        }
        static constexpr double memory = .97;
    };

    /// Of the shares: after none, 1 or 2, 3 to 7, and more that were right in a row.
    static std::size_t place(specsample::Index right_in_a_row) {
        return right_in_a_row == 0 ? 0 : right_in_a_row < 3 ? 1 : right_in_a_row < 8 ? 2 : 3;
    }

    void learn(std::span<const specsample::Token> text) {
        const auto offered = tokens();
        if (offered.empty()) right_in_a_row_ = 0;
        for (std::size_t i = 0; i < offered.size() && start_ + i < text.size(); ++i) {
            const bool is_right = offered[i] == text[start_ + i];
            shares_[place(right_in_a_row_)].count(is_right);
            right_in_a_row_ = is_right ? right_in_a_row_ + 1 : 0;
            if (!is_right) return;
        }
    }

    specsample::LookupDrafter lookup_;
    specsample::DraftTree<specsample::PointMass> draft_{};
    std::size_t start_ = 0;  // tokens of the text behind which it was offered
    specsample::Index right_in_a_row_ = 0;
    std::array<Share, 4> shares_{{{.8}, {1.4}, {1.7}, {1.9}}};
};
