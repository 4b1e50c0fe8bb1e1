// Rows: numbers of 16 bits, and what is one row and what are several.
#include <vector>

#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

// case: rows_of_uint16
// Two bytes may be half or bfloat16.
// expect: error: static assertion failed.*specsample::rows_in_memory: data must point to float, double, Eigen::half or
// Eigen::bfloat16 expect: say which kind they hold.*reinterpret_cast<const Eigen::half\*>
namespace rows_of_uint16 {

using namespace specsample;

int program() {
    std::uint16_t* memory = nullptr;
#ifdef FIXED
    const auto* data = reinterpret_cast<const Eigen::half*>(memory);
#else
    const auto* data = memory;
#endif
    const auto rows = rows_in_memory(data, 0, 4);
    return static_cast<int>(rows.rows());
}

}  // namespace rows_of_uint16

// case: rows_of_a_struct
// An engine's own type of 16 bits, ov::float16, say.
// expect: error: static assertion failed.*specsample::rows_in_memory: data must point to float, double, Eigen::half or
// Eigen::bfloat16 expect: say which kind they hold.*reinterpret_cast<const Eigen::half\*>
namespace rows_of_a_struct {

using namespace specsample;

int program() {
    struct Float16 {
        std::uint16_t bits;
    };
#ifdef FIXED
    const Eigen::bfloat16* data = nullptr;
#else
    const Float16* data = nullptr;
#endif
    const auto rows = rows_in_memory(data, 0, 4);
    return static_cast<int>(rows.rows());
}

}  // namespace rows_of_a_struct

// case: rows_of_a_vector
// A vector in place of its memory.
// expect: error: static assertion failed.*specsample::rows_in_memory: data must point to float, double, Eigen::half or
// Eigen::bfloat16
namespace rows_of_a_vector {

using namespace specsample;

int program() {
    const std::vector<float> numbers(8);
#ifdef FIXED
    const auto rows = rows_in_memory(numbers.data(), 2, 4);
#else
    const auto rows = rows_in_memory(numbers, 2, 4);
#endif
    return static_cast<int>(rows.rows());
}

}  // namespace rows_of_a_vector

// case: logits_of_uint16
// One row of two bytes per number.
// expect: error: static assertion failed.*specsample::Logits: the first argument must be a row
// expect: say which kind they hold.*reinterpret_cast<const Eigen::half\*>
namespace logits_of_uint16 {

using namespace specsample;

int program() {
    const std::vector<std::uint16_t> numbers(4);
#ifdef FIXED
    const std::span row(reinterpret_cast<const Eigen::half*>(numbers.data()), numbers.size());
#else
    const std::span row(numbers);
#endif
    return static_cast<int>(Logits(row, .8).size());
}

}  // namespace logits_of_uint16

// case: logits_of_many_rows
// Several rows in place of one.
// expect: error: static assertion failed.*specsample::Logits: the first argument must be a row
namespace logits_of_many_rows {

using namespace specsample;

int program() {
    const std::vector<std::vector<float>> many(2, std::vector<float>(4));
#ifdef FIXED
    const auto rows = logits_of(many, .8);
#else
    const auto rows = Logits(many, .8);
#endif
    return static_cast<int>(rows.size());
}

}  // namespace logits_of_many_rows

// case: logits_of_one_row
// One row in place of several.
// expect: error: static assertion failed.*specsample::logits_of: the first argument must be several rows.*write
// Logits.row, temperature
namespace logits_of_one_row {

using namespace specsample;

int program() {
    const std::vector<float> row(4);
#ifdef FIXED
    const auto logits = Logits(row, .8);
#else
    const auto logits = logits_of(row, .8);
#endif
    return static_cast<int>(logits.size());
}

}  // namespace logits_of_one_row

// case: tree_shape_of_branchings
// Numbers of children in place of parents and ranks.
// expect: error: static assertion failed.*specsample::TreeShape: a shape has two lists, parents and ranks.*write
// expansion_tree
namespace tree_shape_of_branchings {

using namespace specsample;

int program() {
#ifdef FIXED
    const TreeShape shape = expansion_tree({2, 2});
#else
    const TreeShape shape({2, 2});
#endif
    return static_cast<int>(shape.size());
}

}  // namespace tree_shape_of_branchings

// case: tree_shape_of_a_vector
// The same in a vector.
// expect: error: static assertion failed.*specsample::TreeShape: a shape has two lists, parents and ranks.*write
// expansion_tree
namespace tree_shape_of_a_vector {

using namespace specsample;

int program() {
    const std::vector<int> children{2, 2};
#ifdef FIXED
    const TreeShape shape = expansion_tree({children.begin(), children.end()});
#else
    const TreeShape shape(children);
#endif
    return static_cast<int>(shape.size());
}

}  // namespace tree_shape_of_a_vector
