// One part of a program whose files are compiled differently. CMake gives each its NAME and its flags.
#include <array>

#include <specsample/random.hpp>

#define SPECSAMPLE_JOIN(a, b) a##b
#define SPECSAMPLE_NAMED(function, name) SPECSAMPLE_JOIN(function, name)

/// A token drawn from a row that spans blocks, lanes and a rest.
int SPECSAMPLE_NAMED(draw_, NAME)(unsigned seed) {
    static std::array<Eigen::half, 1500> logits;
    for (std::size_t i = 0; i < logits.size(); ++i)
        logits[i] = static_cast<Eigen::half>(static_cast<float>(i % 37) * .1f);
    const specsample::RoundRng rng(seed, 0, 0);
    const auto drawn = specsample::draw(rng.at(specsample::Purpose::last, 0), specsample::Logits(std::span(logits)));
    return static_cast<int>(drawn.index);
}

/// Break a contract; returns only if nothing notices.
void SPECSAMPLE_NAMED(fail_, NAME)() { specsample::Logits(std::span<const float>(), -1); }
