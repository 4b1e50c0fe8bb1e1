// A field of structs that are gone at the end of the line.
// expect: error: static assertion failed.*specsample: this list is borrowed, and a temporary would be gone before it is
// read
#include <specsample/specsample.hpp>

using namespace specsample;

struct Candidate {
    int id;
    float logit;
};

int main() {
#ifdef FIXED
    const std::vector<Candidate> candidates{{0, 1}, {1, 2}};
    const auto logits = member(candidates, &Candidate::logit);
#else
    const auto logits = member(std::vector<Candidate>{{0, 1}, {1, 2}}, &Candidate::logit);
#endif
    return static_cast<int>(logits.size());
}
