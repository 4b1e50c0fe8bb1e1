// Drafts from rows as a message keeps them have the target's distribution, however few ids are kept.
#include <specsample/drafters/wire.hpp>

#include <specsample/drafters/tree.hpp>
#include <specsample/rows/sparse.hpp>
#include <specsample/values.hpp>

#include "exactness/trees.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::walks;

namespace {

/// A model whose rows are quantised.
class Quantised {
  public:
    Quantised(ContextModel model, Index vocab, Index top) : model_(std::move(model)), vocab_(vocab), top_(top) {}

    auto operator()(std::span<const Token> prefix) {
        const Eigen::VectorXd row = model_(prefix);
        draft_.open(0, 0, vocab_);
        const Index number = draft_.add_row(Row::probs(row), top_);
        return Sparse(draft_.ids(number), draft_.probs(number), vocab_);
    }

  private:
    ContextModel model_;
    Index vocab_, top_;
    wire::Draft draft_;
};

}  // namespace

TEST_CASE("drafts from quantised rows have the target's joint distribution") {
    for (const Index vocab : {2, 3})
        for (const Index top : {1, 2, 3})
            for (const RowKind kind : {RowKind::smooth, RowKind::with_zeros, RowKind::spanning}) {
                const Remembered target = ContextModel(vocab, 21, kind);
                const Quantised draft(ContextModel(vocab, 22, kind), vocab, top);
                INFO("vocab " << vocab << ", top " << top);
                for (const Index lookahead : {1, 3}) {
                    CHECK(distance_from_target(TokenVerification{}, draft, target, lookahead) < 1e-12);
                    CHECK(distance_from_target(BlockVerification{}, draft, target, lookahead) < 1e-12);
                }
                CHECK(distance_from_target(TraversalVerification{}, TreeDrafter(draft, {2, 1}), target, 2) < 1e-12);
                CHECK(distance_from_target(RecursiveRejection{}, TreeDrafter(draft, {2, 1}), target, 2) < 1e-12);
            }
}

// A fixed seed, and a false-alarm probability of 1e-9.
TEST_CASE("texts whose drafts come as messages have the target's distribution over many rounds") {
    constexpr int samples = 30000;
    constexpr Index vocab = 3, length = 4, lookahead = 2;
    const ContextModel draft_model(vocab, 31), target_model(vocab, 32);
    wire::Draft sent, received;
    std::vector<std::byte> message;
    Workspace workspace;
    TextDistribution observed;
    for (std::uint64_t request = 0; request < samples; ++request) {
        std::vector<Token> text;
        while (std::ssize(text) < length) {
            const Index start = std::ssize(text);
            const RoundRng rng(11, request, start);
            sent.open(request, start, vocab);
            for (Index node = 0; node < lookahead; ++node) {
                const Eigen::VectorXd q = draft_model(text);
                const Index row = sent.add_row(Row::probs(q), 2);
                const Token token = draft_token(BlockVerification{}, rng, node, sent.row(row)).token;
                sent.add(node - 1, token, row);
                text.push_back(token);
            }
            sent.write(message);
            REQUIRE_FALSE(received.read(message, request, start, vocab));
            std::vector<Eigen::VectorXd> p;
            for (Index i = 0; i <= lookahead; ++i)
                p.push_back(target_model(std::span(text).first(static_cast<std::size_t>(start + i))));
            const auto row_of = [&](Index i) { return Row::probs(p[static_cast<std::size_t>(i)]); };
            const Round round = verify(received.tree().tokens, received.origins(), Rows(row_of), BlockVerification{},
                                       rng, {}, workspace);
            REQUIRE(round);
            text.resize(static_cast<std::size_t>(start));
            text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        }
        text.resize(length);
        ++observed[text];
    }
    CHECK(chi_square(observed, joint_distribution(target_model, length), samples).holds());
}
