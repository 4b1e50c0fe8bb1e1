// A random source that takes every branch, each with its exact probability.
//
// It replaces the functions of random/draw.hpp: accept, draw and race are decisions with known probabilities, so a rule
// can be run once per branch instead of a million times at random. Its distribution is then exact up to rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <specsample/core/eigen.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/testing/shared_race.hpp>
#include <specsample/verify/ratio.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace testing {

/// An enumeration of all paths through a program's decisions, one after another (depth first, by replay).
class Enumerator {
  public:
    /// Decide among branches of these probabilities.
    /// @returns the branch that this path takes; never one of probability 0
    std::size_t choose(std::vector<double> probabilities) {
        if (depth_ == path_.size()) {
            const std::size_t first = next_possible(probabilities, 0);
            if (first == probabilities.size()) throw std::logic_error("a decision without a possible branch");
            path_.push_back({std::move(probabilities), first});
        }
        const Decision& decision = path_[depth_++];
        probability_ *= decision.probabilities[decision.taken];
        return decision.taken;
    }

    /// Return the probability of the path so far.
    double probability() const { return probability_; }

    /// Call `program(*this)` once for every path.
    /// @returns the number of paths
    template <class Program>
    long run(Program&& program) {
        long paths = 0;
        path_.clear();
        do {
            depth_ = 0;
            probability_ = 1;
            program(*this);
            ++paths;
        } while (advance());
        return paths;
    }

  private:
    struct Decision {
        std::vector<double> probabilities;
        std::size_t taken;
    };

    static std::size_t next_possible(const std::vector<double>& probabilities, std::size_t from) {
        while (from < probabilities.size() && !(probabilities[from] > 0)) ++from;
        return from;
    }

    /// Go to the next path: the deepest decision with a branch left takes its next branch.
    bool advance() {
        path_.resize(depth_);
        while (!path_.empty()) {
            Decision& last = path_.back();
            last.taken = next_possible(last.probabilities, last.taken + 1);
            if (last.taken < last.probabilities.size()) return true;
            path_.pop_back();
        }
        return false;
    }

    std::vector<Decision> path_;
    std::size_t depth_ = 0;
    double probability_ = 1;
};

/// A random source of one round whose random draws take every branch.
///
/// An address that is used twice in a round couples two decisions, and is reported as an error. Weights whose sum()
/// differs from the sum of their entries are reported too, because a real draw uses both.
/// @throws std::logic_error naming the address that was used twice, or the two sums
class EnumeratedRng {
    /// The address of a random draw: the splits that lead to its source, and its place there.
    struct Address {
        std::vector<Index> parts;
        Purpose purpose;
        Index node;

        auto operator<=>(const Address&) const = default;
    };

    /// A race that was run, and may be run once more with the same noise.
    struct Race {
        Eigen::VectorXd rates;
        Index winner;
    };

    /// The random draws of a round so far, including the draws of all splits.
    struct Round {
        std::set<Address> used;
        std::map<Address, Race> races;
    };

  public:
    explicit EnumeratedRng(Enumerator& paths) : paths_(&paths), round_(std::make_shared<Round>()) {}

    /// Return a source with other addresses of the same round.
    EnumeratedRng split(Index part) const {
        EnumeratedRng own = *this;
        own.parts_.push_back(part);
        return own;
    }

    /// The random decisions of one address, each of which takes every branch.
    class Rng {
      public:
        Rng(Enumerator& paths, std::shared_ptr<Round> round, Address address)
            : paths_(&paths), round_(std::move(round)), address_(std::move(address)) {}

        bool accept(double s, double q) const {
            use();
            const double probability = walks::Ratio{s, q}.probability();
            return paths_->choose({1 - probability, probability}) == 1;
        }

        template <kernels::Weights W>
        kernels::Drawn draw(const W& weights) const {
            std::vector<double> probabilities(static_cast<std::size_t>(weights.size()));
            double total = 0;
            for (std::size_t i = 0; i < probabilities.size(); ++i)
                total += probabilities[i] = weights[static_cast<Index>(i)];
            check_sum(weights, total);
            if (!detail::is_positive(total)) return {-1, total};
            use();
            for (double& probability : probabilities) probability /= total;
            return {kernels::id_of(weights, static_cast<Index>(paths_->choose(std::move(probabilities)))), total};
        }

