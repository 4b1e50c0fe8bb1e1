// A rank's slice of a vocabulary.
#pragma once

#include <specsample/specsample.hpp>

/// The ids [first, first + count) of a rank, where all ranks have as many, or one more or less.
struct Slice {
    specsample::Index first, count;

    Slice(specsample::Index vocab, specsample::Index rank, specsample::Index ranks)
        : first(vocab * rank / ranks), count(vocab * (rank + 1) / ranks - first) {}
};
