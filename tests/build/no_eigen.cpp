// The first thing to go wrong on a fresh machine; compiled as a case of tests/fail, but without Eigen's include path.
// expect: specsample needs Eigen 3.4 or newer.*apt install libeigen3-dev.*-I/usr/include/eigen3
#if !defined(FIXED)
#include <specsample/specsample.hpp>
#endif