        /// Race for one winner. The first race at an address is a draw. A second race at the address, with other
        /// weights, has the same noise: it takes every winner with its probability given the first winner.
        template <kernels::Weights W>
        Index race(const W& weights) const {
            const Eigen::VectorXd rates = normalised(weights);
            if (rates.size() == 0) return -1;
            const auto held = round_->races.find(address_);
            if (held == round_->races.end()) {
                use();
                const auto winner = static_cast<Index>(paths_->choose({rates.begin(), rates.end()}));
                round_->races.emplace(address_, Race{rates, winner});
                return winner;
            }
            Race first = held->second;
            round_->races.erase(held);  // a third race is reported
            Eigen::VectorXd given = rates;
            const Index size = std::max(first.rates.size(), given.size());
            for (Eigen::VectorXd* row : {&first.rates, &given}) {
                const Index had = row->size();
                row->conservativeResize(size);
                row->tail(size - had).setZero();
            }
            const Eigen::VectorXd second = winner_given(first.rates, first.winner, given);
            return static_cast<Index>(paths_->choose({second.begin(), second.end()}));
        }

        /// Race for several winners: a draw without replacement. It is not coupled to a later race at the address, so
        /// it can prove the distribution of a match rule, but not its acceptance rate. As in a real race, ids whose
        /// weights underflow next to the largest weight win by their logits, once the id of that weight has won.
        /// @edge   an id does not win while its weight is below e^-64 of the largest, because its weight may be 0 where
        ///         it is judged
        template <kernels::Weights W>
        Index race(const W& weights, std::span<Token> winners) const {
            if (address_.purpose != Purpose::race) use();  // other races may share the address of the target's token
            if (normalised(weights).size() == 0) return 0;
            std::vector<double> left(static_cast<std::size_t>(weights.size()));  // logarithms
            for (std::size_t i = 0; i < left.size(); ++i) left[i] = log_weight(weights, static_cast<Index>(i));
            for (std::size_t i = 0; i < winners.size(); ++i) {
                const double most = *std::ranges::max_element(left);
                if (!detail::is_finite(most)) return static_cast<Index>(i);
                std::vector<double> rates = left;
                double total = 0;
                for (double& rate : rates) total += rate = rate - most > -unlikely ? std::exp(rate - most) : 0;
                for (double& rate : rates) rate /= total;
                const std::size_t place = paths_->choose(std::move(rates));
                winners[i] = static_cast<Token>(kernels::id_of(weights, static_cast<Index>(place)));
                left[place] = -std::numeric_limits<double>::infinity();
            }
            return static_cast<Index>(winners.size());
        }

      private:
        void use() const {
            if (round_->used.insert(address_).second) return;
            std::string where = "the random draw of purpose " + std::to_string(static_cast<int>(address_.purpose)) +
                                " at node " + std::to_string(address_.node);
            for (const Index part : address_.parts) where += " of part " + std::to_string(part);
            throw std::logic_error(where + " was used twice in a round");
        }

        /// Check that the sum and the entries are of the same weights: real draws read sums, enumerated draws read
        /// entries.
        template <kernels::Weights W>
        static void check_sum(const W& weights, double total) {
            const double sum = weights.sum(0, weights.size());
            if (detail::is_finite(total) && !(std::abs(sum - total) <= 1e-6 * std::max(1.0, total)))
                throw std::logic_error("weights whose sum is said to be " + std::to_string(sum) + " add up to " +
                                       std::to_string(total));
        }

        static constexpr double unlikely = 64;  ///< an id whose logarithm is this far below the largest does not win

        /// Return the logarithm of a weight; for a row of logits it does not underflow.
        template <kernels::Weights W>
        static double log_weight(const W& weights, Index place) {
            if constexpr (requires { weights.probs(); }) {
                return detail::Blocks(weights.probs()).log_weight(place);
            } else if constexpr (requires { weights.row().log_weight(place); }) {
                return weights.row().log_weight(place);
            } else {
                return std::log(weights[place]);
            }
        }

        /// Return the weights by id, divided by their sum; empty if the sum is not a positive number.
        template <kernels::Weights W>
        static Eigen::VectorXd normalised(const W& weights) {
            const Index places = weights.size();
            Eigen::VectorXd rates = Eigen::VectorXd::Zero(places == 0 ? 0 : kernels::id_of(weights, places - 1) + 1);
            for (Index i = 0; i < places; ++i) rates[kernels::id_of(weights, i)] = weights[i];
            const double total = rates.sum();
            if (!detail::is_positive(total)) return {};
            return rates / total;
        }

        Enumerator* paths_;
        std::shared_ptr<Round> round_;
        Address address_;
    };

    Rng at(Purpose purpose, Index node) const { return {*paths_, round_, {parts_, purpose, node}}; }

  private:
    Enumerator* paths_;
    std::shared_ptr<Round> round_;
    std::vector<Index> parts_;
};

}}}  // namespace specsample::testing
