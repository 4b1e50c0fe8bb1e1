// The sampler for llama.cpp's chains: its token is GumbelMatch's, whatever order the candidates are in; and a text is
// the same with any drafts.
#include "llama_cpp/race_sampler.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "exact/chi_square.hpp"
#include "llama_cpp/engine.hpp"
#include "llama_cpp/equality_loop.hpp"
#include "support/catch.hpp"

using namespace specsample;

namespace {

using Tokens = std::vector<llama_token>;

llama_token_data_array array_of(std::vector<llama_token_data>& candidates) {
    return {candidates.data(), candidates.size(), -1, false};
}

/// The token that a sampler selects; -1 if none.
llama_token selected(llama_sampler* sampler, std::vector<llama_token_data> candidates) {
    llama_token_data_array all = array_of(candidates);
    llama_sampler_apply(sampler, &all);
    return all.selected < 0 ? -1 : all.data[all.selected].id;
}

ChainOwner race(const RaceOptions& options) { return ChainOwner(race_sampler(options)); }

/// Candidates with random logits for the ids that `keep` keeps.
std::vector<llama_token_data> candidates_of(std::mt19937& engine, int vocab, auto&& keep) {
    std::normal_distribution<float> logit(0, 2);
    std::vector<llama_token_data> candidates;
    for (llama_token id = 0; id < vocab; ++id)
        if (const float value = logit(engine); keep(id)) candidates.push_back({id, value, 0});
    return candidates;
}

}  // namespace

TEST_CASE("the sampler's token is the one that GumbelMatch emits") {
    std::mt19937 engine(1);
    for (int i = 0; i < 200; ++i) {
        auto candidates = candidates_of(engine, 300, [](llama_token) { return true; });
        std::vector<float> logits;
        for (const auto& each : candidates) logits.push_back(each.logit);
        const Row row = Row::logits(logits);
        const auto seed = std::uint64_t(engine()) << 20;
        const RoundRng rng(seed, 3, 17);
        Workspace workspace;
        const Round round =
            verify(std::span<const Token>(), PointMass{}, std::span(&row, 1), GumbelMatch{}, rng, {}, workspace);
        const ChainOwner sampler = race({.seed = seed, .request = 3, .position = 17});
        CHECK(selected(sampler.get(), candidates) == round.tokens[0]);
        std::ranges::shuffle(candidates, engine);
        CHECK(selected(sampler.get(), candidates) == round.tokens[0]);
    }
}

TEST_CASE("the sampler selects among the candidates that a chain has left, in any order") {
    std::mt19937 engine(2);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        auto candidates = candidates_of(engine, 1000, [](llama_token id) { return id % 7 == 3; });
        const ChainOwner sampler = race({.seed = seed});
        const llama_token in_order = selected(sampler.get(), candidates);
        CHECK(in_order % 7 == 3);
        std::ranges::sort(candidates, std::greater(), &llama_token_data::logit);
        CHECK(selected(sampler.get(), candidates) == in_order);
        // Whoever comes behind the winner could as well be missing.
        std::erase_if(candidates, [&](const auto& each) { return each.id != in_order && each.id % 2 == 0; });
        CHECK(selected(sampler.get(), candidates) == in_order);
    }
}

TEST_CASE("the sampler's tokens have the distribution of the logits") {
    const std::vector<llama_token_data> candidates{{5, 1.5f, 0}, {0, -1, 0}, {3, 0, 0}, {9, 2, 0}};
    Eigen::ArrayXd distribution = Eigen::ArrayXd::Zero(10), counts = distribution;
    for (const auto& each : candidates) distribution[each.id] = std::exp(double{each.logit});
    distribution /= distribution.sum();
    const ChainOwner sampler = race({.seed = 11});
    for (int i = 0; i < 40000; ++i) {
        const llama_token token = selected(sampler.get(), candidates);
        REQUIRE(token >= 0);
        ++counts[token];
        llama_sampler_accept(sampler.get(), token);
    }
    CHECK(exact::chi_square(counts, distribution).holds());  // a false alarm has probability 2.9e-7
    CHECK(((counts > 0) == (distribution > 0)).all());
}

