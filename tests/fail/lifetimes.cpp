// Borrowed arguments that would be gone, and draws without an address.
#include <array>

#include <specsample/length.hpp>
#include <specsample/lossy.hpp>
#include <specsample/sampler.hpp>
#include <specsample/specsample.hpp>
#include <specsample/verify/batch.hpp>

// case: draft_token_of_a_temporary
// The row that a token is drawn from is borrowed until the round ends.
// expect: error: .*deleted.*draft_token
namespace draft_token_of_a_temporary {

using namespace specsample;

int program() {
    const RoundRng rng(1, 2, 3);
    std::vector<float> row{.5f, .5f};
#ifdef FIXED
    const auto drafted = draft_token(TokenVerification{}, rng, 0, row);
#else
    const auto drafted = draft_token(TokenVerification{}, rng, 0, std::move(row));
#endif
    return drafted.token;
}

}  // namespace draft_token_of_a_temporary

// case: draft_tree_stop_tokens_without_a_name
// A draft tree keeps its stop tokens until the next draft, so they must outlive this line.
// expect: error: static assertion failed.*specsample: this list is borrowed, and a temporary would be gone before it is
// read
namespace draft_tree_stop_tokens_without_a_name {

using namespace specsample;

int program() {
    DraftTree<PointMass> draft_tree;
#ifdef FIXED
    const std::array<Token, 3> stops{2, 3, 4};
    draft_tree.open(4, stops, 10);
#else
    draft_tree.open(4, std::array<Token, 3>{2, 3, 4}, 10);
#endif
    return draft_tree.is_stop(2) ? 0 : 1;
}

}  // namespace draft_tree_stop_tokens_without_a_name

// case: draw_from_a_row
// A row of integers is neither probabilities nor weights.
// expect: error: static assertion failed.*specsample::draw: the second argument must be a row.*or weights; write draw
namespace draw_from_a_row {

using namespace specsample;

int program() {
    const Rng rng = RoundRng(1, 2, 3).at(Purpose::last, 0);
#ifdef FIXED
    const std::vector<float> row{.5f, .5f};
#else
    const std::vector<int> row{1, 1};
#endif
    return static_cast<int>(draw(rng, row).index);
}

}  // namespace draw_from_a_row

// case: draw_without_an_address
// Random numbers have addresses: a source of them is none.
// expect: error: static assertion failed.*specsample::draw: the first argument must be the random numbers of one
// address
namespace draw_without_an_address {

using namespace specsample;

int program() {
    const std::vector<float> row{.5f, .5f};
#ifdef FIXED
    const auto rng = RoundRng(1, 2, 3).at(Purpose::last, 0);
#else
    const auto rng = RoundRng(1, 2, 3);
#endif
    return static_cast<int>(draw(rng, row).index);
}

}  // namespace draw_without_an_address

// case: member_of_a_temporary
// A field of structs that are gone at the end of the line.
// expect: error: static assertion failed.*specsample: this list is borrowed, and a temporary would be gone before it is
// read
namespace member_of_a_temporary {

using namespace specsample;

struct Candidate {
    int id;
    float logit;
};

int program() {
#ifdef FIXED
    const std::vector<Candidate> candidates{{0, 1}, {1, 2}};
    const auto logits = member(candidates, &Candidate::logit);
#else
    const auto logits = member(std::vector<Candidate>{{0, 1}, {1, 2}}, &Candidate::logit);
#endif
    return static_cast<int>(logits.size());
}

}  // namespace member_of_a_temporary

// case: sampled_temporary_logits
// A distribution over logits that own their numbers and are gone at the end of the line.
// expect: error: .*deleted.*Sampled
namespace sampled_temporary_logits {

int program() {
    Eigen::VectorXf row = Eigen::VectorXf::Constant(4, 2);
#ifdef FIXED
    const specsample::Logits logits(std::move(row), .8);
    const specsample::Sampled distribution(logits);
#else
    const specsample::Sampled distribution(specsample::Logits(std::move(row), .8));
#endif
    return distribution.weight(0) > 0 ? 0 : 1;
}

}  // namespace sampled_temporary_logits

