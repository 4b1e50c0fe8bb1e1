// Tallies as metrics in the Prometheus text exposition format 0.0.4.
//
//   to_prometheus(tally, labels, prefix)   one tally
//   to_prometheus(tallies, prefix)         several, each with its own labels, as one exposition
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specsample/metrics/report.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace metrics {

/// A label of all samples of a tally, {model="large"}. The value may be any UTF-8 text; it is escaped.
struct Label {
    std::string name;
    std::string value;
};

/// A tally and the labels that distinguish it from others. The tally is a copy, so that no round changes it during the
/// export.
struct LabelledTally {
    Tally tally;
    std::vector<Label> labels{};
};

}  // namespace metrics

namespace detail {

/// Tell whether a name has the format's form [a-zA-Z_][a-zA-Z0-9_]*. With `colons`, ':' counts as a letter.
constexpr bool is_metric_name(std::string_view name, bool colons) {
    const auto is_letter = [colons](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colons && c == ':');
    };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (name.empty() || !is_letter(name.front())) return false;
    return std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_digit(c); });
}

inline void check_labels(const std::vector<metrics::Label>& labels) {
    constexpr auto where = "to_prometheus";
    for (auto label = labels.begin(); label != labels.end(); ++label) {
        require(is_metric_name(label->name, false) && !label->name.starts_with("__"), where, "a label's name",
                label->name, "of letters, digits and _, not beginning with a digit or __");
        require(label->name != "position" && label->name != "cause", where, "a label's name", label->name,
                "another than position and cause, which this exposition uses itself");
        require(
            std::none_of(labels.begin(), label, [&](const metrics::Label& other) { return other.name == label->name; }),
            where, "a label's name", label->name, "given once");
    }
}

/// Escape backslash, quote and line feed in a label's value, as the format requires.
inline std::string escaped(std::string_view value) {
    std::string text;
    for (const char c : value) {
        if (c == '\\' || c == '"') text += '\\';
        text += c == '\n' ? std::string_view("\\n") : std::string_view(&c, 1);
    }
    return text;
}

/// Writes metrics one after another. The format wants all lines of one metric together, so tallies are the inner loop.
class PrometheusWriter {
  public:
    explicit PrometheusWriter(std::string_view prefix) : prefix_(prefix) {}

    /// Begin a metric.
    void metric(std::string_view name, std::string_view type, std::string_view help) {
        name_ = prefix_ + "_" + std::string(name);
        text_.append("# HELP ").append(name_).append(" ").append(help).append(".\n");
        text_.append("# TYPE ").append(name_).append(" ").append(type).append("\n");
    }

    /// Write a sample of the metric.
    /// @param own   one label (position or cause) after the tally's own; left out if its name is empty
    template <class Number>
    void sample(const metrics::LabelledTally& of, Number value, const metrics::Label& own = {}) {
        text_ += name_;
        char before = '{';
        const auto write = [&](const metrics::Label& label) {
            text_ += before;
            text_.append(label.name).append("=\"").append(escaped(label.value)).append("\"");
            before = ',';
        };
        for (const metrics::Label& label : of.labels) write(label);
        if (!own.name.empty()) write(own);
        if (before == ',') text_ += '}';
        text_.append(" ").append(shortest(value)).append("\n");
    }

    std::string text() && { return std::move(text_); }

  private:
    std::string prefix_;
    std::string name_;
    std::string text_;
};

/// Call f(position, counts, label) for every position of a tally.
template <class F>
void for_positions(const Tally& tally, F&& f) {
    for (Index i = 0; i < std::ssize(tally.positions); ++i) {
        const std::string position = shortest(i);
        f(i, tally.positions[static_cast<std::size_t>(i)], metrics::Label{"position", position});
    }
}

/// One of the three numbers of an estimate; each number is a metric of its own.
struct Bound {
    std::string_view suffix;
    std::string_view description;
    double metrics::Estimate::*value;
};
inline constexpr std::array<Bound, 3> estimate_bounds{
    {{"", "", &metrics::Estimate::value},
     {"_low", ", lower end of the 95 % interval", &metrics::Estimate::low},
     {"_high", ", upper end of the 95 % interval", &metrics::Estimate::high}}};

}  // namespace detail

