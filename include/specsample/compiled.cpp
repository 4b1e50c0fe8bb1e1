// The definitions of what <specsample/compiled.hpp> declares: the source of the CMake target specsample::compiled.
#define SPECSAMPLE_EXTERN
#include <specsample/compiled.hpp>
