// Random sources for tests: one with scripted numbers, and one that counts its random draws.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include <specsample/random/draw.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace testing {

/// A random source with one uniform number per address, set by the test.
class ScriptedRng {
  public:
    /// Set the number of an address.
    ScriptedRng& set(Purpose purpose, Index node, double uniform) {
        uniforms_[{purpose, node}] = uniform;
        return *this;
    }

    /// The number of one address.
    struct Rng {
        double value;
        double uniform() const { return value; }
    };

    /// @throws std::out_of_range for an address that was not set
    Rng at(Purpose purpose, Index node) const {
        const auto found = uniforms_.find({purpose, node});
        if (found == uniforms_.end())
            throw std::out_of_range("no random draw of purpose " + std::to_string(static_cast<int>(purpose)) +
                                    " at node " + std::to_string(node) + " in the script");
        return {found->second};
    }

  private:
    std::map<std::pair<Purpose, Index>, double> uniforms_;
};

/// A wrapper of a random source that counts the uniform numbers drawn from it, per purpose.
template <RandomSource Source>
class CountingRng {
  public:
    explicit CountingRng(Source source) : source_(std::move(source)) {}

    /// The random numbers of one address of the wrapped source; each number is counted.
    template <class Inner>
    struct Rng {
        Inner inner;
        long* count;
        double uniform() const {
            ++*count;
            return inner.uniform();
        }
    };

    auto at(Purpose purpose, Index node) const {
        return Rng<decltype(source_.at(purpose, node))>{source_.at(purpose, node), &counts_[purpose]};
    }

    /// Return how many uniform numbers of a purpose were drawn so far.
    long count(Purpose purpose) const { return counts_[purpose]; }

  private:
    Source source_;
    mutable std::map<Purpose, long> counts_;
};

}}}  // namespace specsample::testing
