// A case of tests/fail, compiled as C++17.

// case: old_standard
// A compiler's default, where nobody has asked for more.
// expect: specsample needs C\+\+20: compile with -std=c\+\+20
#ifndef FIXED
#include <specsample/specsample.hpp>
#endif
