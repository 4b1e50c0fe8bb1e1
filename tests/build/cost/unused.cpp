// Nothing of values is used.
#include <specsample/values.hpp>
