// The C interface on random bytes, as the fuzzer runs it, with every compiler.
#include "fuzz/c_interface.cpp"

#include <specsample/random/rng.hpp>

#include "support/catch.hpp"

TEST_CASE("calls of C on any bytes return a code that is explained") {
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
        const specsample::Rng random({.seed = seed});
        std::vector<std::uint8_t> bytes(600);
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::uint8_t>(random.bits(static_cast<std::uint32_t>(i)));
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
    CHECK(done.rounds > 300);
    CHECK(done.faults > 200);
    CHECK(done.shaped > 1000);
}
