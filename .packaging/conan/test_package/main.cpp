#include <cstdio>
#include <vector>

#include <specsample/values.hpp>

using namespace specsample;

int main() {
    const std::vector<double> q{.2, .3, .5}, p{.5, .3, .2};
    const RoundRng rng(1, 0, 0);
    const auto drafted = draft_token(TokenVerification{}, rng, 0, Row::probs(q));
    const std::vector<Token> tokens{drafted.token};
    const std::vector<Origin> origins{drafted.origin};
    const std::vector<Row> rows(2, Row::probs(p));
    Workspace workspace;
    const Round round = verify(tokens, origins, rows, TokenVerification{}, rng, {}, workspace);
    std::printf("%d tokens\n", static_cast<int>(round.tokens.size()));
    return round ? 0 : 1;
}
