// Recovered tokens that are drawn by rejection: all outcomes of all random numbers that a round reads, lane by lane.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include <specsample/rows.hpp>
#include <specsample/verify.hpp>

#include "exactness/cases.hpp"
#include "support/catch.hpp"

using namespace specsample;

namespace {

/// Every random number is one of 0, 1/4, 1/2 and 3/4. A round is repeated until all of them were tried. Probabilities
/// and ratios that are multiples of 1/4 are decided by these numbers exactly as by real ones.
class Quarters {
  public:
    class At {
      public:
        At(const Quarters& all, Purpose purpose, Index node) : all_(all), purpose_(purpose), node_(node) {}
        double uniform(std::uint32_t lane = 0) const { return all_.number({purpose_, node_, first_ + lane}); }
        At from(std::uint32_t lane) const {
            At at = *this;
            at.first_ += lane;
            return at;
        }

      private:
        const Quarters& all_;
        Purpose purpose_;
        Index node_;
        std::uint32_t first_ = 0;
    };

    At at(Purpose purpose, Index node) const { return {*this, purpose, node}; }

    /// Return the probability of the numbers that were read.
    double probability() const { return std::pow(.25, static_cast<double>(read_)); }
    std::size_t read() const { return read_; }

    /// Go on to the next numbers; false after the last.
    bool next() {
        while (read_ > 0 && numbers_[read_ - 1].quarters == 3) --read_;
        numbers_.resize(read_);
        if (read_ == 0) return false;
        ++numbers_.back().quarters;
        read_ = 0;
        return true;
    }

  private:
    struct Place {
        Purpose purpose;
        Index node;
        std::uint32_t lane;
        bool operator==(const Place&) const = default;
    };
    struct Number {
        Place place;
        int quarters = 0;
    };

    double number(const Place& place) const {
        std::size_t i = 0;
        while (i < read_ && numbers_[i].place != place) ++i;
        if (i == numbers_.size()) numbers_.push_back({place});
        if (i == read_) ++read_;
        if (numbers_[i].place != place) throw std::logic_error("another number is read after the same ones");
        return numbers_[i].quarters * .25;
    }

    mutable std::vector<Number> numbers_;
    mutable std::size_t read_ = 0;
};

using Four = std::array<double, 4>;

/// Few ids of a vocabulary that is large enough for two attempts have a probability.
constexpr Index vocab = 4096;
constexpr std::array<Token, 4> ids{3, 700, 2050, 4000};

template <class T>
std::vector<T> dense(const Four& probs) {
    std::vector<T> row(vocab);
    for (std::size_t i = 0; i < 4; ++i) row[static_cast<std::size_t>(ids[i])] = static_cast<T>(probs[i]);
    return row;
}

bool is_decided(double probability) { return probability >= 1 || std::floor(4 * probability) == 4 * probability; }

/// Reject q from s, and tell whether quarters decide whatever that takes.
bool reject(Four& s, const Four& q, double& mass) {
    double left = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        if (q[i] > 0 && !is_decided(s[i] / q[i])) return false;
        s[i] = std::max(0., s[i] - q[i]);
        left += s[i];
    }
    for (double& x : s) x /= left;
    mass *= left;
    return left > 0;
}

/// Call f(p, q) for the pairs of rows of quarters, with a falling p, where `count` independent draws from q may be
/// rejected and quarters decide all of it.
template <class F>
void for_pairs(int count, F&& f) {
    std::vector<Four> rows;
    for (int code = 0; code < 125; ++code) {
        const std::array<int, 4> quarters{code % 5, code / 5 % 5, code / 25, 4 - code % 5 - code / 5 % 5 - code / 25};
        if (quarters[3] < 0) continue;
        Four row;
        for (std::size_t i = 0; i < 4; ++i) row[i] = quarters[i] * .25;
        rows.push_back(row);
    }
    for (const Four& p : rows) {
        if (!std::ranges::is_sorted(p, std::greater())) continue;
        for (const Four& q : rows) {
            Four s = p;
            double mass = 1;
            bool is_good = true;
            for (int i = 0; i < count; ++i) is_good = is_good && reject(s, q, mass);
            for (std::size_t i = 0; i < 4; ++i)
                is_good = is_good && is_decided(s[i]) && (p[i] == 0 || is_decided(s[i] * mass / p[i]));
            if (is_good && mass < 1) f(p, q);
        }
    }
}

/// The distribution of the first token of a round, and what was seen on the way.
struct Seen {
    Four emitted{};
    std::size_t most_numbers = 0;
};

/// Add the outcomes of one draft, which has `weight`.
template <class Given, class L, class R>
void add(Seen& seen, double weight, const Given& given, const L& distributions, const R& row) {
    static Workspace memory;
    Quarters numbers;
    do {
        const auto row_of = [&](Index) -> const R& { return row; };
        const Round round =
            verify(given, distributions, row_of, TokenVerification{}, numbers, {.max_tokens = 1}, memory);
        if (!round) throw std::logic_error(message(round));
        const auto at = std::ranges::find(ids, round.tokens.front()) - ids.begin();
        seen.emitted.at(static_cast<std::size_t>(at)) += weight * numbers.probability();
        seen.most_numbers = std::max(seen.most_numbers, numbers.read());
    } while (numbers.next());
}

double distance(const Four& a, const Four& b) {
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += std::abs(a[i] - b[i]) / 2;
    return sum;
}

}  // namespace

