// Moves a cursor (concepts.hpp) from one text to any other, undoing only what the two do not share.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/shaping/mask.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

template <class C>
bool accepts(C& cursor, Token token) {
    if constexpr (std::is_void_v<decltype(cursor.accept(token))>) {
        cursor.accept(token);
        return true;
    } else {
        return cursor.accept(token);
    }
}

/// Moves a cursor that has rollback(n).
template <class C>
class Rewound {
  public:
    explicit Rewound(C cursor) : cursor_(std::move(cursor)) {}

    C& cursor() { return cursor_; }
    Index length() const { return length_; }

    bool forward(Token token) {
        if (!accepts(cursor_, token)) return false;
        ++length_;
        return true;
    }
    void back(Index length) {
        cursor_.rollback(length_ - length);
        length_ = length;
    }

  private:
    C cursor_;
    Index length_ = 0;
};

/// Moves a cursor that can only be copied, with copies along its way: after each of the last 8 tokens, and after fewer
/// of the older ones. The copy after m tokens stays for as many tokens as 8 times the largest power of 2 that divides
/// m. So going back by d <= 7 tokens finds a copy at that place, and going back further finds a copy less than 2 d / 7
/// tokens before the place. There are about 5 copies per binary digit of the length.
///
/// Only copies are moved. A copy that refuses a token, or throws, is dropped, so its state no longer matters.
template <class C>
class Copied {
  public:
    explicit Copied(C cursor) { copies_.emplace_back(0, std::move(cursor)); }

    C& cursor() { return copies_.back().cursor; }
    Index length() const { return copies_.back().length; }

    bool forward(Token token) {
        std::list<Copy> next;
        next.emplace_back(length() + 1, std::as_const(copies_.back().cursor));
        if (!accepts(next.back().cursor, token)) return false;
        copies_.splice(copies_.end(), next);
        copies_.remove_if([now = length()](const Copy& copy) { return now - copy.length > lifetime(copy.length); });
        return true;
    }
    /// Go back to `length`, or to the last copy before it.
    void back(Index length) {
        while (copies_.back().length > length) copies_.pop_back();
    }

  private:
    struct Copy {
        template <class From>
        Copy(Index after, From&& from) : length(after), cursor(std::forward<From>(from)) {}

        Index length;
        C cursor;
    };

    static Index lifetime(Index length) { return length == 0 ? whole_text : 8 * (length & -length); }
    static constexpr Index whole_text = std::numeric_limits<Index>::max();

    std::list<Copy> copies_;  ///< by length, never empty: the first has length 0, the last is the current cursor
};

/// Moves a cursor between texts that come in any order.
template <class C>
class Trail {
  public:
    explicit Trail(C cursor) : way_(std::move(cursor)) {}

    /// Move the cursor to the end of a text and return it; null if it refuses one of the tokens.
    /// @cost   a comparison with the last text, rollback or copies for the tokens that only the last text has, and
    ///         accept for the tokens that only this text has
    C* after(std::span<const Token> text) {
        if (taken_.capacity() < text.size()) taken_.reserve(2 * text.size());
        const auto parted = std::mismatch(taken_.begin(), taken_.end(), text.begin(), text.end()).first;
        if (parted != taken_.end()) way_.back(parted - taken_.begin());
        taken_.resize(static_cast<std::size_t>(way_.length()));
        for (const Token token : text.subspan(taken_.size())) {
            if (!way_.forward(token)) return nullptr;
            taken_.push_back(token);
        }
        return &way_.cursor();
    }

  private:
    std::conditional_t<RollsBack<C>, Rewound<C>, Copied<C>> way_;
    std::vector<Token> taken_;  ///< the tokens that the cursor has accepted
};

}}}  // namespace specsample::detail
