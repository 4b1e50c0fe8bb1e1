// Rounds over rows of logits.
#include "fuzz/case.hpp"

void fuzz::run_logits(Bytes& bytes) {
    switch (bytes.below(4)) {
        case 0:
            return run_tree<OfLogits<float>, OfLogits<float>>(bytes);
        case 1:
            return run_chain<OfLogits<double>, Dense<double>>(bytes);
        case 2:
            return run_tree<OfLogits<Eigen::half>, OfCandidates>(bytes);
        default:
            return run_chain<Padded<float, true>, Dense<Eigen::half>>(bytes);
    }
}
