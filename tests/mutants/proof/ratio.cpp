// The other rules that accept by ratios.
#include "mutants/proof/proof.hpp"

using namespace proof;

TEST_CASE("mutants: block verification", "[ratio]") { prove("block verification", BlockVerification{}); }
TEST_CASE("mutants: K-SEQ", "[ratio]") { prove("K-SEQ", KSeq{}, {Kind::independent}); }
