// shape: every kind of row through a pipeline, without a copy where none is needed.
#include <specsample/shaping/shape.hpp>

#include <array>

#include <specsample/rows/memory.hpp>
#include <specsample/shaping/sampling_params.hpp>
#include <specsample/shaping/token_mask.hpp>
#include <specsample/verify.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::kernels;
using namespace specsample::filters;

namespace {

const Pipeline pipeline{Temperature{.8}, TopK{20}, TopP{.9}, MinP{.05}};
const auto logits = random_logits<float>(300, 1);

Array<double> expected() { return through(pipeline, Logits(Array<double>(logits.cast<double>()))); }

}  // namespace

TEST_CASE("logits of every scalar and storage are shaped alike", "[shaping]") {
    const auto check = [](const auto& row, double tolerance) {
        CHECK(distance(through(pipeline, Logits(row)), expected()) < tolerance);
    };
    check(logits, 1e-6);
    check(std::vector<float>(logits.begin(), logits.end()), 1e-6);
    check(std::span<const float>(logits.data(), 300), 1e-6);
    check(Array<double>(logits.cast<double>()), 1e-14);
    check(Eigen::RowVectorXf(logits.matrix().transpose()), 1e-6);
    RowMajorMatrix<float> matrix(3, 300);
    matrix.row(1) = logits.matrix().transpose();
    check(matrix.row(1), 1e-6);
    Eigen::MatrixXf column_major = matrix;
    check(column_major.row(1), 1e-6);
    const Array<Eigen::half> half = logits.cast<Eigen::half>();
    CHECK(distance(through(pipeline, Logits(half)), through(pipeline, Logits(Array<float>(half.cast<float>())))) == 0);
    const Array<Eigen::bfloat16> brain = logits.cast<Eigen::bfloat16>();
    CHECK(distance(through(pipeline, Logits(brain)), through(pipeline, Logits(Array<float>(brain.cast<float>())))) ==
          0);
}

TEST_CASE("probabilities of every scalar and storage are shaped alike", "[shaping]") {
    const auto probs = softmax_of(logits);
    const auto check = [](const auto& row, double tolerance) {
        CHECK(distance(through(pipeline, row), expected()) < tolerance);
    };
    check(probs, 1e-6);
    check(Array<float>(probs.cast<float>()), 1e-6);
    check(Eigen::RowVectorXd(probs.matrix().transpose()), 1e-6);
    check(probs * 1, 1e-6);
    Eigen::MatrixXd column_major(3, 300);
    column_major.row(1) = probs.matrix().transpose();
    check(column_major.row(1), 1e-6);
    check(detail::as_row(Logits(logits)), 1e-6);
    filters::ShapedMemory<float> memory;
    const Array<Eigen::half> half = probs.cast<Eigen::half>();
    CHECK(probs_by_id(shape(half, pipeline, {}, memory)).sum() == Approx(1).epsilon(1e-6));
}

TEST_CASE("sparse rows are shaped, of logits and of probabilities", "[shaping]") {
    std::vector<std::int64_t> ids;
    std::vector<float> numbers;
    for (Index i = 3; i < 300; i += 7) {
        ids.push_back(i);
        numbers.push_back(logits[i]);
    }
    Array<float> dense = Array<float>::Constant(300, -std::numeric_limits<float>::infinity());
    for (std::size_t i = 0; i < ids.size(); ++i) dense[ids[i]] = numbers[i];
    const std::vector<Token> context{10, 10, 17};
    const Pipeline with_penalty{FrequencyPenalty{.5}, Temperature{.8}, TopK{20}, TopP{.9}, MinP{.05}};
    const auto wanted = through(with_penalty, Logits(dense), context);
    CHECK(distance(through(with_penalty, Sparse(ids, Logits(numbers), 300), context), wanted) < 1e-6);
    const Array<double> probs = softmax_of(dense);
    std::vector<double> held;
    for (const auto id : ids) held.push_back(probs[id]);
    CHECK(distance(through(with_penalty, Sparse(ids, held, 300), context), wanted) < 1e-6);
    CHECK(distance(through(Pipeline{}, Sparse(ids, held, 300)), probs) == 0);
    // A shaped row that is shaped again.
    filters::ShapedMemory<float> once, twice;
    const auto row = shape(Logits(logits), TopK{20}, {}, once);
    CHECK(distance(probs_by_id(shape(row, TopP{.5}, {}, twice)),
                   through(Pipeline{TopK{20}, TopP{.5}}, Logits(logits))) < 1e-6);
    const auto every_id = shape(Logits(logits), Temperature{.5}, {}, once);
    CHECK(distance(probs_by_id(shape(every_id, TopK{5}, {}, twice)),
                   through(Pipeline{Temperature{.5}, TopK{5}}, Logits(logits))) < 1e-6);
}

