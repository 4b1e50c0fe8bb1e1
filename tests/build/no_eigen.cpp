// A case of tests/fail, compiled without Eigen's include path.

// case: no_eigen
// The first thing to go wrong on a fresh machine.
// expect: specsample needs Eigen 3.4 or newer.*apt install libeigen3-dev.*-I/usr/include/eigen3
#ifndef FIXED
#include <specsample/specsample.hpp>
#endif
