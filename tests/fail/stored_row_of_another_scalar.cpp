// A draft of float rows that is given a row of doubles.
// expect: error: .*StoredProposal: a row must be kept as it is
#include <specsample/specsample.hpp>

int main() {
#ifdef FIXED
    const std::vector<float> row{.5f, .5f};
#else
    const std::vector<double> row{.5, .5};
#endif
    specsample::StoredProposal<float> stored;
    stored.add(1, specsample::Sampled(row));
}
