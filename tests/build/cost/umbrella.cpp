// The umbrella alone.
#include <specsample/specsample.hpp>
