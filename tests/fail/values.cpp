// Rows that are values: what they view must outlive the round, and what goes with them.
#include <random>
#include <vector>

#include <specsample/random.hpp>
#include <specsample/sampler_values.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/values.hpp>

// case: row_of_a_temporary
// The numbers are borrowed.
// expect: error: static assertion failed.*specsample::Row: the numbers are borrowed, and a temporary would be gone
namespace row_of_a_temporary {

using namespace specsample;

int program() {
    std::vector<float> numbers{.5f, .5f};
#ifdef FIXED
    const Row row = Row::probs(numbers);
#else
    const Row row = Row::probs(std::move(numbers));
#endif
    return static_cast<int>(row.size());
}

}  // namespace row_of_a_temporary

// case: row_of_an_expression
// An expression lies in no memory.
// expect: error: static assertion failed.*specsample::Row: these numbers are computed
namespace row_of_an_expression {

using namespace specsample;

int program() {
    const Eigen::VectorXf a = Eigen::VectorXf::Constant(2, .5f);
#ifdef FIXED
    const Eigen::VectorXf mean = a * .5f + a * .5f;
    const Row row = Row::logits(mean, 1);
#else
    const Row row = Row::logits(a * .5f + a * .5f, 1);
#endif
    return static_cast<int>(row.size());
}

}  // namespace row_of_an_expression

// case: row_of_temporary_ids
// The ids are borrowed as well.
// expect: error: static assertion failed.*specsample::Row: the ids are borrowed, and a temporary would be gone
namespace row_of_temporary_ids {

using namespace specsample;

int program() {
    const std::vector<float> numbers{.5f, .5f};
    std::vector<short> ids{1, 2};
#ifdef FIXED
    const Row row = Row::sparse(ids, Row::probs(numbers), 4);
#else
    const Row row = Row::sparse(std::move(ids), Row::probs(numbers), 4);
#endif
    return static_cast<int>(row.size());
}

}  // namespace row_of_temporary_ids

// case: values_with_distributions_of_types
// Sampled{row} belongs to rows that are types.
// expect: error: static assertion failed.*specsample::verify: rows that are values go with a list of Token, a list of
// Origin
namespace values_with_distributions_of_types {

using namespace specsample;

std::size_t program(const std::vector<double>& q, const std::vector<Row>& rows, Workspace& workspace) {
    const std::vector<Token> tokens{0};
#ifdef FIXED
    const std::vector origins{Origin::sampled(Row::probs(q))};
#else
    const std::vector origins{Sampled(q)};
#endif
    return verify(tokens, origins, rows, TokenVerification{}, RoundRng(1, 2, 3), {}, workspace).tokens.size();
}

}  // namespace values_with_distributions_of_types

// case: values_of_a_callable_without_a_name
// Rows(row_of) borrows the callable.
// expect: error: static assertion failed.*specsample::verify: rows that are values go with .*Rows\(row_of\) for a
// callable, which needs a name
namespace values_of_a_callable_without_a_name {

using namespace specsample;

std::size_t program(const Row& row, Workspace& workspace) {
    const std::vector<Token> tokens{0};
    const auto row_of = [&](Index) { return row; };
#ifdef FIXED
    return verify(tokens, PointMass{}, Rows(row_of), SampleMatch{}, RoundRng(1, 2, 3), {}, workspace).tokens.size();
#else
    return verify(
               tokens, PointMass{}, [&](Index) { return row; }, SampleMatch{}, RoundRng(1, 2, 3), {}, workspace)
        .tokens.size();
#endif
}

}  // namespace values_of_a_callable_without_a_name

// case: values_under_no_rule
// The rule is missing.
// expect: error: static assertion failed.*specsample::verify: the fourth argument must be a rule
namespace values_under_no_rule {

using namespace specsample;

struct NoRule {};

std::size_t program(const std::vector<Row>& rows, Workspace& workspace) {
#ifdef FIXED
    const GreedyMatch rule;
#else
    const NoRule rule;
#endif
    return verify(std::vector<Token>(), PointMass{}, rows, rule, RoundRng(1, 2, 3), {}, workspace).tokens.size();
}

}  // namespace values_under_no_rule

// case: values_with_temporary_sums
// The sums are borrowed, like the numbers.
// expect: error: static assertion failed.*specsample::Row::logits: the sums are borrowed, and a temporary would be gone
namespace values_with_temporary_sums {

using namespace specsample;

Index program(const std::vector<float>& logits) {
    const kernels::LogitSums sums(logits);
#ifdef FIXED
    return Row::logits(logits, sums).size();
#else
    return Row::logits(logits, kernels::LogitSums(logits)).size();
#endif
}

}  // namespace values_with_temporary_sums

// case: logits_with_temporary_sums
// The same of rows that are types.
// expect: error: static assertion failed.*specsample::Logits: the sums are borrowed, and a temporary would be gone
namespace logits_with_temporary_sums {

using namespace specsample;

Index program(const std::vector<float>& logits) {
    const kernels::LogitSums sums(logits);
#ifdef FIXED
    return Logits(logits, sums).size();
#else
    return Logits(logits, kernels::LogitSums(logits)).size();
#endif
}

}  // namespace logits_with_temporary_sums

