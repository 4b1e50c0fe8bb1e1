// Under the weight of the future, texts have the distribution of the model's texts given that they are valid: on words
// of brackets (Dyck's language) of a fixed length, where both are enumerated. Under the mask alone they have another.
#include <cmath>
#include <functional>

#include <specsample/shaping.hpp>
#include <specsample/theory.hpp>

#include "exactness/trees.hpp"
#include "support/any_shaper.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::theory;
using namespace specsample::filters;

namespace {

constexpr Token opening = 0, closing = 1, letter = 2;
constexpr Index vocab = 3;
constexpr std::size_t length = 5;  // of a valid text, which closes every bracket and no other

using RowsAfter = std::function<Eigen::VectorXd(std::span<const Token>)>;

/// How many brackets are open after a text; -1 if it closes one that is not open.
Index open_after(std::span<const Token> text) {
    Index depth = 0;
    for (const Token token : text) {
        depth += token == opening ? 1 : token == closing ? -1 : 0;
        if (depth < 0) return -1;
    }
    return depth;
}

/// Whether a valid text begins with this one.
bool can_end(std::span<const Token> text) {
    const Index depth = open_after(text);
    return depth >= 0 && text.size() <= length && depth <= static_cast<Index>(length - text.size());
}

/// The probability that the text which a model writes after this one is valid.
double valid_after(const RowsAfter& model, const std::vector<Token>& text) {
    if (!can_end(text) || text.size() == length) return can_end(text) ? 1 : 0;
    const Eigen::VectorXd row = model(text);
    double sum = 0;
    for (Token id = 0; id < vocab; ++id) {
        std::vector<Token> longer = text;
        longer.push_back(id);
        if (row[id] > 0) sum += row[id] * valid_after(model, longer);
    }
    return sum;
}

/// The rows of a model's texts given that they are valid, by definition.
struct Conditioned {
    RowsAfter model;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const {
        std::vector<Token> text(prefix.begin(), prefix.end());
        const double whole = valid_after(model, text);
        Eigen::VectorXd row = model(prefix);
        for (Token id = 0; id < vocab; ++id) {
            text.push_back(id);
            row[id] *= valid_after(model, text) / whole;
            text.pop_back();
        }
        return row;
    }
};

/// A model at a temperature, as rows of probabilities.
RowsAfter tempered(const ContextModel& model, double temperature) {
    return [model, temperature](std::span<const Token> prefix) {
        Eigen::VectorXd row = model(prefix);
        for (double& p : row) p = p > 0 ? std::pow(p, 1 / temperature) : 0;
        return Eigen::VectorXd(row / row.sum());
    };
}

/// The filter that knows the model's future.
auto future_of(const RowsAfter& model) {
    return FutureWeights([model](std::span<const Token> context, Token token) {
        std::vector<Token> text(context.begin(), context.end());
        text.push_back(token);
        return std::log(valid_after(model, text));
    });
}

/// Allows what a valid text can go on with.
struct Mask {
    void operator()(auto& row, std::span<const Token> context) const {
        std::vector<Token> text(context.begin(), context.end());
        keep_where(row, [&](Token id) {
            text.push_back(id);
            const bool allows = can_end(text);
            text.pop_back();
            return allows;
        });
    }
};

const ContextModel draft(vocab, 71), target(vocab, 72);

}  // namespace

TEST_CASE("the weight of the future gives the texts that are valid, and a mask alone does not") {
    const TextDistribution valid = joint_distribution(Conditioned{target}, length);
    const RowsAfter model = tempered(target, 1);
    double all = 0;
    for (const auto& [text, probability] : joint_distribution(RowsAfter(target), length))
        if (open_after(text) == 0) {
            all += probability;
            CHECK(valid.at(text) == Approx(probability / valid_after(model, {})).epsilon(1e-12));
        }
    CHECK(all == Approx(valid_after(model, {})).epsilon(1e-13));

    const any::Shaper future = future_of(model), masked = Mask{};
    CHECK(total_variation(joint_distribution(shaped(target, future), length), valid) < 1e-14);
    CHECK(total_variation(joint_distribution(shaped(target, masked), length), valid) > .2);
    const any::Shaper both = Pipeline{Mask{}, future_of(model)};
    CHECK(total_variation(joint_distribution(shaped(target, both), length), valid) < 1e-14);
}

TEMPLATE_TEST_CASE("a rule under the weight of the future has that distribution", "", TokenVerification,
                   BlockVerification, SampleMatch, GumbelMatch) {
    const RowsAfter model = tempered(target, 1);
    const any::Shaper future = future_of(model), masked = Mask{};
    for (const auto& prompt : {std::vector<Token>{}, {opening}, {opening, letter}}) {
        const TextDistribution valid = joint_distribution(Conditioned{target}, 3, prompt);
        const auto distance = [&](const auto& drafts) {
            return total_variation(exact_distribution(TestType{}, drafts, shaped(target, future), 2, prompt), valid);
        };
        CHECK(distance(draft) < 1e-12);
        CHECK(distance(shaped(draft, masked)) < 1e-12);
        CHECK(distance(shaped(draft, future)) < 1e-12);
    }
}

TEST_CASE("a tree under the weight of the future has that distribution") {
    const any::Shaper future = future_of(tempered(target, 1)), masked = Mask{};
    const TextDistribution valid = joint_distribution(Conditioned{target}, 3);
    const TreeDrafter tree(shaped(draft, masked), {2, 1}, any::Children{any::Kind::without_replacement});
    CHECK(total_variation(exact_distribution(TraversalVerification{}, tree, shaped(target, future), 2), valid) < 1e-12);
    CHECK(total_variation(exact_distribution(TokenVerification{}, tree, shaped(target, future), 2), valid) < 1e-12);
}

TEST_CASE("the weight of the future belongs after the temperature") {
    const RowsAfter cool = tempered(target, .5);
    const TextDistribution valid = joint_distribution(Conditioned{cool}, length);
    const any::Shaper after = Pipeline{Temperature(.5), future_of(cool)},
                      before = Pipeline{future_of(cool), Temperature(.5)};
    CHECK(total_variation(joint_distribution(shaped(target, after), length), valid) < 1e-14);
    CHECK(total_variation(joint_distribution(shaped(target, before), length), valid) > .01);

    // A temperature that the rows bring along divides the logits last, and the weight counts all the same.
    const any::Shaper future = future_of(cool);
    const auto logits = [](std::span<const Token> prefix) {
        const Eigen::VectorXd row = target(prefix);
        return Logits(Eigen::VectorXd(row.array().max(1e-300).log()), .5);
    };
    CHECK(total_variation(joint_distribution(shaped(logits, future), length), valid) < 1e-14);
}
