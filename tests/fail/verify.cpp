// The arguments of verify.
#include <array>

#include <specsample/random.hpp>
#include <specsample/verify.hpp>

// case: verify_matrix_of_draft_rows
// Rows are no distributions of tokens: it must be said how each token was drawn.
// expect: error: static assertion failed.*specsample::verify: the second argument must say what each token was drawn
// from.*write Sampled.row. for each, of a matrix
namespace verify_matrix_of_draft_rows {

using namespace specsample;

int program() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
    const RowMajorMatrix<float> rows = RowMajorMatrix<float>::Constant(1, 2, .5f);
#ifdef FIXED
    const auto distributions = [&](Index i) { return Sampled{rows.row(i)}; };
#else
    const RowMajorMatrix<float>& distributions = rows;
#endif
    const auto round = verify(tokens, distributions, std::array{row, row}, TokenVerification{}, RoundRng(1, 2, 3),
                              RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace verify_matrix_of_draft_rows

// case: verify_raw_row
// A distribution is not a row: it must be said how the token was drawn.
// expect: error: static assertion failed.*specsample::verify: the second argument must say what each token was drawn
// from.*write Sampled.row. for each
namespace verify_raw_row {

using namespace specsample;

int program() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
#ifdef FIXED
    const std::array distributions{Sampled{row}};
#else
    const std::array distributions{row};
#endif
    const auto round = verify(tokens, distributions, std::array{row, row}, TokenVerification{}, RoundRng(1, 2, 3),
                              RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace verify_raw_row

// case: verify_rows_of_integers
// Rows hold probabilities.
// expect: error: static assertion failed.*specsample::verify: the third argument must be the target.s rows of floating
// point
namespace verify_rows_of_integers {

using namespace specsample;

int program() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
#ifdef FIXED
    const std::vector<std::vector<float>> rows{{.5f, .5f}, {.5f, .5f}};
#else
    const std::vector<std::vector<int>> rows{{1, 0}, {0, 1}};
#endif
    const auto round = verify(tokens, std::array{Sampled{row}}, rows, TokenVerification{}, RoundRng(1, 2, 3),
                              RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace verify_rows_of_integers

// case: verify_tokens_of_floats
// Tokens are ids.
// expect: error: static assertion failed.*specsample::verify: the first argument must be the drafted token ids
namespace verify_tokens_of_floats {

using namespace specsample;

int program() {
    const std::vector<float> row{.5f, .5f};
    Workspace workspace;
#ifdef FIXED
    const std::vector<std::int64_t> tokens{1};
#else
    const std::vector<double> tokens{1};
#endif
    const auto round = verify(tokens, PointMass{}, std::array{row, row}, TokenVerification{}, RoundRng(1, 2, 3),
                              RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace verify_tokens_of_floats

// case: verify_without_a_rule
// A number is no rule.
// expect: error: static assertion failed.*specsample::Rule: a rule must be callable with a context; give one as in
// TokenVerification
namespace verify_without_a_rule {

using namespace specsample;

int program() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
#ifdef FIXED
    const TokenVerification rule;
#else
    const int rule = 42;
#endif
    const auto round =
        verify(tokens, PointMass{}, std::array{row, row}, rule, RoundRng(1, 2, 3), RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace verify_without_a_rule

// case: verify_without_an_rng
// A seed is no source.
// expect: error: static assertion failed.*specsample::verify: the fifth argument must be a source of random numbers;
// write specsample::RoundRng
namespace verify_without_an_rng {

using namespace specsample;

int program() {
    const std::vector<float> row{.5f, .5f};
    const std::vector<Token> tokens{1};
    Workspace workspace;
#ifdef FIXED
    const RoundRng rng(42, 0, 0);
#else
    const int rng = 42;
#endif
    const auto round =
        verify(tokens, PointMass{}, std::array{row, row}, TokenVerification{}, rng, RoundLimits{}, workspace);
    return static_cast<int>(round.accepted);
}

}  // namespace verify_without_an_rng