namespace metrics {

/// Write tallies as one exposition in Prometheus' text format 0.0.4 (Content-Type: text/plain; version=0.0.4).
///
///     specsample_rounds_total{model="large"} 12                         every counter of Tally
///     specsample_position_evaluated_total{model="large",position="0"} 12
///     specsample_faults_total{model="large",cause="not_finite"} 0       every cause
///     specsample_tokens_per_round, specsample_tokens_per_pass,
///     specsample_acceptance, specsample_position_acceptance             gauges
///
/// An acceptance comes with its 95 % interval, as metrics ending in _low and _high. Gauges cover all rounds of the
/// tally; for a window, divide rates: rate(specsample_accepted_total[5m]) / rate(specsample_evaluated_total[5m]).
/// Prometheus stores counters as doubles, which are exact up to 2^53.
///
/// @param tallies   no two with the same labels
/// @param prefix    the beginning of every metric's name
/// @throws          std::invalid_argument for a prefix or a label that the format does not allow, for a label given
///                  twice, and for one named position or cause
/// @edge            a rate for which nothing was counted has no sample
/// @source          https://prometheus.io/docs/instrumenting/exposition_formats/
[[nodiscard]] inline std::string to_prometheus(std::span<const LabelledTally> tallies,
                                               std::string_view prefix = "specsample") {
    detail::require(detail::is_metric_name(prefix, true), "to_prometheus", "prefix", prefix,
                    "of letters, digits, _ and :, not beginning with a digit");
    for (const LabelledTally& of : tallies) detail::check_labels(of.labels);
    detail::PrometheusWriter writer(prefix);
    for (const auto& counter : detail::tally_counters) {
        writer.metric(std::string(counter.key) + "_total", "counter", counter.description);
        for (const LabelledTally& of : tallies) writer.sample(of, of.tally.*counter.count);
    }
    for (const auto& counter : detail::position_counters) {
        writer.metric("position_" + std::string(counter.key) + "_total", "counter", counter.description);
        for (const LabelledTally& of : tallies)
            detail::for_positions(of.tally, [&](Index, const PositionCounts& at, const Label& position) {
                writer.sample(of, at.*counter.count, position);
            });
    }
    writer.metric("faults_total", "counter", "Rounds that met bad data");
    for (const LabelledTally& of : tallies)
        for (std::size_t i = 0; i < cause_count; ++i)
            writer.sample(of, of.tally.faults[i], {"cause", std::string(name_of(static_cast<Cause>(i)))});
    writer.metric("tokens_per_round", "gauge", "Tokens emitted per round");
    for (const LabelledTally& of : tallies)
        if (of.tally.rounds > 0) writer.sample(of, of.tally.tokens_per_round());
    writer.metric("tokens_per_pass", "gauge", "Tokens emitted per target pass");
    for (const LabelledTally& of : tallies)
        if (of.tally.rounds > 0) writer.sample(of, of.tally.tokens_per_pass());
    for (const auto& bound : detail::estimate_bounds) {
        writer.metric("acceptance" + std::string(bound.suffix), "gauge",
                      "Accepted over evaluated" + std::string(bound.description));
        for (const LabelledTally& of : tallies)
            if (of.tally.evaluated > 0) writer.sample(of, of.tally.acceptance().*bound.value);
    }
    for (const auto& bound : detail::estimate_bounds) {
        writer.metric("position_acceptance" + std::string(bound.suffix), "gauge",
                      "Accepted over evaluated at this position" + std::string(bound.description));
        for (const LabelledTally& of : tallies)
            detail::for_positions(of.tally, [&](Index i, const PositionCounts& at, const Label& position) {
                if (at.evaluated > 0) writer.sample(of, of.tally.acceptance_at(i).*bound.value, position);
            });
    }
    return std::move(writer).text();
}

/// Write one tally as an exposition: to_prometheus(tally, {{"model", "large"}}). Everything else is as for several
/// tallies.
[[nodiscard]] inline std::string to_prometheus(const Tally& tally, const std::vector<Label>& labels = {},
                                               std::string_view prefix = "specsample") {
    const LabelledTally of{tally, labels};
    return to_prometheus(std::span(&of, 1), prefix);
}

}  // namespace metrics

}}  // namespace specsample