// case: list_of_temporary_sums
// A list of sums is borrowed, too.
// expect: error: static assertion failed.*specsample: this list is borrowed, and a temporary would be gone
namespace list_of_temporary_sums {

using namespace specsample;

std::size_t program(const std::vector<std::vector<float>>& logits) {
    const std::vector<kernels::LogitSums> sums(logits.size());
#ifdef FIXED
    return sizeof(logits_of(logits, sums));
#else
    return sizeof(logits_of(logits, std::vector<kernels::LogitSums>(logits.size())));
#endif
}

}  // namespace list_of_temporary_sums

// case: sums_of_one_row
// Each row has sums of its own.
// expect: error: static assertion failed.*specsample::logits_of: the second argument must be a temperature, or a list of
namespace sums_of_one_row {

using namespace specsample;

std::size_t program(const std::vector<std::vector<float>>& logits) {
    const kernels::LogitSums one(logits[0]);
#ifdef FIXED
    const std::vector<kernels::LogitSums> sums(logits.size(), one);
    return sizeof(logits_of(logits, sums));
#else
    return sizeof(logits_of(logits, one));
#endif
}

}  // namespace sums_of_one_row

// case: sums_made_of_a_block
// A row is made where it lies: make is told the first id, and writes to memory.
// expect: error: static assertion failed.*specsample::LogitSums: the first argument must be a std::span of the row's
namespace sums_made_of_a_block {

using namespace specsample;

Index program(std::vector<float>& logits) {
#ifdef FIXED
    const auto make = [](Index, std::span<float> block) { block[0] = 1; };
#else
    const auto make = [](Index) { return 1.f; };
#endif
    return kernels::LogitSums(std::span(logits), 1., make).size;
}

}  // namespace sums_made_of_a_block

// case: values_of_uint16
// A row of two bytes per number.
// expect: error: static assertion failed.*specsample::Row: the numbers must be of type float, double, Eigen::half
namespace values_of_uint16 {

using namespace specsample;

int program() {
    const std::vector<std::uint16_t> numbers(4);
#ifdef FIXED
    return static_cast<int>(Row::logits({numbers.data(), Row::Scalar::bf16, 4}, .8).size());
#else
    return static_cast<int>(Row::logits(numbers, .8).size());
#endif
}

}  // namespace values_of_uint16

// case: numbers_by_a_pointer
// How many numbers follow is not known.
// expect: error: static assertion failed.*specsample::Row: a pointer does not say how many numbers there are
namespace numbers_by_a_pointer {

using namespace specsample;

Index program(const float* data) {
#ifdef FIXED
    return Row::logits({data, 4}, .8).size();
#else
    return Row::logits(data, .8).size();
#endif
}

}  // namespace numbers_by_a_pointer

// case: ids_by_a_pointer
// How many ids follow is not known.
// expect: error: static assertion failed.*specsample::Row: a pointer does not say how many ids there are
namespace ids_by_a_pointer {

using namespace specsample;

Index program(const short* ids, const std::vector<float>& numbers) {
#ifdef FIXED
    return Row::sparse({ids, 4}, Row::probs(numbers), 8).size();
#else
    return Row::sparse(ids, Row::probs(numbers), 8).size();
#endif
}

}  // namespace ids_by_a_pointer

// case: models_of_two_kinds
// A draft's rows are judged with the target's, so both are of one kind.
// expect: error: static assertion failed.*specsample::Sampler: one of draft and target returns Row
namespace models_of_two_kinds {

using namespace specsample;

int program() {
    const std::vector<float> numbers{.5f, .5f};
#ifdef FIXED
    const auto draft = [&](std::span<const Token>) { return Row::probs(numbers); };
#else
    const auto draft = [&](std::span<const Token>) { return std::span(numbers); };
#endif
    const auto target = [&](std::span<const Token>) { return Row::probs(numbers); };
    return static_cast<int>(Sampler(draft, target).generate({1}).size());
}

}  // namespace models_of_two_kinds

// case: values_with_another_source
// The loops over values know one source of random numbers.
// expect: error: static assertion failed.*specsample: rows that are values are drawn from with RoundRng
namespace values_with_another_source {

using namespace specsample;

int program() {
    const std::vector<float> numbers{.5f, .5f};
    const auto model = [&](std::span<const Token>) { return Row::probs(numbers); };
    Sampler sampler(model, model);
    const std::vector<Token> text{1};
#ifdef FIXED
    const RoundRng rng(1, 2, 1);
#else
    std::mt19937 generator;
    const GeneratorRng rng(generator);
#endif
    return static_cast<int>(sampler.step(text, {}, rng).tokens.size());
}

}  // namespace values_with_another_source

// case: values_taken_for_logits
// A row that is a value says by itself what its numbers are.
// expect: error: static assertion failed.*specsample::from_logits: the first argument must be a model.*Row::logits
namespace values_taken_for_logits {

using namespace specsample;

int program() {
    const std::vector<float> numbers{.5f, .5f};
#ifdef FIXED
    const auto model = [&](std::span<const Token>) { return Row::logits(numbers); };
#else
    const auto model = from_logits([&](std::span<const Token>) { return Row::logits(numbers); });
#endif
    return static_cast<int>(model(std::span<const Token>()).size());
}

}  // namespace values_taken_for_logits