TEMPLATE_TEST_CASE("a recovered token that is drawn by rejection has the target's distribution", "[exactness]", float,
                   double) {
    int pairs = 0;
    std::size_t most = 0;
    for_pairs(1, [&](const Four& p, const Four& q) {
        const auto target = dense<TestType>(p), draft = dense<TestType>(q);
        const Sampled drawn(draft);
        Seen seen;
        for (std::size_t x = 0; x < 4; ++x)
            if (q[x] > 0) add(seen, q[x], std::vector{ids[x]}, std::vector{drawn}, target);
        CHECK(distance(seen.emitted, p) < 1e-12);
        most = std::max(most, seen.most_numbers);
        ++pairs;
    });
    CHECK(pairs > 20);
    CHECK(most == 6);  // an acceptance, two attempts of two numbers each, and the pass after them
}

TEST_CASE("a recovered token after several children is drawn by rejection from what all of them leave", "[exactness]") {
    int pairs = 0;
    for_pairs(2, [&](const Four& p, const Four& q) {
        if (++pairs % 6 != 0) return;  // all would take six times as long
        const auto target = dense<float>(p), draft = dense<float>(q);
        const std::vector drawn(2, Sampled(draft));
        const std::vector<Index> parents{root_node, root_node};
        Seen seen;
        for (std::size_t x = 0; x < 4; ++x)
            for (std::size_t y = 0; y < 4; ++y) {
                if (q[x] == 0 || q[y] == 0) continue;
                const std::vector<Token> tokens{ids[x], ids[y]};
                add(seen, q[x] * q[y], Tree<Token, Index>{tokens, parents}, drawn, target);
            }
        CHECK(distance(seen.emitted, p) < 1e-12);
    });
    CHECK(pairs > 60);
}

TEST_CASE("after named tokens a recovered token is another one", "[exactness]") {
    int rows = 0;
    for_pairs(1, [&](const Four& p, const Four& q) {
        if (std::ranges::count(q, 1.) == 0) return;  // quarters decide about a named token as about a row of this kind
        const std::size_t x = static_cast<std::size_t>(std::ranges::find(q, 1.) - q.begin());
        const auto target = dense<float>(p);
        Seen seen;
        add(seen, 1, std::vector{ids[x]}, PointMass{}, target);
        CHECK(distance(seen.emitted, p) < 1e-12);
        ++rows;
    });
    CHECK(rows == 5);
}

namespace {

/// A model of four tokens, at ids of a vocabulary with attempts.
struct Spread {
    testing::ContextModel model;

    Eigen::VectorXd operator()(std::span<const Token> prefix) const {
        std::vector<Token> few;
        for (const Token token : prefix) few.push_back(static_cast<Token>(std::ranges::find(ids, token) - ids.begin()));
        const Eigen::VectorXd probs = model(few);
        Eigen::VectorXd row = Eigen::VectorXd::Zero(vocab);
        for (std::size_t i = 0; i < 4; ++i) row[ids[i]] = probs[static_cast<Index>(i)];
        return row;
    }
};

}  // namespace

TEST_CASE("many rounds whose recovered tokens are drawn by rejection have the target's joint distribution",
          "[exactness]") {
    const Spread draft{testing::ContextModel(4, 31)}, target{testing::ContextModel(4, 32)};
    for (const Index lookahead : {1, 3}) {
        const cases::ChiSquare result = cases::rounds(TokenVerification{}, draft, target, lookahead, 3, 6000);
        INFO("lookahead " << lookahead << ": " << result.statistic << " of " << result.bound);
        CHECK(result.holds());
    }
}

TEST_CASE("sparse rows and logits are judged by the same numbers as probabilities, attempt by attempt", "[exactness]") {
    Workspace memory;
    int recovered = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const Rng rng({.seed = seed});
        Eigen::ArrayXd p_logits(vocab), q_logits(vocab);
        std::vector<Token> every(vocab);
        for (Index id = 0; id < vocab; ++id) {
            const auto lane = static_cast<std::uint32_t>(id);
            p_logits[id] = 9 * rng.uniform(2 * lane);
            q_logits[id] = p_logits[id] + 4 * rng.uniform(2 * lane + 1);
            every[static_cast<std::size_t>(id)] = static_cast<Token>(id);
        }
        const Eigen::ArrayXd p = p_logits.exp() / p_logits.exp().sum(), q = q_logits.exp() / q_logits.exp().sum();
        const RoundRng source(seed, 0, 0);
        const Token token = static_cast<Token>(draw(source.at(Purpose::draft, 0), q).index);
        const auto text = [&](const auto& draft, const auto& row) {
            const auto row_of = [&](Index) -> const auto& { return row; };
            const Round round = verify(std::vector{token}, std::vector{Sampled(draft)}, row_of, TokenVerification{},
                                       source, {}, memory);
            REQUIRE(round);
            recovered += round.last == LastToken::recovered ? 1 : 0;
            return std::vector<Token>(round.tokens.begin(), round.tokens.end());
        };
        const auto expected = text(q, p);
        const Sparse sparse_p(every, p, vocab), sparse_q(every, q, vocab);
        const Logits logits_p(p_logits), logits_q(q_logits);
        CHECK(text(sparse_q, sparse_p) == expected);
        CHECK(text(logits_q, logits_p) == expected);
        CHECK(text(q, logits_p) == expected);
    }
    CHECK(recovered > 100);
}
