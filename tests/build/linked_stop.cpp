// A case of tests/fail, compiled for specsample::compiled.
#include <specsample/sampler_values.hpp>
#ifdef FIXED
#include <specsample/rows/row_view.hpp>
#endif

using namespace specsample;

// case: linked_stop
// What a stop of one's own does with a row cannot be in the compiled library.
// expect: error: static assertion failed.*specsample: what reads rows that are values here is not in the compiled library
namespace linked_stop {

struct Stop {
    bool before(const auto& row) const { return row.size() == 1; }
    bool after(double prob) const { return prob < .5; }
};

inline std::size_t program(std::span<const float> numbers) {
    const auto model = [=](std::span<const Token>) { return Row::probs(numbers); };
    return Sampler(ChainDrafter(model, Stop{}), model).generate({1}).size();
}

}  // namespace linked_stop
