// A round of a stored draft is the round of the draft, to the bit: under every rule, whatever its rows are.
#include <specsample/proposal/stored.hpp>

#include "support/catch.hpp"
#include "threads/requests.hpp"

using namespace requests;

namespace {

/// A row as filters leave it.
Sparse<std::vector<std::int16_t>, std::vector<float>> sparse_of(const Eigen::VectorXf& row) {
    std::vector<std::int16_t> ids;
    std::vector<float> probs;
    for (std::int16_t id = 0; id < row.size(); ++id)
        if (row[id] > 0) ids.push_back(id), probs.push_back(row[id]);
    return {std::move(ids), std::move(probs), row.size()};
}

/// Judge a chain by given laws, straight on and restored from bytes into a draft that has held another before.
template <class Laws>
bool is_same_round(const Case& request, const Laws& laws) {
    static StoredProposal<float> restored;
    StoredProposal<float> stored;
    stored.open({request.seed, request.request, request.start});
    for (std::size_t i = 0; i < request.tokens.size(); ++i) stored.add(request.tokens[i], laws(static_cast<Index>(i)));
    if (restored.restore(stored.save())) return false;
    const RoundKey key = restored.key();
    return request.with_rule([&](const auto& rule) {
        Workspace first, second;
        const Round straight =
            verify(request.tokens, laws, request.rows, rule, request.coins(), request.limits(), first);
        const Round later = verify(restored.tokens(), restored.laws(), request.rows, rule,
                                   Coins(key.seed, key.request, key.start), request.limits(), second);
        return straight && same(straight, later);
    });
}

}  // namespace

TEST_CASE("a round of a stored draft is that of the draft, from rows of every kind and under every rule") {
    Chance chance(5);
    Index rejected = 0, accepted = 0;
    for (int trial = 0; trial < 600; ++trial) {
        Case request(chance);
        request.is_tree = false;
        std::vector<Eigen::VectorXf> logits;
        std::vector<Sparse<std::vector<std::int16_t>, std::vector<float>>> sparse;
        for (Index i = 0; i < request.draft_rows.rows(); ++i) {
            const Eigen::VectorXf row = request.draft_rows.row(i).transpose();
            logits.push_back((row.array().log() * .7f + 3).matrix());
            sparse.push_back(sparse_of(row));
        }
        const auto at = [](auto& list, Index i) -> const auto& { return list[static_cast<std::size_t>(i)]; };
        using Mix = Mixed<row_view_t<Eigen::VectorXf>>;
        CHECK(is_same_round(request, request.laws()));
        CHECK(is_same_round(request, [&](Index i) { return Sampled(at(sparse, i)); }));
        CHECK(is_same_round(request, [](Index) { return PointMass{}; }));
        CHECK(is_same_round(request, [&](Index i) -> Mix {
            return i % 2 == 0 ? Mix(PointMass{}) : Mix(Sampled(request.draft_rows.row(i)));
        }));
        std::vector<Logits<Eigen::VectorXf>> rows_of_logits;
        for (const Eigen::VectorXf& row : logits) rows_of_logits.emplace_back(Eigen::VectorXf(row), .7);
        CHECK(is_same_round(request, [&](Index i) { return Sampled(at(rows_of_logits, i)); }));

        Workspace workspace;
        const Round round = request.verified(workspace);
        accepted += round.accepted;
        rejected += round.last == Last::recovered || round.last == Last::matched ? 1 : 0;
    }
    CHECK(accepted > 300);
    CHECK(rejected > 150);
}
