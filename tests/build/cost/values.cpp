// One call of verify for rows that are values, on a chain.
#include <specsample/values.hpp>
using namespace specsample;
int main() {
    const float q[8] = {}, p[16] = {};
    const Token drafted[] = {3};
    const Origin origins[] = {Origin::sampled(Row::logits({q, 8}, .8))};
    Workspace workspace;
    const Round round = verify(drafted, origins, Rows(Row::logits({p, 8}, .8), 2), TokenVerification{},
                               RoundRng(1, 0, 0), {}, workspace);
    return static_cast<int>(round.tokens.size());
}
