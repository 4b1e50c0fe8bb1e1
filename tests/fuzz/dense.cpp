// Rounds over rows of probabilities.
#include "fuzz/case.hpp"

void fuzz::run_dense(Bytes& bytes) {
    switch (bytes.below(7)) {
        case 0:
            return run_tree<Dense<float>, Dense<float>>(bytes);
        case 1:
            return run_chain<Dense<double>, OfIds<float>>(bytes);
        case 2:
            return run_tree<Dense<Eigen::half>, Dense<Eigen::bfloat16>>(bytes);
        case 3:
            return run_chain<Dense<Eigen::bfloat16>, OfLogits<float>>(bytes);
        case 4:
            return run_tree<Strided<float>, Strided<double>>(bytes);
        case 5:
            return run_chain<Dense<float>, Dense<float>>(bytes);
        default:
            return run_chain<Padded<float, false>, NoRow>(bytes);
    }
}
