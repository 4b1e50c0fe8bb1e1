// Pipeline: shapers first to last.
#include <specsample/shaping/pipeline.hpp>

#include <specsample/shaping/temperature.hpp>
#include <specsample/shaping/top_p.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

/// Appends its name to a text.
struct Trace {
    char name;
    std::string* text;

    template <class Derived>
    void operator()(Eigen::ArrayBase<Derived>&, ShapingScratch&) const {
        *text += name;
    }
};

template <class P>
Eigen::ArrayXd through(const P& pipeline, Eigen::ArrayXd probs) {
    ShapingScratch scratch;
    pipeline(probs, scratch);
    return probs;
}

const Eigen::Array4d probs(.4, .3, .2, .1);

}  // namespace

TEST_CASE("shapers are applied first to last", "[shaping]") {
    std::string text;
    through(Pipeline{Trace{'a', &text}, Trace{'b', &text}, Trace{'c', &text}}, probs);
    CHECK(text == "abc");
}

TEST_CASE("a pipeline is its shapers one after another", "[shaping]") {
    const auto one_by_one = through(TopP{.6}, through(Temperature{2}, probs));
    CHECK((through(Pipeline{Temperature{2}, TopP{.6}}, probs) == one_by_one).all());
}

TEST_CASE("the order matters", "[shaping]") {
    // Flattened first, three tokens are needed to reach .6; .4 and .3 reach it by themselves.
    CHECK((through(Pipeline{Temperature{4}, TopP{.6}}, probs) > 0).count() == 3);
    CHECK((through(Pipeline{TopP{.6}, Temperature{1.5}}, probs).head(2) > 0).count() == 2);
    CHECK(through(Pipeline{TopP{.6}}, probs)[2] == 0);
}

TEST_CASE("pipelines nest", "[shaping]") {
    const auto flat = through(Pipeline{Temperature{.5}, TopP{.9}, Temperature{2}}, probs);
    const auto nested = through(Pipeline{Pipeline{Temperature{.5}, TopP{.9}}, Temperature{2}}, probs);
    CHECK((flat == nested).all());
}

TEST_CASE("an empty pipeline changes nothing", "[shaping]") { CHECK((through(Pipeline{}, probs) == probs).all()); }

TEST_CASE("shapers shape rows in an engine's memory", "[shaping]") {
    std::vector<float> memory{.4f, .3f, .2f, .1f};
    Eigen::Map<Eigen::ArrayXf> row(memory.data(), 4);
    ShapingScratch scratch;
    Pipeline{Temperature{.5}, TopP{.5}}(row, scratch);
    CHECK(memory[0] == 1);
    CHECK(memory[1] == 0);
}

static_assert(Shaper<Temperature> && Shaper<TopP> && Shaper<Pipeline<>> && Shaper<Pipeline<TopP, Temperature>>);
static_assert(!Shaper<int> && !Shaper<std::string>);

TEST_CASE("a shaper that names the type of its row works in a pipeline as by itself", "[shaping]") {
    const auto halve = [](Eigen::Map<Eigen::ArrayXf>& row, ShapingScratch&) { row = row / row.sum(); };
    static_assert(Shaper<decltype(halve)>);
    std::vector<float> memory{.25f, .25f};
    Eigen::Map<Eigen::ArrayXf> halves(memory.data(), 2);
    ShapingScratch scratch;
    Pipeline{halve}(halves, scratch);
    CHECK(memory[0] == .5f);
}
