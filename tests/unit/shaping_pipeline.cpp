// Pipeline: applies shapers from first to last.
#include <specsample/shaping/pipeline.hpp>

#include <string>

#include <specsample/shaping/penalties.hpp>
#include <specsample/shaping/temperature.hpp>
#include <specsample/shaping/truncation.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::filters;

namespace {

/// Appends its name to a text.
struct Trace {
    char name;
    std::string* text;

    template <class Value>
    void operator()(Candidates<Value>&, std::span<const Token>) const {
        *text += name;
    }
};

const Array<double> probs = Eigen::Array4d(.4, .3, .2, .1);

}  // namespace

TEST_CASE("shapers are applied first to last", "[shaping]") {
    std::string text;
    through(Pipeline{Trace{'a', &text}, Trace{'b', &text}, Trace{'c', &text}}, probs);
    CHECK(text == "abc");
}

TEST_CASE("a pipeline is its shapers one after another", "[shaping]") {
    const auto one_by_one = through(TopP{.6}, through(Temperature{2}, probs));
    CHECK(distance(through(Pipeline{Temperature{2}, TopP{.6}}, probs), one_by_one) < 1e-15);
}

TEST_CASE("the order matters", "[shaping]") {
    // Flattened first, three tokens are needed to reach .6; .4 and .3 reach it by themselves.
    CHECK(possible(through(Pipeline{Temperature{4}, TopP{.6}}, probs)).size() == 3);
    CHECK(possible(through(Pipeline{TopP{.6}, Temperature{1.5}}, probs)).size() == 2);
    CHECK(through(Pipeline{TopP{.6}}, probs)[2] == 0);
    // Of the two likeliest, .4 is enough for a half.
    CHECK(possible(through(Pipeline{TopK{2}, TopP{.5}}, probs)).size() == 1);
    CHECK(possible(through(Pipeline{TopP{.5}, TopK{2}}, probs)).size() == 2);
}

TEST_CASE("pipelines nest", "[shaping]") {
    const auto flat = through(Pipeline{TopP{.9}, Temperature{2}, TopK{3}}, probs);
    const auto nested = through(Pipeline{Pipeline{TopP{.9}, Temperature{2}}, TopK{3}}, probs);
    CHECK((flat == nested).all());
}

TEST_CASE("an empty pipeline changes nothing", "[shaping]") { CHECK((through(Pipeline{}, probs) == probs).all()); }

TEST_CASE("every filter works on the result of the ones before it", "[shaping]") {
    const auto logits = random_logits(500, 1);
    std::vector<Index> ids = sorted(logits);
    ids.resize(40);
    const auto forty = only(softmax_of(logits, .8), ids);
    std::vector<Index> nucleus, kept;
    double sum = 0;
    for (const Index id : ids) {
        if (sum >= .95) break;
        sum += forty[id];
        nucleus.push_back(id);
    }
    for (const Index id : nucleus)
        if (forty[id] >= .05 * forty[ids[0]]) kept.push_back(id);
    const Pipeline pipeline{Temperature{.8}, TopK{40}, TopP{.95}, MinP{.05}};
    CHECK(distance(through(pipeline, Logits(logits)), only(forty, kept)) < 1e-14);
    CHECK(distance(through(pipeline, softmax_of(logits)), only(forty, kept)) < 1e-13);
}

TEST_CASE("logits and their probabilities are shaped alike", "[shaping]") {
    const std::vector<Token> context{5, 6, 5};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto logits = random_logits(300, seed);
        const auto agree = [&](const auto& pipeline) {
            CHECK(distance(through(pipeline, Logits(logits), context), through(pipeline, softmax_of(logits), context)) <
                  1e-13);
        };
        agree(Pipeline{FrequencyPenalty{.5}, Temperature{.7}, TopK{30}, TopP{.9}});
        agree(Pipeline{Temperature{1.3}, MinP{.02}, PresencePenalty{1}, TopP{.8}});
        agree(Pipeline{TopP{.9}, Temperature{.5}, FrequencyPenalty{-.5}, TopK{3}});
    }
}

static_assert(Shaper<Temperature> && Shaper<TopP> && Shaper<Pipeline<>> && Shaper<Pipeline<TopP, Temperature>>);
static_assert(!Shaper<int> && !Shaper<std::string>);

TEST_CASE("a shaper that names the type of its row works in a pipeline as by itself", "[shaping]") {
    const auto halve = [](Candidates<float>& row, std::span<const Token>) {
        for (float& p : row.change()) p = p / 2;
    };
    static_assert(Shaper<decltype(halve)>);
    const std::vector<float> row{.25f, .75f};
    CHECK(through(Pipeline{halve}, row)[0] == .25);
    CHECK(distance(through(Pipeline{halve}, row), through(halve, row)) == 0);
}

TEST_CASE("a shaper of a user's own keeps, and changes, what it wants", "[shaping]") {
    const auto even = [](auto& row, std::span<const Token> context) {
        std::vector<Token> places;
        for (Index place = 0; place < row.size(); ++place)
            if (row.id(place) % 2 == std::ssize(context) % 2) places.push_back(static_cast<Token>(place));
        row.keep(places);
    };
    CHECK(possible(through(even, probs)) == std::vector<Index>{0, 2});
    CHECK(possible(through(even, probs, {7})) == std::vector<Index>{1, 3});
    CHECK(possible(through(Pipeline{TopK{3}, even}, Logits(probs), {7})) == std::vector<Index>{1});
}
