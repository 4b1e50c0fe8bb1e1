// Toy grammars: brackets of two kinds, where the allowed tokens depend on the whole text before.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <specsample/shaping/grammar.hpp>

namespace toys {

using namespace specsample;
using namespace specsample::filters;

// Letters stand inside brackets only, which are closed in the order of their opening and nest twice at most. `end` may
// come between brackets, and nothing after it.
inline constexpr Token round_open = 0, round_close = 1, square_open = 2, square_close = 3, letter = 4, end = 5;
inline constexpr Index tokens = 6;

inline bool opens(Token token) { return token == round_open || token == square_open; }

/// The tokens allowed after a text, as bits, by reading it from its beginning; none if the text itself is refused.
inline std::uint32_t allowed_after(std::span<const Token> text) {
    std::vector<Token> open;
    for (std::size_t i = 0;; ++i) {
        std::uint32_t allowed = 0;
        const bool ended = i > 0 && text[i - 1] == end;
        if (open.empty() && !ended) allowed |= 1u << end;
        if (open.size() < 2 && !ended) allowed |= (1u << round_open) | (1u << square_open);
        if (!open.empty()) allowed |= (1u << letter) | (1u << (open.back() + 1));
        if (i == text.size()) return allowed;
        if (text[i] < 0 || text[i] >= tokens || (allowed >> text[i] & 1) == 0) return 0;
        if (opens(text[i])) open.push_back(text[i]);
        if (text[i] == round_close || text[i] == square_close) open.pop_back();
    }
}

/// Counts of the calls of cursors.
struct Calls {
    long accepts = 0, back = 0, rollbacks = 0, copies = 0, alive = 0;
};

/// The state of open brackets: the tokens that close them, and the mask of allowed tokens.
struct Due {
    std::vector<Token> closing{};
    bool ended = false;
    std::vector<std::uint32_t> words{0};

    const std::vector<std::uint32_t>& mask() {
        words[0] = 0;
        if (ended) return words;
        if (closing.size() < 2) words[0] |= 1u << round_open | 1u << square_open;
        words[0] |= closing.empty() ? 1u << end : 1u << letter | 1u << closing.back();
        return words;
    }
    bool allows(Token token) { return token >= 0 && token < tokens && (mask()[0] >> token & 1) != 0; }
    void take(Token token) {
        if (opens(token)) closing.push_back(token + 1);
        if (token == round_close || token == square_close) closing.pop_back();
        ended = token == end;
    }
};

/// A cursor with rollback(n), whose state copies would share.
class Rewinding {
  public:
    explicit Rewinding(Calls& calls) : calls_(&calls) {}
    Rewinding(Rewinding&&) = default;

    const std::vector<std::uint32_t>& mask() { return due_.mask(); }
    bool accept(Token token) {
        ++calls_->accepts;
        if (!due_.allows(token)) return false;
        due_.take(token);
        taken_.push_back(token);
        return true;
    }
    /// Undoes one token after the other.
    void rollback(Index n) {
        if (n < 1 || n > std::ssize(taken_)) throw std::logic_error("that many tokens cannot be taken back");
        ++calls_->rollbacks;
        for (; n > 0; --n, taken_.pop_back()) {
            ++calls_->back;
            const Token last = taken_.back();
            if (opens(last)) due_.closing.pop_back();
            if (last == round_close || last == square_close) due_.closing.push_back(last);
            due_.ended = false;
        }
    }

  private:
    Calls* calls_;
    Due due_;
    std::vector<Token> taken_;
};

/// A cursor that can be copied but not assigned, and throws on a token that it refuses: its state is then invalid.
class CloneOnly {
  public:
    explicit CloneOnly(Calls& calls) : calls_(&calls) { ++calls_->alive; }
    CloneOnly(const CloneOnly& other) : calls_(other.calls_), due_(other.due_) {
        ++calls_->copies;
        ++calls_->alive;
    }
    CloneOnly& operator=(const CloneOnly&) = delete;
    ~CloneOnly() { --calls_->alive; }

    template <class Value>
    void mask(Candidates<Value>& row) {
        keep_where(row, [&](Token id) { return due_.allows(id); });
    }
    bool accept(Token token) {
        ++calls_->accepts;
        const bool allowed = due_.allows(token);
        due_.closing.push_back(token);
        if (!allowed) return false;
        due_.closing.pop_back();
        due_.take(token);
        return true;
    }

  private:
    Calls* calls_;
    Due due_;
};

static_assert(Cursor<Rewinding> && Cursor<CloneOnly>);
static_assert(!std::copy_constructible<Rewinding> && !std::is_copy_assignable_v<CloneOnly>);

}  // namespace toys
