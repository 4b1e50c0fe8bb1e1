// The row that a token is drawn from is borrowed until the round ends.
// expect: error: .*deleted.*draft_token
#include <specsample/specsample.hpp>

using namespace specsample;

int main() {
    const Rng rng = RoundRng(1, 2, 3).at(Purpose::draft, 0);
    std::vector<float> row{.5f, .5f};
#ifdef FIXED
    const auto drafted = draft_token(rng, row);
#else
    const auto drafted = draft_token(rng, std::move(row));
#endif
    return drafted.token;
}
