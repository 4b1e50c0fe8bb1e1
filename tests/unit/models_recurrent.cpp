// Recurrent models with rollback: every row is that of the text it was asked about, whatever was rejected before.
#include <specsample/models/recurrent.hpp>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include <specsample/sampler/sampler.hpp>

#include "support/catch.hpp"
#include "support/recurrent_toy.hpp"

using namespace specsample;
using testing::ContextModel;

namespace {

constexpr Index vocab = 5;
const ContextModel truth(vocab, 3);

/// Call a model as a sampler does, and compare its rows.
void check(auto& model, const std::vector<Token>& prefix, Index count) {
    const RowMajorMatrix<double> rows = model(prefix, count);
    REQUIRE(rows == truth(prefix, count));
}

}  // namespace

TEST_CASE("the rows of a rewound model are those of its prefix", "[models]") {
    std::mt19937_64 random(1);
    const auto below = [&](Index n) { return static_cast<Index>(random() % static_cast<std::uint64_t>(n)); };
    for (const Index states : {1, 2, 9}) {
        RecurrentToy toy{truth};
        recurrent::Rewound model(std::ref(toy), states);
        std::vector<Token> text;
        for (int round = 0; round < 400; ++round) {
            if (below(40) == 0) text.clear();     // another text
            if (below(20) == 0 && !text.empty())  // and one that differs in the middle
                text[static_cast<std::size_t>(below(std::ssize(text)))] = static_cast<Token>(below(vocab));
            const Index start = std::ssize(text), lookahead = below(5);
            std::vector<Token> drafted = text;
            for (Index i = 0; i < lookahead; ++i) drafted.push_back(static_cast<Token>(below(vocab)));
            if (below(30) == 0) {
                toy.fails_at = toy.calls;
                CHECK_THROWS_WITH(model(drafted, lookahead + 1), "the device is lost");
            }
            check(model, drafted, lookahead + 1);
            const Index accepted = below(lookahead + 1);
            drafted.resize(static_cast<std::size_t>(start + accepted));
            text = drafted;
            text.push_back(static_cast<Token>(below(vocab)));
        }
    }
}

TEST_CASE("a round without a draft after a round with one reads the right state", "[models]") {
    RecurrentToy toy{truth};
    recurrent::Rewound model(std::ref(toy));
    check(model, {1, 2, 3, 4}, 3);  // 1 2, and a draft of 3 4
    check(model, {1, 2, 0}, 1);
    check(model, {1, 2, 0, 1}, 1);
}

TEST_CASE("a rejection costs the accepted tokens, not the text", "[models]") {
    RecurrentToy toy{truth};
    recurrent::Rewound model(std::ref(toy));
    std::vector<Token> text(1000, 1);
    check(model, text, 1);
    text.push_back(1);
    for (int round = 0; round < 50; ++round) {
        const Index start = std::ssize(text);
        text.insert(text.end(), 4, 2);
        const Index before = toy.tokens_read;
        check(model, text, 5);
        CHECK(toy.tokens_read - before <= 2 + 1 + 4);  // two accepted ones again, the one after them, the draft
        text.resize(static_cast<std::size_t>(start + 2));
        text.push_back(3);
    }
    CHECK(model.read_again() == 49 * 2);
}

TEST_CASE("a model that drafts token by token goes back to any position that it kept", "[models]") {
    for (const Index states : {1, 3, 6}) {
        RecurrentToy toy{truth};
        recurrent::Rewound model(std::ref(toy), states);
        std::vector<Token> text(100, 1);
        for (int round = 0; round < 20; ++round) {
            const Index start = std::ssize(text);
            for (Token i = 0; i < 4; ++i) {
                const Eigen::VectorXd row = model(text);
                REQUIRE(row == truth(text));
                text.push_back(i);
            }
            text.resize(static_cast<std::size_t>(start));
            text.push_back(4);
        }
        if (states == 6) CHECK(toy.tokens_read < 100 + 20 * 5);
    }
}

TEST_CASE("a sampler writes the text of plain models with recurrent ones", "[models]") {
    const Options options{.lookahead = 3, .seed = 5};
    const Limits limits{.max_new_tokens = 60};
    const ContextModel guess(vocab, 4);
    Sampler plain(guess, truth, options);
    RecurrentToy target{truth};
    Sampler rewound(recurrent::Rewound(RecurrentToy{guess}, 5), recurrent::Rewound(std::ref(target)), options);
    for (int text = 0; text < 3; ++text) {
        const std::vector<Token> prompt{static_cast<Token>(text), 1};
        CHECK(rewound.generate(prompt, limits).tokens == plain.generate(prompt, limits).tokens);
    }
    CHECK(target.tokens_read < 3 * 60 * 4);
}

TEST_CASE("arguments of a rewound model out of range are refused", "[models]") {
    CHECK_THROWS_WITH(recurrent::Rewound(RecurrentToy{truth}, 0),
                      "specsample::recurrent::Rewound: states is 0, but must be at least 1");
    recurrent::Rewound model(RecurrentToy{truth});
    CHECK_THROWS_WITH(model(std::vector<Token>{1}, 3),
                      "specsample::recurrent::Rewound: count is 3, but must be in [1, the size of the prefix + 1]");
    CHECK_THROWS_WITH(model(std::vector<Token>{1}, 0),
                      "specsample::recurrent::Rewound: count is 0, but must be in [1, the size of the prefix + 1]");
}
