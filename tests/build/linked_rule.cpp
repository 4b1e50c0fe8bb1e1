// A case of tests/fail, compiled for specsample::compiled.
#include <specsample/values.hpp>
#ifdef FIXED
#include <specsample/verify/token.hpp>
#include <specsample/verify/value_walks.hpp>
#endif

using namespace specsample;

// case: linked_rule
// The library has walks of its own rules only. For another rule the linker would name functions that nobody knows.
// expect: error: .*specsample::verify: the compiled library does not have this rule.*value_walks.hpp
namespace linked_rule {

struct Own {
    static constexpr bool lossless = true;

    template <class T>
    Outcome operator()(const T& context) const {
        return walks::top_down(context);
    }
};

inline Round judged(std::span<const Token> drafted, const Rows& rows, Workspace& workspace) {
    return verify(drafted, PointMass{}, rows, Own{}, RoundRng(1, 2, 3), {}, workspace);
}

}  // namespace linked_rule
