// A tally as text, for people and for programs: pure functions that give the same bytes under every locale.
//
//   report(tally)    a table of some lines
//   to_json(tally)   one line of JSON
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <specsample/core/tally.hpp>
#include <specsample/metrics/names.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// A counter of some struct: its key in every format, a sentence that describes it, and the member.
template <class Of>
struct Counter {
    std::string_view key;
    std::string_view description;
    Index Of::*count;
};

inline constexpr std::array<Counter<Tally>, 11> tally_counters{
    {{"rounds", "Verifications", &Tally::rounds},
     {"proposed", "Drafted tokens shown to verification", &Tally::proposed},
     {"evaluated", "Positions decided: accepted or rejected", &Tally::evaluated},
     {"accepted", "Drafted tokens emitted", &Tally::accepted},
     {metrics::name_of(LastToken::recovered), "Rounds whose last token was drawn from a residual", &Tally::recovered},
     {metrics::name_of(LastToken::bonus), "Rounds whose last token came after a full acceptance", &Tally::bonus},
     {metrics::name_of(LastToken::matched), "Rounds whose last token was the target's own choice", &Tally::matched},
     {metrics::name_of(LastToken::stopped), "Rounds without a last token", &Tally::stopped},
     {"tokens", "Tokens emitted", &Tally::tokens},
     {"discarded", "Tokens decided and then cut, as the text ended before them", &Tally::discarded},
     {"passes", "Target passes", &Tally::passes}}};

inline constexpr std::array<Counter<metrics::PositionCounts>, 3> position_counters{
    {{"evaluated", "Rounds that decided this position", &metrics::PositionCounts::evaluated},
     {"accepted", "Rounds that accepted this position", &metrics::PositionCounts::accepted},
     {"censored", "Rounds that were cut before they decided this position", &metrics::PositionCounts::censored}}};

/// Write a number as the shortest text that reads back as the same number.
template <class Number>
std::string shortest(Number value) {
    char buffer[32];
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

/// Write a rate with three decimals.
inline std::string decimals(double value) {
    char buffer[32];
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, 3).ptr};
}

inline std::string with_interval(const metrics::Estimate& rate) {
    return decimals(rate.value) + " [" + decimals(rate.low) + ", " + decimals(rate.high) + "]";
}

/// Pad a text with spaces to `width`, on its left (right-aligned) or on its right (left-aligned).
inline std::string right(std::string_view text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ').append(text);
}
inline std::string left(std::string_view text, std::size_t width) {
    return std::string(text).append(width - std::min(width, text.size()), ' ');
}

/// Writes JSON and places the commas.
class JsonWriter {
  public:
    void open(char bracket) {
        text_ += bracket;
        is_first_ = true;
    }
    void close(char bracket) {
        text_ += bracket;
        is_first_ = false;
    }
    /// @param name   letters and underscores only, so that nothing needs escaping
    JsonWriter& key(std::string_view name) {
        item();
        text_.append("\"").append(name).append("\":");
        return *this;
    }
    void item() {
        if (!is_first_) text_ += ',';
        is_first_ = false;
    }
    template <class Number>
    void number(Number value) {
        text_ += shortest(value);
    }
    void null() { text_ += "null"; }

    /// Write a rate, or null if nothing was counted for it.
    void rate(const metrics::Estimate& rate, bool is_known) {
        if (!is_known) return null();
        open('{');
        key("value").number(rate.value);
        key("low").number(rate.low);
        key("high").number(rate.high);
        close('}');
    }

    std::string text() && { return std::move(text_); }

  private:
    std::string text_;
    bool is_first_ = true;
};

}  // namespace detail

namespace metrics {

/// Write a tally as a table for people: counters with their rates, one line per position, and the faults if any.
/// Intervals are the 95 % intervals of `Tally::acceptance`.
/// @edge   a rate for which nothing was counted is "-"
[[nodiscard]] inline std::string report(const Tally& tally) {
    const auto rate = [&](std::string_view key) -> std::string {
        if (key == "tokens" && tally.rounds > 0)
            return "  " + detail::decimals(tally.tokens_per_round()) + " per round";
        if (key == "passes" && tally.rounds > 0)
            return "  " + detail::decimals(tally.tokens_per_pass()) + " tokens per pass";
        if (key == "accepted" && tally.evaluated > 0)
            return "  " + detail::with_interval(tally.acceptance()) + " of evaluated";
        return {};
    };
    std::string text;
    for (const auto& counter : detail::tally_counters)
        text += detail::left(counter.key, 10) + detail::right(detail::shortest(tally.*counter.count), 12) +
                rate(counter.key) + "\n";
    if (!tally.positions.empty()) text += "\nposition   evaluated    accepted    censored  accepted / evaluated\n";
    for (Index i = 0; i < std::ssize(tally.positions); ++i) {
        const PositionCounts& at = tally.positions[static_cast<std::size_t>(i)];
        text += detail::right(detail::shortest(i), 8);
        for (const auto& counter : detail::position_counters)
            text += detail::right(detail::shortest(at.*counter.count), 12);
        text += "  " + (at.evaluated > 0 ? detail::with_interval(tally.acceptance_at(i)) : "-") + "\n";
    }
    if (tally.faulty_rounds() > 0) text += "\nfaults\n";
    for (std::size_t i = 0; i < cause_count; ++i)
        if (tally.faults[i] > 0)
            text += detail::left(name_of(static_cast<Cause>(i)), 18) +
                    detail::right(detail::shortest(tally.faults[i]), 4) + "\n";
    return text;
}

/// Write a tally as one JSON object, without spaces or line breaks.
///
///     {"rounds":3, .., "passes":3,                        counters, by the names of Tally
///      "tokens_per_round":2.5,"tokens_per_pass":2.5,
///      "acceptance":{"value":0.75,"low":0.5,"high":0.9},  ratio of sums, 95 % interval
///      "positions":[{"evaluated":3,"accepted":2,"censored":0,"acceptance":{..}}, ..],
///      "faults":{"wrong_count":0, ..}}                    every cause, by name_of
///
/// Every key is always present. To merge tallies, add up their counters; rates cannot be merged.
/// @edge   a rate for which nothing was counted is null
[[nodiscard]] inline std::string to_json(const Tally& tally) {
    detail::JsonWriter json;
    json.open('{');
    for (const auto& counter : detail::tally_counters) json.key(counter.key).number(tally.*counter.count);
    json.key("tokens_per_round");
    tally.rounds > 0 ? json.number(tally.tokens_per_round()) : json.null();
    json.key("tokens_per_pass");
    tally.rounds > 0 ? json.number(tally.tokens_per_pass()) : json.null();
    json.key("acceptance").rate(tally.acceptance(), tally.evaluated > 0);
    json.key("positions").open('[');
    for (Index i = 0; i < std::ssize(tally.positions); ++i) {
        const PositionCounts& at = tally.positions[static_cast<std::size_t>(i)];
        json.item();
        json.open('{');
        for (const auto& counter : detail::position_counters) json.key(counter.key).number(at.*counter.count);
        json.key("acceptance").rate(tally.acceptance_at(i), at.evaluated > 0);
        json.close('}');
    }
    json.close(']');
    json.key("faults").open('{');
    for (std::size_t i = 0; i < cause_count; ++i) json.key(name_of(static_cast<Cause>(i))).number(tally.faults[i]);
    json.close('}');
    json.close('}');
    return std::move(json).text();
}

}  // namespace metrics

}}  // namespace specsample
