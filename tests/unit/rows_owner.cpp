// Rows that are borrowed, rows that are owned, and the last answer of a model.
#include <specsample/rows/owner.hpp>

#include <array>

#include <specsample/models/ask.hpp>
#include <specsample/rows/sparse.hpp>

#include "support/catch.hpp"

using namespace specsample;

TEST_CASE("a row returned by reference or as a view is borrowed, one by value is not", "[rows]") {
    CHECK(detail::borrows<const Eigen::VectorXf&>);
    CHECK(detail::borrows<Eigen::Map<const Eigen::VectorXf>>);
    CHECK(detail::borrows<std::span<const float>>);
    CHECK_FALSE(detail::borrows<Eigen::VectorXf>);
    CHECK_FALSE(detail::borrows<std::vector<float>>);
    CHECK_FALSE(detail::borrows<std::array<float, 3>>);
}

TEST_CASE("a borrowed row keeps a row given by value and views a row in memory", "[rows]") {
    const std::vector<float> owner{1, 2};
    const detail::RowRef<const std::vector<float>&> viewed(owner);
    CHECK(viewed.view().data() == owner.data());
    const detail::RowRef<std::vector<float>> kept(std::vector<float>{3, 4});
    CHECK(kept.view()[1] == 4);
    const detail::RowRef<std::span<const float>> spanned(std::span<const float>{owner});
    CHECK(spanned.view().data() == owner.data());
}

TEST_CASE("a borrowed row of logits is the row itself, not a copy", "[rows]") {
    const Logits logits(std::vector<float>{1, 2}, .5);
    const detail::RowRef<decltype(logits)&> borrowed(logits);
    CHECK(&borrowed.row() == &logits);
    CHECK(borrowed.size() == 2);
}

TEST_CASE("an owned row takes the memory of a row given by value", "[rows]") {
    Eigen::VectorXf given = Eigen::VectorXf::Constant(3, .25f);
    const float* const memory = given.data();
    detail::OwnedRow<Eigen::VectorXf> row;
    row.keep(std::move(given));
    CHECK(row.view().data() == memory);
    CHECK(row.view()[2] == .25f);
}

TEST_CASE("an owned row copies a row that is borrowed into memory that it reuses", "[rows]") {
    std::vector<double> buffer{.5, .5, 0};
    detail::OwnedRow<std::span<const double>> row;
    row.keep(std::span<const double>(buffer));
    const double* const memory = row.view().data();
    CHECK(memory != buffer.data());
    buffer = {.25, .75};
    CHECK(row.view()[1] == .5);
    row.keep(std::span<const double>(buffer));
    CHECK(row.view().data() == memory);
    CHECK(row.view().size() == 2);
    CHECK(row.view()[1] == .75);
}

TEST_CASE("an owned row of logits or of some ids stays one", "[rows]") {
    std::vector<float> buffer{1, 2};
    const std::vector<int> ids{3, 5};
    detail::OwnedRow<Logits<std::span<const float>>> logits;
    logits.keep(Logits(std::span<const float>(buffer), .5));
    const Sparse sparse(ids, Logits(buffer, .5), 9);
    detail::OwnedRow<decltype(sparse)&> some;
    some.keep(sparse);
    const double before = detail::as_row(sparse)[5];
    buffer = {7, 7};
    CHECK(logits.row().temperature() == .5);
    CHECK(logits.row().numbers()[1] == 2);
    CHECK(some.row().size() == 9);
    CHECK(static_cast<double>(some.view()[5]) == before);
}

TEST_CASE("the last answer of a model is kept by value, or pointed at", "[rows]") {
    detail::LastAnswer<std::vector<float>> kept;
    kept.hold({1, 2});
    CHECK(*kept == std::vector<float>{1, 2});
    kept.hold({3});
    CHECK(*kept == std::vector<float>{3});
    const std::vector<float> rows{4, 5};
    detail::LastAnswer<const std::vector<float>&> pointed;
    CHECK(&pointed.hold(rows) == &rows);
    CHECK(&*pointed == &rows);
}

TEST_CASE("a row states its form, and what a form has is there", "[rows]") {
    const auto form = [](const auto& row) { return detail::form_of<std::remove_cvref_t<decltype(row)>>; };
    const std::vector<float> numbers{.25f, .75f};
    const std::vector<Token> ids{1, 2};
    const auto is = [](detail::RowForm given, bool logits, bool listed) {
        return given.logits == logits && given.listed == listed && !given.split;
    };
    CHECK(is(form(numbers), false, false));
    CHECK(is(form(Eigen::VectorXf(2)), false, false));
    CHECK(is(form(Logits(numbers)), true, false));
    CHECK(is(form(Sparse(ids, numbers, 4)), false, true));
    CHECK(is(form(Sparse(ids, Logits(numbers), 4)), true, true));
    CHECK(kernels::argmax(Sparse(ids, numbers, 4)) == 2);
    CHECK(kernels::log_sum_exp(Sparse(ids, Logits(numbers, .5), 4)) == kernels::log_sum_exp(Logits(numbers, .5)));
}
