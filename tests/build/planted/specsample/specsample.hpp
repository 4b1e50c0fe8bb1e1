// Offences: not in floor order, `testing` in the umbrella; and one line too long for the planted budget.
#include <specsample/verify.hpp>
#include <specsample/core.hpp>
#include <specsample/sampler.hpp>
#include <specsample/testing.hpp>
