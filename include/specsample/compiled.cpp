// The definitions of what <specsample/compiled.hpp> declares: the source of the CMake target specsample::compiled.
#define SPECSAMPLE_EXTERN
#include <specsample/compiled_values.hpp>
#define SPECSAMPLE_EXTERN
#include <specsample/compiled.hpp>
#if defined(__cpp_exceptions)  // the C interface, which turns them into codes
#include <specsample/c.cpp>
#endif
