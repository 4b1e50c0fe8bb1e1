// Rows are no distributions of tokens: it must be said how each token was drawn.
// expect: error: static assertion failed.*specsample::verify: the second argument must say what each token was drawn
// from.*write Sampled.row. for each, of a matrix
#include <array>

#include <specsample/random.hpp>
#include <specsample/verify.hpp>

using namespace specsample;

int main() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
    const RowMajorMatrixXf rows = RowMajorMatrixXf::Constant(1, 2, .5f);
#ifdef FIXED
    const auto distributions = [&](Index i) { return Sampled{rows.row(i)}; };
#else
    const RowMajorMatrixXf& distributions = rows;
#endif
    const auto round = verify(tokens, distributions, std::array{row, row}, TokenVerification{}, RoundRng(1, 2, 3),
                              RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}