TEST_CASE("accepted tokens move the sampler on, reset returns, and a clone goes its own way") {
    std::mt19937 engine(3);
    const auto candidates = candidates_of(engine, 5000, [](llama_token) { return true; });
    const auto at = [&](Index position) { return selected(race({.seed = 5, .position = position}).get(), candidates); };
    const ChainOwner sampler = race({.seed = 5, .position = 2});
    for (Index position = 2; position < 6; ++position, llama_sampler_accept(sampler.get(), 0))
        CHECK(selected(sampler.get(), candidates) == at(position));
    const ChainOwner clone(llama_sampler_clone(sampler.get()));
    llama_sampler_accept(clone.get(), 0);
    CHECK(selected(clone.get(), candidates) == at(7));
    CHECK(selected(sampler.get(), candidates) == at(6));
    llama_sampler_copy(sampler.get(), clone.get());
    CHECK(selected(clone.get(), candidates) == at(6));
    llama_sampler_reset(sampler.get());
    CHECK(selected(sampler.get(), candidates) == at(2));
    CHECK(selected(clone.get(), candidates) == at(6));
    CHECK(at(2) != at(6));
    CHECK(selected(race({.seed = 5, .request = 1, .position = 2}).get(), candidates) != at(2));
}

TEST_CASE("where nothing can win, nothing is selected") {
    constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const ChainOwner sampler = race({});
    CHECK(selected(sampler.get(), {}) == -1);
    CHECK(selected(sampler.get(), {{0, -inf, 0}, {4, -inf, 0}}) == -1);
    CHECK(selected(sampler.get(), {{0, 1, 0}, {4, nan, 0}}) == -1);
    CHECK(selected(sampler.get(), {{0, 1, 0}, {4, inf, 0}}) == -1);
    CHECK(selected(sampler.get(), {{-5, 1, 0}, {-3, 1, 0}}) == -1);  // no ids
    CHECK(selected(sampler.get(), {{0, -inf, 0}, {4, -2000, 0}, {2, -inf, 0}}) == 4);
}

TEST_CASE("programs that test equality write the same text with any drafts") {
    const auto ends = [](llama_token token) { return token == 0; };
    int looked_up = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const auto write = [&](int lookahead, std::int32_t window, const auto& make_sampler) {
            llama_context target, draft{.model = {.window = window}};
            Decoder scoring{&target}, drafting{&draft};
            const ChainOwner chain = race({.seed = seed});
            return write_by_equality(scoring, chain.get(), {1, 2, 3}, 30, lookahead,
                                     draft_by_model(drafting, make_sampler), ends);
        };
        const auto apart = [other = seed + 1000](const llama_sampler*) mutable { return race({.seed = ++other}); };
        const EqualityText plain = write(0, 0, greedy);
        CHECK(plain.rounds == int(plain.tokens.size()));
        CHECK((plain.tokens.size() == 30 || (plain.tokens.size() < 30 && plain.tokens.back() == 0)));
        for (const std::int32_t window : {0, 5})  // the target itself, and another model
            for (const int lookahead : {1, 4})
                for (const EqualityText& text : {write(lookahead, window, clone_of), write(lookahead, window, apart),
                                                 write(lookahead, window, greedy)}) {
                    CHECK(text.tokens == plain.tokens);
                    CHECK(text.rounds + text.accepted >= int(plain.tokens.size()));
                    CHECK(text.rounds + text.accepted <=
                          int(plain.tokens.size()) + 1);  // the last may be a drafted one
                    CHECK(text.accepted <= text.drafted);
                }
        // By the same numbers, the same model draws the same tokens.
        const EqualityText cloned = write(4, 0, clone_of);
        CHECK(cloned.accepted == cloned.drafted);
        llama_context target;
        Decoder scoring{&target};
        const ChainOwner chain = race({.seed = seed});
        const EqualityText copied =
            write_by_equality(scoring, chain.get(), {1, 2, 3}, 30, 3, draft_by_lookup(target.model.vocab.size), ends);
        CHECK(copied.tokens == plain.tokens);
        looked_up += copied.drafted;
    }
    CHECK(looked_up > 0);
}
