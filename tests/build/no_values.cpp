// A case of tests/fail, in a program that includes the sampler of rows that are types alone.
#include <specsample/rows/row.hpp>
#include <specsample/sampler.hpp>
#ifdef FIXED
#include <specsample/sampler_values.hpp>
#endif

using namespace specsample;

// case: no_values
// What keeps and judges rows that are values is in a header of its own.
// expect: error: static assertion failed.*specsample::Sampler: models that return Row need #include <specsample/sampler_values.hpp>
namespace no_values {

inline std::size_t program(std::span<const float> numbers) {
    const auto model = [=](std::span<const Token>) { return Row::probs(numbers); };
    return Sampler(model, model).generate({1}).size();
}

}  // namespace no_values
