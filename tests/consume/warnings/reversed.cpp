// Umbrellas before those that they do not need: no name of one header is shadowed in another that comes after it.
#include <specsample/metrics.hpp>

#include <specsample/length.hpp>

#include <specsample/theory.hpp>

#include <specsample/vocabularies.hpp>

#include <specsample/beam.hpp>

#include <specsample/shard.hpp>

#include <specsample/lossy.hpp>

#include <specsample/drafters.hpp>

#include <specsample/shaping.hpp>

#include <specsample/specsample.hpp>

#include <specsample/testing.hpp>

int main() {}
