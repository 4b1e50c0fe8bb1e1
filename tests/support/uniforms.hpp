// Uniform random numbers for simulations that must not use the library's own RNG.
#pragma once

#include <cstdint>

/// SplitMix64 as a stream of uniforms in [0, 1): the same numbers everywhere.
struct Uniforms {
    std::uint64_t state;

    double operator()() {
        std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }
};
