// Rounds over rows that hold some ids only.
#include "fuzz/case.hpp"

void fuzz::run_sparse(Bytes& bytes) {
    switch (bytes.below(4)) {
        case 0:
            return run_chain<OfIds<float>, Dense<float>>(bytes);
        case 1:
            return run_tree<OfIds<double>, OfIds<float>>(bytes);
        case 2:
            return run_chain<OfCandidates, OfCandidates>(bytes);
        default:
            return run_tree<OfIds<float>, NoRow>(bytes);
    }
}
