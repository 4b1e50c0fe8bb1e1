// Top-n-sigma, the epsilon and eta cut-offs, and XTC against their definitions.
#include <specsample/shaping/cutoffs.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include <specsample/shaping/penalties.hpp>
#include <specsample/shaping/pipeline.hpp>
#include <specsample/shaping/temperature.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::kernels;
using namespace specsample::filters;

namespace {

/// The ids that satisfy a predicate of their probability.
template <class Keeps>
Array<double> kept(const Array<double>& probs, const Keeps& keeps) {
    std::vector<Index> ids;
    for (const Index id : possible(probs))
        if (keeps(probs[id])) ids.push_back(id);
    return only(probs, ids);
}

double entropy_of(const Array<double>& probs) {
    double entropy = 0;
    for (const Index id : possible(probs)) entropy -= probs[id] * std::log(probs[id]);
    return entropy;
}

/// The ids within n standard deviations of the largest logit.
std::vector<Index> within_sigma(const Array<double>& logits, double n) {
    std::vector<double> finite;
    for (const double z : logits)
        if (z > -infinity) finite.push_back(z);
    double mean = 0, squares = 0;
    for (const double z : finite) mean += z / double(finite.size());
    for (const double z : finite) squares += (z - mean) * (z - mean) / double(finite.size());
    std::vector<Index> ids;
    for (Index i = 0; i < logits.size(); ++i)
        if (logits[i] > -infinity && logits[i] >= *std::ranges::max_element(finite) - n * std::sqrt(squares))
            ids.push_back(i);
    return ids;
}

/// All choices of XTC but the least probable, of equals the one with the highest id.
Array<double> without_top(const Array<double>& probs, double threshold) {
    std::vector<Index> ids = possible(probs), choices;
    for (const Index id : ids)
        if (probs[id] >= threshold) choices.push_back(id);
    if (choices.empty()) return probs;
    const Index least = *std::ranges::min_element(choices, {}, [&](Index id) { return std::pair(probs[id], -id); });
    std::erase_if(ids, [&](Index id) { return probs[id] >= threshold && id != least; });
    return only(probs, ids);
}

}  // namespace

TEMPLATE_TEST_CASE("top-n-sigma keeps what is near the largest logit, at any temperature", "[shaping]", float, double) {
    for (const Index size : {1, 2, 33, 1000, 5000})
        for (const double n : {.001, .5, 1., 1.5, 3., 100.})
            for (const double mean : {0., -300., 70.}) {
                Array<TestType> logits = random_logits<TestType>(size, 3) + static_cast<TestType>(mean);
                for (Index i = 1; i < size; i += 5) logits[i] = -std::numeric_limits<TestType>::infinity();
                const std::vector<Index> ids = within_sigma(logits.template cast<double>(), n);
                INFO("size " << size << ", n " << n << ", mean " << mean);
                CHECK(possible(through(TopNSigma{n}, Logits(logits))) == ids);
                CHECK(possible(through(Pipeline{Temperature{5}, TopNSigma{n}}, Logits(logits))) == ids);
                CHECK(possible(through(TopNSigma{n}, Logits(logits, 7.))) == ids);
            }
}

TEST_CASE("top-n-sigma takes the logarithms of probabilities for their logits", "[shaping]") {
    const auto logits = random_logits(400, 5);
    for (const double n : {.5, 1., 2.})
        CHECK(possible(through(TopNSigma{n}, softmax_of(logits))) == within_sigma(logits, n));
    const Array<double> some = only(softmax_of(logits), {3, 8, 90});
    CHECK(possible(through(TopNSigma{3.}, some)).size() == 3);
    CHECK(possible(through(TopNSigma{1e-9}, Array<double>::Constant(50, .02).eval())).size() == 50);
}

TEST_CASE("the standard deviation is that of the logits that earlier steps left", "[shaping]") {
    const auto logits = random_logits(300, 6);
    Array<double> penalised = logits;
    penalised[7] -= 50;
    CHECK(possible(through(Pipeline{PresencePenalty{50}, TopNSigma{1}}, Logits(logits), {7})) ==
          within_sigma(penalised, 1));
}

TEMPLATE_TEST_CASE("the epsilon and eta cut-offs keep what is probable enough", "[shaping]", float, double) {
    for (const Index size : {1, 10, 700, 5000})
        for (const double epsilon : {1e-6, 1e-3, .02, .3})
            for (const double temperature : {.5, 1., 2.}) {
                const auto logits = random_logits<TestType>(size, 8);
                const Array<double> probs = softmax_of(logits, temperature);
                const double largest = probs.maxCoeff();
                const auto check = [&](const auto& filter, double least) {
                    const Array<double> expected = kept(probs, [&](double p) { return p >= std::min(least, largest); });
                    INFO("size " << size << ", epsilon " << epsilon << ", temperature " << temperature);
                    CHECK(distance(through(Pipeline{Temperature{temperature}, filter}, Logits(logits)), expected) <
                          1e-6);
                    CHECK(distance(through(filter, Logits(logits, temperature)), expected) < 1e-6);
                    CHECK(distance(through(filter, Array<TestType>(probs.template cast<TestType>())), expected) < 1e-6);
                };
                check(EpsilonCutoff{epsilon}, epsilon);
                check(EtaCutoff{epsilon}, std::min(epsilon, std::sqrt(epsilon) * std::exp(-entropy_of(probs))));
            }
}

