// verify on arbitrary bytes: rows, distributions, drafts and limits of every kind, good ones and bad ones. It must not
// crash, it must name what is bad, and its other results must be valid rounds. round.hpp and case.hpp list all
// conditions.
//
// libFuzzer calls this function; replay.cpp calls it for files that it is given.
#include "fuzz/case.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Bytes bytes({data, size});
    switch (bytes.below(4)) {
        case 0:
            fuzz::run_dense(bytes);
            return 0;
        case 1:
            fuzz::run_logits(bytes);
            return 0;
        case 2:
            fuzz::run_sparse(bytes);
            return 0;
        default:
            fuzz::run_shaped(bytes);
            return 0;
    }
}