TEST_CASE("an unfiltered row of contiguous numbers is never copied", "[shaping]") {
    filters::ShapedMemory<float> memory;
    CHECK(shape(Logits(logits), Temperature{.7}, {}, memory).held().numbers().data() == logits.data());
    const Array<float> probs = softmax_of(logits).cast<float>();
    const auto row = shape(probs, Pipeline{Temperature{1}, TopP{1}}, {}, memory);
    CHECK(row.held().data() == probs.data());
    CHECK(row.ids().holds_every_id());
    CHECK(memory.row.numbers.empty());
    CHECK(memory.row.ids.empty());
}

TEST_CASE("a row of which every id is kept is a copy that holds every id", "[shaping]") {
    filters::ShapedMemory<float> memory;
    const auto row = shape(Logits(logits), Temperature{.7}, {}, memory);
    decltype(row)::Owned kept;
    row.copy_to(kept);
    CHECK(kept.ids().holds_every_id());
    CHECK(kept.held().numbers().data() != logits.data());
    CHECK((probs_by_id(kept) == probs_by_id(row)).all());
    shape(Logits(logits), TopK{5}, {}, memory).copy_to(kept);
    CHECK(possible(probs_by_id(kept)).size() == 5);
    row.copy_to(kept);
    CHECK(kept.ids().holds_every_id());
}

TEST_CASE("a row that owns its numbers, and is gone after the call, is copied", "[shaping]") {
    filters::ShapedMemory<float> memory;
    const auto row = shape(Logits(Eigen::VectorXf(logits.matrix())), Temperature{.7}, {}, memory);
    CHECK(row.held().numbers().data() == memory.row.numbers.data());
    CHECK(distance(probs_by_id(row), through(Temperature{.7}, Logits(logits))) == 0);
}

TEST_CASE("a shaped row is normalised over what is left", "[shaping]") {
    CHECK(std::abs(expected().sum() - 1) < 1e-12);
    filters::ShapedMemory<float> memory;
    const auto row = shape(Array<float>(softmax_of(logits).cast<float>()), pipeline, {}, memory);
    CHECK(std::abs(static_cast<double>(row.held().sum()) - 1) < 1e-6);
    CHECK(row.held().size() == row.ids().size(300));
    CHECK_FALSE(inspect(row, Side::target, 0));
}

TEST_CASE("memory that has served a row serves any other", "[shaping]") {
    filters::ShapedMemory<double> memory;
    const Pipeline all{FrequencyPenalty{.3}, Temperature{.7}, TypicalP{.9}, TopP{.9}};
    for (const Index size : {300, 2, 1000, 50, 1}) {
        const auto z = random_logits(size, 7);
        const std::vector<Token> context{0, 0, 1};
        const auto same = [&](const auto& row) {
            filters::ShapedMemory<double> fresh;
            CHECK(distance(probs_by_id(shape(row, all, context, memory)),
                           probs_by_id(shape(row, all, context, fresh))) == 0);
        };
        same(Logits(z));
        same(softmax_of(z));
    }
}