// case: sampled_temporary_sparse
// A distribution over a sparse row that owns its numbers and is gone at the end of the line.
// expect: error: .*deleted.*Sampled
namespace sampled_temporary_sparse {

int program() {
#ifdef FIXED
    const specsample::Sparse row(std::vector<int>{1}, std::vector<float>{1}, 4);
    const specsample::Sampled distribution(row);
#else
    const specsample::Sampled distribution(specsample::Sparse(std::vector<int>{1}, std::vector<float>{1}, 4));
#endif
    return distribution.weight(1) > 0 ? 0 : 1;
}

}  // namespace sampled_temporary_sparse

// case: sampled_without_temporary_ids
// A distribution that names the ids which could not be drawn by a list that is gone at the end of the line.
// expect: error: static assertion failed.*specsample: this list is borrowed, and a temporary would be gone before it is
// read
namespace sampled_without_temporary_ids {

using namespace specsample;

int program() {
    const std::vector<float> row{.5f, .25f, .25f};
#ifdef FIXED
    const std::array<Token, 1> drawn{0};
    const Sampled distribution(row, drawn);
#else
    const Sampled distribution(row, std::array<Token, 1>{0});
#endif
    return distribution.weight(1) > 0 ? 0 : 1;
}

}  // namespace sampled_without_temporary_ids

// case: staged_by_a_lossy_rule
// A middle model that judges by a lossy rule: the tokens do not follow the distribution that the target would be told.
// expect: error: static assertion failed.*specsample::StagedDrafter: the rule between draft and middle model must be
// lossless
namespace staged_by_a_lossy_rule {

using namespace specsample;
using namespace specsample::lossy;

int program() {
    const auto model = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
#ifdef FIXED
    StagedDrafter draft(model, model, 2, TokenVerification{});
#else
    StagedDrafter draft(model, model, 2, Lenience{.5});
#endif
    Sampler sampler(draft, model);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}

}  // namespace staged_by_a_lossy_rule

// case: stop_tokens_in_braces
// Stop tokens in braces, which Limits would own and RoundLimits would not.
// expect: error: static assertion failed.*specsample: this list is borrowed, and elements in braces would be gone
// before they are read
namespace stop_tokens_in_braces {

using namespace specsample;

int program() {
#ifdef FIXED
    static constexpr Token stops[] = {2, 3};
    const RoundLimits limits{.stop_tokens = stops};
#else
    const RoundLimits limits{.stop_tokens = {2, 3}};
#endif
    return limits.stops(2) ? 0 : 1;
}

}  // namespace stop_tokens_in_braces

// case: stop_tokens_without_a_name
// Stop tokens that are gone before the round begins.
// expect: error: static assertion failed.*specsample: this list is borrowed, and a temporary would be gone before it is
// read; give the list a name
namespace stop_tokens_without_a_name {

using namespace specsample;

int program() {
#ifdef FIXED
    const std::vector<Token> stops{2};
    const RoundLimits limits{.stop_tokens = stops};
#else
    const RoundLimits limits{.stop_tokens = std::vector<Token>{2}};
#endif
    return limits.stops(2) ? 0 : 1;
}

}  // namespace stop_tokens_without_a_name

// case: stop_without_probabilities
// A stop that looks at probabilities, on a drafter that returns none.
// expect: error: static assertion failed.*specsample::ChainDrafter: a stop looks at probabilities, but draft\(prefix\)
// returns a token
namespace stop_without_probabilities {

using namespace specsample;

int program() {
    const auto target = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
#ifdef FIXED
    const auto draft = target;
#else
    const auto draft = [](std::span<const Token>) { return Token{1}; };
#endif
    Sampler sampler(ChainDrafter(draft, ConfidenceStop{}), target);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}

}  // namespace stop_without_probabilities

// case: tree_of_temporaries
// A tree over lists that are gone at the end of the line.
// expect: error: static assertion failed.*specsample: this list is borrowed, and a temporary would be gone before it is
// read
namespace tree_of_temporaries {

using namespace specsample;

int program() {
    const std::vector<Token> tokens{1, 2};
#ifdef FIXED
    const std::array<int, 2> parents{-1, 0};
    const Tree tree{tokens, parents};
#else
    const Tree tree{tokens, std::array<int, 2>{-1, 0}};
#endif
    return static_cast<int>(tree.parents.size());
}

}  // namespace tree_of_temporaries