TEST_CASE("a cut-off that no token reaches keeps the most probable ones", "[shaping]") {
    const std::vector<double> probs{.2, .3, .3, .2};
    CHECK(possible(through(EpsilonCutoff{.9}, probs)) == std::vector<Index>{1, 2});
    CHECK(possible(through(EtaCutoff{.9}, probs)) == std::vector<Index>{1, 2});
}

TEST_CASE("XTC excludes the top choices but the least probable of them", "[shaping]") {
    const std::vector<double> probs{.4, .1, .3, .2};
    CHECK(possible(through(Xtc{1, .15}, probs)) == std::vector<Index>{1, 3});
    CHECK(possible(through(Xtc{1, .25}, probs)) == std::vector<Index>{1, 2, 3});
    CHECK(possible(through(Xtc{1, .4}, probs)).size() == 4);
    CHECK(possible(through(Xtc{1, .6}, probs)).size() == 4);
    CHECK(possible(through(Xtc{0, .15}, probs)).size() == 4);
    CHECK(possible(through(Xtc{1, .1}, std::vector<double>(4, .25))) == std::vector<Index>{3});
    CHECK(possible(through(Pipeline{Temperature{0}, Xtc{1, .1}}, probs)) == std::vector<Index>{0});
    for (const double threshold : {.001, .01, .1})
        for (const double temperature : {.5, 1.}) {
            const auto logits = random_logits(900, 4);
            CHECK(distance(through(Pipeline{Temperature{temperature}, Xtc{1, threshold}}, Logits(logits)),
                           without_top(softmax_of(logits, temperature), threshold)) < 1e-12);
            CHECK(distance(through(Pipeline{TopK{20}, Temperature{temperature}, Xtc{1, threshold}}, Logits(logits)),
                           without_top(through(Pipeline{TopK{20}, Temperature{temperature}}, Logits(logits)),
                                       threshold)) < 1e-12);
        }
}

TEST_CASE("XTC decides by the seed and the position, with its probability", "[shaping]") {
    int changes = 0, differ = 0;
    for (Index position = 0; position < 10000; ++position) {
        changes += Xtc{.3, .1, 5}.changes(position);
        differ += Xtc{.3, .1, 5}.changes(position) != Xtc{.3, .1, 6}.changes(position);
    }
    // Standard deviations of 46 and 49: false alarms of 1e-9 are 6.1 of them away.
    CHECK(std::abs(changes - 3000) < 280);
    CHECK(std::abs(differ - 4200) < 300);
    std::set<bool> seen;
    for (std::size_t size = 0; size < 40; ++size) {
        const auto row = through(Xtc{.5, .1, 9}, std::vector<double>{.5, .5}, std::vector<Token>(size, 1));
        const bool is_changed = possible(row).size() == 1;
        CHECK(is_changed == Xtc{.5, .1, 9}.changes(Index(size)));
        seen.insert(is_changed);
    }
    CHECK(seen.size() == 2);
}

TEST_CASE("cut-offs out of range are refused", "[shaping]") {
    CHECK_THROWS_WITH(TopNSigma(-1),
                      "specsample::TopNSigma: n is -1, but must be a finite number >= 0; 0 keeps everything");
    CHECK_THROWS_WITH(EpsilonCutoff(1), "specsample::EpsilonCutoff: epsilon is 1, but must be in [0, 1)");
    CHECK_THROWS_WITH(EtaCutoff(-.1), "specsample::EtaCutoff: epsilon is -0.1, but must be in [0, 1)");
    const std::vector<double> probs{.5, .5};
    CHECK_THROWS_WITH(through(Xtc{2}, probs), "specsample::Xtc: probability is 2, but must be in [0, 1]");
    CHECK_THROWS_WITH(Pipeline(Xtc{.5, 0}), "specsample::Xtc: threshold is 0, but must be in (0, 1]");
}

TEST_CASE("cut-offs that keep everything look at nothing", "[shaping]") {
    const auto logits = random_logits<float>(30, 1);
    filters::ShapedMemory<float> memory;
    const Pipeline none{TopNSigma{0}, EpsilonCutoff{0}, EtaCutoff{0}, Xtc{}};
    CHECK(shape(Logits(logits), none, {}, memory).held().numbers().data() == logits.data());
}
