// A target transform in front of a rule that is not exact itself.
// expect: error: static assertion failed.*specsample::lossy::Transformed: the rule behind a transform must be lossless
#include <specsample/lossy.hpp>
#include <specsample/verify.hpp>

using namespace specsample;
using namespace specsample::lossy;

int main() {
#ifdef FIXED
    const Transformed rule(Chow{.1}, BlockVerification{});
#else
    const Transformed rule(Chow{.1}, Lenience{.l = .5});
#endif
    return rule.lossless ? 1 : 0;
}
