// Rows and origins that are values.
#include <array>
#include <cstdint>

#include <specsample/values.hpp>

#include "mutants/proof/proof.hpp"

using namespace proof;

namespace {

Workspace workspace;
constexpr TokenVerification by_token;

/// Write the last token of a round without a draft, for many seeds.
std::vector<Token> tokens_of(const Rows& rows) {
    std::vector<Token> written;
    for (Index start = 0; start < 20; ++start)
        for (const Token token : verify({}, PointMass{}, rows, by_token, RoundRng(5, 0, start), {}, workspace).tokens)
            written.push_back(token);
    return written;
}

/// Judge one token of a draft row, for many seeds: by rejection, and by a walk that sums the residual.
std::vector<Token> tokens_of(const Row& q, const Row& p) {
    std::vector<Token> written;
    for (Index start = 0; start < 40; ++start) {
        const RoundRng rng(6, 0, start);
        const auto [token, origin] = draft_token(by_token, rng, 0, q);
        const Round round =
            verify(std::vector{token}, std::vector{origin}, std::vector{p, p}, by_token, rng, {}, workspace);
        written.insert(written.end(), round.tokens.begin(), round.tokens.end());
        const Round summed =
            verify(std::vector{token}, std::vector{origin}, std::vector{p, p}, BlockVerification{}, rng, {}, workspace);
        written.insert(written.end(), summed.tokens.begin(), summed.tokens.end());
    }
    return written;
}

TEST_CASE("mutants: rows that are values", "[values]") {
    const std::vector<float> row{.5f, .25f, .125f, .125f}, other{.125f, .125f, .25f, .5f};
    const std::vector<float> padded{.5f, .25f, .125f, .125f, 7, .125f, .125f, .25f, .5f, 7};
    must_hold("numbers a step apart", [&] {
        const std::vector<float> apart{.5f, 7, .25f, 7, .125f, 7, .125f, 7};
        return tokens_of(std::vector{Row::probs({apart.data(), 4, 2})}) == tokens_of(std::vector{Row::probs(row)});
    });
    must_hold("numbers of 16 bits", [&] {
        const std::vector<Eigen::half> halves(row.begin(), row.end());
        return tokens_of(std::vector{Row::probs(halves)}) == tokens_of(std::vector{Row::probs(row)});
    });
    must_hold("rows of a padded matrix", [&] {
        return tokens_of(Rows(Row::probs({padded.data(), 4}), 2, 5).slice(1, 1)) ==
               tokens_of(std::vector{Row::probs(other)});
    });
    must_hold("sparse rows", [&] {
        const std::vector<Token> ids{1, 3, 40000, 50000}, second{2, 3, 40000, 60000};
        const std::vector<std::uint16_t> short_ids(ids.begin(), ids.end()), short_second(second.begin(), second.end());
        std::vector<float> q(70000), p(70000);
        for (std::size_t i = 0; i < 4; ++i)
            q[static_cast<std::size_t>(ids[i])] = row[i], p[static_cast<std::size_t>(second[i])] = other[i];
        const auto expected = tokens_of(Row::probs(q), Row::probs(p));
        return tokens_of(Row::sparse(ids, Row::probs(row), 70000), Row::sparse(second, Row::probs(other), 70000)) ==
                   expected &&
               tokens_of(Row::sparse(short_ids, Row::probs(row), 70000),
                         Row::sparse(short_second, Row::probs(other), 70000)) == expected;
    });
    must_hold("ids that do not increase", [&] {
        const std::vector<Token> ids{0, 3, 2, 4};
        const auto fault = verify({}, PointMass{}, std::vector{Row::sparse(ids, Row::probs(row), 6)}, by_token,
                                  RoundRng(1, 2, 3), {}, workspace)
                               .fault;
        return fault && fault->cause == Cause::unordered_ids && fault->id == 2;
    });
    must_hold("two sparse rows with ids of two types", [&] {
        const std::vector<Token> ids{1, 3, 400, 500};
        const std::vector<std::uint16_t> short_ids{2, 3, 400, 600};
        const std::vector<Token> same_ids(short_ids.begin(), short_ids.end());
        const Row q = Row::sparse(ids, Row::probs(row), 700);
        return tokens_of(q, Row::sparse(short_ids, Row::probs(other), 700)) ==
               tokens_of(q, Row::sparse(same_ids, Row::probs(other), 700));
    });
    must_hold("a draft row that was written again", [&] {
        std::vector<float> reused = row;
        const RoundRng rng(1, 2, 3);
        const auto [token, origin] = draft_token(by_token, rng, 0, Row::probs(reused));
        reused[static_cast<std::size_t>(token)] = .3f;
        const Row p = Row::probs(row);
        const Round round =
            verify(std::vector{token}, std::vector{origin}, std::vector{p, p}, by_token, rng, {}, workspace);
        return round.fault && round.fault->cause == Cause::row_changed;
    });
    must_hold("a sibling that was drawn without its elder", [&] {
        const std::vector<Token> tokens{0, 1}, removed{0};
        const std::vector<Index> parents{-1, -1};
        const std::vector values{Origin::sampled(Row::probs(row)), Origin::sampled(Row::probs(row), removed)};
        const std::vector types{Sampled(row), Sampled(row, removed)};
        for (Index start = 0; start < 40; ++start) {
            const RoundRng rng(1, 2, start);
            const Row p = Row::probs(other);
            Workspace memory;
            const Round as_values =
                verify(Tree{tokens, parents}, values, std::vector(3, p), by_token, rng, {}, workspace);
            const Round as_types =
                verify(Tree{tokens, parents}, types, std::vector(3, other), by_token, rng, {}, memory);
            if (!std::ranges::equal(as_values.tokens, as_types.tokens)) return false;
        }
        return true;
    });
    must_hold("doubles of the draft alone", [&] {
        const std::vector<double> small{1e-300, 1 - 1e-300};
        const std::vector<float> target{.5f, .5f};
        const Row q = Row::probs(small), p = Row::probs(target);
        const Round round = verify(std::vector<Token>{0}, std::vector{Origin::sampled(q)}, std::vector{p, p}, by_token,
                                   RoundRng(1, 2, 3), {}, workspace);
        return round.accepted == 1;
    });
    must_hold("a row that does not sum to 1", [&] {
        const std::vector<float> half{.25f, .25f};
        const auto fault =
            verify({}, PointMass{}, std::vector{Row::probs(half)}, by_token, RoundRng(1, 2, 3), {}, workspace).fault;
        return fault && fault->cause == Cause::not_normalised;
    });
    must_hold("a row of zeros, which has no argmax", [&] {
        const std::vector<float> zeros(4);
        return !verify({}, PointMass{}, std::vector{Row::probs(zeros)}, GreedyMatch{}, RoundRng(1, 2, 3), {},
                       workspace);
    });
    must_hold("a callable that is asked for row 0 once", [&] {
        int asked = 0;
        const auto row_of = [&](Index) { return ++asked, Row::probs(row); };
        return verify({}, PointMass{}, Rows(row_of), by_token, RoundRng(1, 2, 3), {}, workspace) && asked == 1;
    });
}

}  // namespace
