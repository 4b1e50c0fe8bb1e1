// Offences: an upper floor, an include whose floor cannot be seen; a banned header.
#include "round.hpp"
#include <random>
#include <specsample/sampler/sampler.hpp>
