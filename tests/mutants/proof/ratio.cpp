// The other rules that accept by ratios.
#include "mutants/proof/proof.hpp"

using namespace proof;

int main() {
    return run([] {
        prove("block verification", BlockVerification{});
        prove("K-SEQ", KSeq{}, {Kind::independent});
    });
}
