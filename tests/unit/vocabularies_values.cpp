// Maps of ids over rows that are values: the numbers that rows of types have, to the bit.
#include <specsample/vocabularies/mapped.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include <specsample/sampler.hpp>
#include <specsample/sampler_values.hpp>
#include <specsample/shaping/shaped.hpp>
#include <specsample/testing/models.hpp>

#include "support/catch.hpp"
#include "support/value_model.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::vocabularies;
using namespace specsample::kernels;
using specsample::testing::ContextModel;
using value_model::Values;

namespace {

const std::vector<std::vector<int>> image_lists{{0, 1, 2, 3, 4, 5}, {0, 2, 4, 5, 6, 8},   {4, -1, 1, 4, 0, -1},
                                                {5, 4, 3, 2, 1, 0}, {3, -1, 0, -1, 2, 7}, {0, 0, 1, 1, 2, 2}};

/// Check that a value behind each map has the ids, numbers and faults that the same row as a type has.
template <RowLike R>
void check_as(const Row& value, const R& typed) {
    for (const auto& images : image_lists)
        for (const Index target_vocab : {9, 12}) {
            const IdMap map(images, target_vocab);
            filters::ShapedMemory<Row> memory;
            filters::ShapedMemory<detail::ShapedValue<R>> typed_memory;
            const auto expected = push_forward(map, typed, typed_memory);
            const Row found = push_forward(map, value, memory);
            REQUIRE(found.size() == target_vocab);
            REQUIRE(found.are_logits() == detail::form_of<R>.logits);
            detail::with_row(found, [&](const auto& row) {
                REQUIRE(row.ids().size(target_vocab) == expected.ids().size(target_vocab));
                const auto bad = inspect(expected, Side::draft, 0), same = inspect(found, Side::draft, 0);
                REQUIRE(bool(bad) == bool(same));
                if (bad) CHECK(std::pair(int(bad->cause), bad->id) == std::pair(int(same->cause), same->id));
                for (Index id = 0; id < (bad ? 0 : target_vocab); ++id)
                    CHECK(row.probs().coeff(id) == expected.probs().coeff(id));
            });
            const double mass = mapped_mass(map, typed), same_mass = mapped_mass(map, value);
            CHECK((same_mass == mass || (std::isnan(mass) && std::isnan(same_mass))));
        }
}

}  // namespace

TEST_CASE("rows that are values are mapped as rows that are types", "[shaping]") {
    const std::vector<double> probs{.25, .25, .125, .125, .125, .125}, none{0, .5, 0, 0, 0, .5};
    const std::vector<double> logits{3, -infinity, 1, 2.5, 2, 7};
    const std::vector<float> narrow(probs.begin(), probs.end()), narrow_logits(logits.begin(), logits.end());
    std::vector<Eigen::half> halves;
    for (const double x : probs) halves.push_back(static_cast<Eigen::half>(x));
    for (const auto& row : {probs, none, {.2, .2, .2, .2, .1, .2}, {.5, -.5, .5, .5, 0, 0}}) {
        check_as(Row::probs(row), row);
        const std::vector<float> floats(row.begin(), row.end());
        check_as(Row::probs(floats), floats);
    }
    check_as(Row::probs(halves), halves);
    for (const double temperature : {0., .3, 1.}) {
        check_as(Row::logits(logits, temperature), Logits(logits, temperature));
        check_as(Row::logits(narrow_logits, temperature), Logits(narrow_logits, temperature));
    }
    const std::vector<int> ids{1, 2, 5};
    const std::vector<double> some{.5, .25, .25}, some_logits{1, -2, 3};
    check_as(Row::sparse(ids, Row::probs(some), 6), Sparse(ids, some, 6));
    check_as(Row::sparse(ids, Row::logits(some_logits, .5), 6), Sparse(ids, Logits(some_logits, .5), 6));
    const Eigen::ArrayXXd columns =
        Eigen::Map<const Eigen::Array<double, 6, 1>>(probs.data()).replicate(1, 3).transpose();
    check_as(Row::probs({columns.data(), 6, 3}), probs);
    const std::vector<double> bad_logits{1, 2, std::numeric_limits<double>::quiet_NaN(), 1, 1, 1};
    check_as(Row::logits(bad_logits), Logits(bad_logits));
}

TEST_CASE("the mass that a map covers of a row that is a value is that of a type", "[shaping]") {
    const IdMap map(std::vector{3, -1, 1}, 4);
    const std::vector<float> probs{.1f, .2f, .3f, .4f};
    CHECK(covered_mass(map, Row::probs(probs)) == covered_mass(map, probs));
    CHECK(covered_mass(map, Row::probs(probs)) == Approx(.6));
    CHECK(covered_mass(map, Row::logits(probs, .5)) == covered_mass(map, Logits(probs, .5)));
    const std::vector<int> ids{1, 2};
    const std::vector<double> some{.25, .75};
    CHECK(covered_mass(map, Row::sparse(ids, Row::probs(some), 4)) == .25);
    CHECK_THROWS_AS(covered_mass(map, Row::probs(some)), std::invalid_argument);
}

TEST_CASE("a row that was refused stays so behind a map, and where it is shaped again", "[shaping]") {
    const std::vector<float> probs{.5f, .25f, .25f};
    auto refused = Sparse(detail::IdList<Token>(), std::span<const float>(probs), 3);
    refused.refuse();
    filters::ShapedMemory<float> memory;
    for (const auto& images : {std::vector{0, 1, 2}, {2, 1, 0}, {0, -1, 1}}) {
        const IdMap map(images, 3);
        CHECK(push_forward(map, refused, memory).is_refused());
    }
    CHECK(shape(refused, SamplingParams{.temperature = .5}, {}, memory).is_refused());

    Row value = Row::probs(probs);
    filters::ShapedMemory<Row> values;
    detail::parts_of(value).is_refused = true;
    const IdMap partial(std::vector{2, -1, 0}, 3);
    CHECK(inspect(push_forward(partial, value, values), Side::draft, 0));
    CHECK(inspect(shape(value, SamplingParams{.temperature = .5}, {}, values), Side::draft, 0));
}

TEST_CASE("mapped models of values write the texts of mapped models of types", "[shaping]") {
    const ContextModel draft(6, 3), target(9, 4);
    const IdMap map(std::vector{4, -1, 1, 8, 0, -1}, 9);
    const Values values{draft}, scorer{target};
    const auto text = [&](auto drafter, auto model) {
        return Sampler(std::move(drafter), std::move(model), {.lookahead = 3, .seed = 6})
            .generate({1}, {.max_new_tokens = 60})
            .tokens;
    };
    CHECK(text(mapped(values, map), scorer) == text(mapped(draft, map), target));
    CHECK(text(mapped(values, std::cref(map), OwnIds(map, 2)), scorer) ==
          text(mapped(draft, std::cref(map), OwnIds(map, 2)), target));
    const SamplingParams params{.temperature = .7, .top_k = 3};
    CHECK(text(shaped(mapped(values, map), params), shaped(scorer, params)) ==
          text(shaped(mapped(draft, map), params), shaped(target, params)));
}