TEST_CASE("bad rows stay as they are, with the fault of the unshaped row", "[shaping]") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<std::vector<double>> rows{{},           {.5, infinity, .5}, {.5, nan, .5}, {.7, -.2, .5},
                                                {.5, .3, .1}, {.5, .502, 0},      {0, 0, 0},     {4, -2, 7}};
    const SamplingParams settings{.temperature = .5, .top_k = 2, .top_p = .5, .min_p = .1, .presence_penalty = 1};
    const std::vector<Token> context{0, 1};
    filters::ShapedMemory<double> memory;
    const auto same = [&](const auto& row, const auto& shaper) {
        const auto original = inspect(row, Side::target, 3),
                   after = inspect(shape(row, shaper, context, memory), Side::target, 3);
        REQUIRE(original);
        REQUIRE(after);
        CHECK(message(*after) == message(*original));
    };
    for (const auto& row : rows) {
        same(row, settings);
        same(row, TopP{.5});
        same(row, Temperature{0});
        same(row, TypicalP{.5});
        same(row, TokenMask{std::vector<std::uint32_t>{1}});
        same(row, LogitBias{{{0, 1}}});
    }
    for (const auto& row : {std::vector<double>{}, {1, infinity}, {nan, 1}, {-infinity, nan}, {-infinity, -infinity}}) {
        same(Logits(row), settings);
        same(Logits(row), Temperature{.5});
        same(Logits(row), Temperature{0});
        same(Logits(row), MinP{.5});
        same(Logits(row), RepetitionPenalty{2});
    }
    // A sparse row whose ids are out of order, or out of the vocabulary.
    const std::vector<double> two{.5, .5};
    same(Sparse(std::vector<int>{2, 1}, two, 3), settings);
    same(Sparse(std::vector<int>{1, 3}, two, 3), settings);
    same(Sparse(std::vector<int>{-1, 1}, Logits(two), 3), TopK{1});
}

TEST_CASE("a half row within its tolerance is normalised, one outside is a fault", "[shaping]") {
    using Half = Eigen::half;
    const std::vector<Half> within{Half(.5f), Half(.25f), Half(.125f), Half(.12f)},
        outside{Half(.5f), Half(.25f), Half(.125f), Half(.105f)};
    filters::ShapedMemory<float> memory;
    for (const double temperature : {1., .5}) {
        CHECK_FALSE(inspect(shape(within, Temperature{temperature}, {}, memory), Side::target, 0));
        CHECK(inspect(shape(outside, Temperature{temperature}, {}, memory), Side::target, 0)->cause ==
              Cause::not_normalised);
    }
}

TEST_CASE("an engine's rows are shaped as verify asks for them, and no others", "[shaping]") {
    RowMajorMatrix<float> rows(4, 300);
    for (Index i = 0; i < 4; ++i) rows.row(i) = random_logits<float>(300, 10 + static_cast<std::uint64_t>(i)).matrix();
    const SamplingParams settings{.temperature = .8, .top_k = 40, .frequency_penalty = .5};
    const std::vector<Token> text{1, 2, 3};
    std::vector<filters::ShapedMemory<float>> memory(4);
    std::vector<Index> asked;
    std::vector<Token> tokens{7, 8, 9};
    const auto target = [&](Index i) {
        asked.push_back(i);
        std::vector<Token> context = text;
        context.insert(context.end(), tokens.begin(), tokens.begin() + i);
        return shape(Logits(rows.row(i)), settings, context, memory[static_cast<std::size_t>(i)]);
    };
    // No impossible token is accepted.
    tokens[1] = static_cast<Token>(sorted(Array<float>(rows.row(1).transpose().array())).back());
    tokens[0] = static_cast<Token>(sorted(Array<float>(rows.row(0).transpose().array())).front());
    Workspace workspace;
    for (std::uint64_t request = 0; request < 50; ++request) {
        asked.clear();
        const Round round =
            verify(tokens, PointMass{}, target, TokenVerification{}, RoundRng(1, request, 3), {}, workspace);
        REQUIRE_FALSE(round.fault);
        CHECK(round.accepted <= 1);
        CHECK(*std::max_element(asked.begin(), asked.end()) <= 1);
    }
}

TEST_CASE("the expression of a sparse row is shaped like the row, and has its argmax", "[shaping]") {
    const std::vector<int> ids{1, 5, 700};
    const std::vector<float> probs{.2f, .3f, .5f}, scores{1, 3, 2};
    filters::ShapedMemory<float> memory, other;
    const auto same = [&](const auto& row) {
        const auto view = row.probs();  // as long as the vocabulary, though it holds three numbers
        const auto shaped_row = detail::as_row(shape(row, TopK(2), {}, memory));
        const auto shaped_view = detail::as_row(shape(view, TopK(2), {}, other));
        for (const Index id : {0, 1, 5, 6, 700, 899})
            CHECK(std::abs(shaped_row.coeff(id) - shaped_view.coeff(id)) < 1e-6f);
        CHECK(argmax(view) == argmax(row));
    };
    same(Sparse(ids, probs, 900));
    same(Sparse(ids, Logits(std::span(scores)), 900));
}
