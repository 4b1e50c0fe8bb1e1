// Rounds over rows that are shaped on access.
#include "fuzz/case.hpp"

void fuzz::run_shaped(Bytes& bytes) {
    switch (bytes.below(3)) {
        case 0:
            return run_tree<Shaped<OfLogits<float>>, Shaped<OfLogits<float>>>(bytes);
        case 1:
            return run_chain<Shaped<Dense<float>>, Dense<float>>(bytes);
        default:
            return run_chain<Shaped<OfCandidates>, OfLogits<double>>(bytes);
    }
}
