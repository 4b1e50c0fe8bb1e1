// Races of kernels that read one position: draws, and values of a row or a pair.
#pragma once

#include "race.hpp"
#include "textbook.hpp"

#include <cmath>
#include <vector>

namespace bench {

// The rows that a kernel reads.
inline constexpr auto target_alone = [](const auto& reader, const auto& at) { return reader(as_floats(at.target)); };
inline constexpr auto target_and_draft = [](const auto& reader, const auto& at) {
    return reader(as_floats(at.target), as_floats(at.draft));
};

/// Race two forms of a draw, after checking that they agree.
/// @param rows             pairs by position
/// @param weights          the weights that both forms draw from
/// @param ours, textbook   map a pair and a number in [0, 1) to a token
/// @param read             one of the two functions above
template <class Rows, class Ours, class Textbook, class Read>
Race race_draws(const Setting& setting, const Rows& rows, const Eigen::ArrayXd& weights, const Ours& ours,
                const Textbook& textbook, const Read& read) {
    std::vector<double> uniforms;
    for (Index i = 0; i < 16; ++i) uniforms.push_back((static_cast<double>(i) + .5) / 16);
    Race race = make_race(
        setting, 1, uniforms, [=](double u, Index position) { return ours(rows[position], u); },
        [=](double u, Index position) { return textbook(rows[position], u); },
        [=](const auto& reader, double, Index position) { return read(reader, rows[position]); });
    for (std::size_t one = 0; one < race.cases; ++one) {
        const auto token = [&](const Contestant& by) { return static_cast<Index>(by(one, 0)); };
        if (textbook::distance(weights, token(race.ours), token(race.textbook)) > textbook::rounding)
            race.refused = "the textbook's form drew another token for the same random number";
    }
    return race;
}

/// Race two functions of a pair, after checking that their values agree.
template <class Rows, class Ours, class Textbook, class Read>
Race race_values(const Setting& setting, const Rows& rows, const Ours& ours, const Textbook& textbook,
                 const Read& read) {
    Race race = make_race(
        setting, 1, std::vector{0}, [=](int, Index position) { return ours(rows[position]); },
        [=](int, Index position) { return textbook(rows[position]); },
        [=](const auto& reader, int, Index position) { return read(reader, rows[position]); });
    if (!(std::abs(race.ours(0, 0) - race.textbook(0, 0)) <= textbook::rounding))
        race.refused = "the textbook's form found another value";
    return race;
}

/// Race exponential races of target rows, after checking that their winners are right.
/// @param row    maps a row to what ours takes
/// @param logs   maps a row to logarithms of probabilities, whatever their sum
template <class RowOf, class LogsOf>
Race race_noise(const Setting& setting, const RowOf& row, const LogsOf& logs) {
    const Pool rows(setting);
    std::vector<specsample::Rng> noise;
    for (Index i = 0; i < 16; ++i)
        noise.emplace_back(specsample::Address{.seed = 42, .position = i, .purpose = specsample::Purpose::race});
    Race race = make_race(
        setting, 1, noise,
        [=](const specsample::Rng& rng, Index at) { return specsample::race(rng, row(rows[at].target)); },
        [=](const specsample::Rng& rng, Index at) { return textbook::gumbel(logs(rows[at].target), rng); },
        [=](const auto& reader, const specsample::Rng&, Index at) { return target_alone(reader, rows[at]); });
    for (std::size_t one = 0; one < race.cases; ++one)
        if (static_cast<Index>(race.ours(one, 0)) != textbook::race(rows.contents().target, noise[one]))
            race.refused = "the race has another winner than when every time is taken";
    return race;
}

}  // namespace bench
