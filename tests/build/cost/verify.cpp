// One call of verify, on a chain.
#if defined(SPECSAMPLE_COMPILED)
#include <specsample/specsample.hpp>  // declares what specsample::compiled defines
#else
#include <specsample/verify.hpp>
#endif

using namespace specsample;

int main() {
    const std::vector<Token> tokens{1, 2};
    const RowMajorMatrix<float> draft = RowMajorMatrix<float>::Constant(2, 4, .25f),
                                target = RowMajorMatrix<float>::Constant(3, 4, .25f);
    const std::vector distributions{Sampled(draft.row(0)), Sampled(draft.row(1))};
    Workspace workspace;
    return static_cast<int>(
        verify(tokens, distributions, target, TokenVerification{}, RoundRng(1, 2, 3), {}, workspace).accepted);
}