// case: until_without_a_name
// A stop predicate that is gone before the round begins.
// expect: error: static assertion failed.*`until` is borrowed, and a temporary would be gone before it is called
namespace until_without_a_name {

using namespace specsample;

int program() {
#ifdef FIXED
    const auto until = [](std::span<const Token>) { return StopDecision::go_on; };
    const RoundLimits limits{.until = until};
#else
    const RoundLimits limits{.until = [](std::span<const Token>) { return StopDecision::go_on; }};
#endif
    return limits.stops(0) ? 1 : 0;
}

}  // namespace until_without_a_name

// case: element_of_temporary_logits
// A row of a list of logits that owns its rows and is gone at the end of the line.
// expect: error: .*deleted.*operator
namespace element_of_temporary_logits {

using namespace specsample;

int program() {
#ifdef FIXED
    const auto rows = logits_of(std::vector<std::vector<float>>{{1, 2}, {3, 4}}, .5);
    const auto row = rows[1];
#else
    const auto row = logits_of(std::vector<std::vector<float>>{{1, 2}, {3, 4}}, .5)[1];
#endif
    return static_cast<int>(row.size());
}

}  // namespace element_of_temporary_logits

// case: element_of_temporary_slice
// A row of a slice that owns all rows and is gone at the end of the line.
// expect: error: .*deleted.*operator
namespace element_of_temporary_slice {

using namespace specsample;

int program() {
#ifdef FIXED
    const auto rows = slice(std::vector<std::vector<float>>{{1, 2}, {3, 4}}, 0, 2);
    const auto& row = rows[1];
#else
    const auto& row = slice(std::vector<std::vector<float>>{{1, 2}, {3, 4}}, 0, 2)[1];
#endif
    return static_cast<int>(row.size());
}

}  // namespace element_of_temporary_slice

// case: sampled_half_owned_sparse
// A distribution over a sparse row that views its ids but owns its numbers, and is gone at the end of the line.
// expect: error: .*deleted.*Sampled
namespace sampled_half_owned_sparse {

using namespace specsample;

int program() {
    const std::vector<int> ids{1};
#ifdef FIXED
    const Sparse row(std::span<const int>(ids), std::vector<float>{1}, 4);
    const Sampled distribution(row);
#else
    const Sampled distribution(Sparse(std::span<const int>(ids), std::vector<float>{1}, 4));
#endif
    return distribution.weight(1) > 0 ? 0 : 1;
}

}  // namespace sampled_half_owned_sparse

// case: row_in_braces
// Numbers in braces, which are gone when the model returns.
// expect: error: static assertion failed.*must return a row of probabilities
namespace row_in_braces {

using namespace specsample;

int program() {
#ifdef FIXED
    const auto model = [](std::span<const Token>) { return std::array<float, 2>{.5f, .5f}; };
#else
    const auto model = [](std::span<const Token>) { return std::initializer_list<float>{.5f, .5f}; };
#endif
    Sampler sampler(model, model);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}

}  // namespace row_in_braces

// case: weights_of_a_temporary
// Weights that view a row which is gone at the end of the line.
// expect: error: .*deleted.*row_weights
namespace weights_of_a_temporary {

using namespace specsample;

int program() {
#ifdef FIXED
    const std::vector<float> row{.5f, .5f};
    const auto weights = kernels::row_weights(row);
#else
    const auto weights = kernels::row_weights(std::vector<float>{.5f, .5f});
#endif
    return weights[0] > 0 ? 0 : 1;
}

}  // namespace weights_of_a_temporary

// case: probs_of_temporary_logits
// Probabilities that view logits which are gone at the end of the line.
// expect: error: .*deleted.*probs
namespace probs_of_temporary_logits {

using namespace specsample;

int program() {
#ifdef FIXED
    const Logits row(std::vector<float>{1, 2}, .8);
    const auto probs = row.probs();
#else
    const auto probs = Logits(std::vector<float>{1, 2}, .8).probs();
#endif
    return probs.coeff(0) > 0 ? 0 : 1;
}

}  // namespace probs_of_temporary_logits
