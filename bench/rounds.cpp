// The whole round by token verification, on rows that an engine already has.
#include "kernels.hpp"
#include "peers.hpp"
#include "usual_shaping.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <thread>

#include <specsample/values.hpp>
#include <specsample/verify.hpp>
#include <specsample/verify/batch.hpp>

namespace bench {
namespace {

using specsample::Check;
using specsample::Purpose;
using specsample::Token;

/// A drafted round before verification, and the number of tokens that verification will accept.
struct Draft {
    std::vector<Token> tokens;
    specsample::RoundRng rng;
    Index accepted = 0;

    Index size() const { return static_cast<Index>(tokens.size()); }
    bool is_rejected() const { return accepted < size(); }
};

std::vector<Draft> draw_drafts(const Contents& distributions, Index lookahead, Index count) {
    std::mt19937_64 generator(42);
    std::discrete_distribution<Token> token(distributions.draft.begin(), distributions.draft.end());
    std::vector<Draft> result;
    for (Index i = 0; i < count; ++i) {
        Draft draft{std::vector<Token>(static_cast<std::size_t>(lookahead)), specsample::RoundRng(42, 0, i)};
        for (Token& drafted : draft.tokens) drafted = token(generator);
        for (const Token drafted : draft.tokens) {
            const double u = draft.rng.at(Purpose::accept, draft.accepted).uniform();
            if (!(u * distributions.draft[drafted] < distributions.target[drafted])) break;
            ++draft.accepted;
        }
        result.push_back(std::move(draft));
    }
    return result;
}

/// An indexed range of `count` elements, as verify takes one: element i is at(i).
template <class At>
struct Indexed {
    At at;
    Index count;

    std::size_t size() const { return static_cast<std::size_t>(count); }
    auto operator[](std::size_t i) const { return at(static_cast<Index>(i)); }
};
template <class At>
Indexed(At, Index) -> Indexed<At>;

template <class Distributions, class Rows>
textbook::Ending judge(const Draft& draft, const Distributions& distributions, const Rows& rows, Check check,
                       specsample::Workspace& workspace) {
    const auto round = specsample::verify(draft.tokens, distributions, rows, specsample::TokenVerification{}, draft.rng,
                                          {.check = check}, workspace);
    return round ? textbook::Ending{round.accepted, round.tokens.back()} : textbook::Ending{-1, -1};
}

/// The rows of a round, which begin at position `first`.
struct Place {
    Pool pool;
    Index first;

    Pair operator()(Index i) const { return pool[first + i]; }
};

/// Verify against rows of probabilities. The sums of the draft's are known from its draws.
textbook::Ending judge_probs(const Draft& draft, const Place& place, Check check, specsample::Workspace& workspace) {
    const double sum = place.pool.contents().draft_sum;
    const auto distribution = [&](Index i) { return specsample::Sampled(place(i).draft, {}, sum); };
    const auto row = [&](Index i) { return place(i).target; };
    return judge(draft, Indexed{distribution, draft.size()}, Indexed{row, draft.size() + 1}, check, workspace);
}

/// Verify against rows of logits. The draft's normalisers are known from its draws.
textbook::Ending judge_logits(const Draft& draft, const Place& place, specsample::Workspace& workspace) {
    const double log_sum = place.pool.contents().draft_log_sum;
    const auto distribution = [&](Index i) {
        return specsample::Sampled(specsample::Logits(place(i).draft, 1, log_sum).probs());
    };
    const auto row = [&](Index i) { return specsample::Logits(place(i).target); };
    return judge(draft, Indexed{distribution, draft.size()}, Indexed{row, draft.size() + 1}, Check::entries_read,
                 workspace);
}

/// Verify against rows of logits that came with their sums, as an engine makes them where its last layer has the row in
/// a cache.
class SummedRounds {
  public:
    explicit SummedRounds(const Pool& pool)
        : sums_(std::make_shared<Sums>(9, specsample::kernels::LogitSums(pool[0].target))) {}

    textbook::Ending operator()(const Draft& draft, const Place& place, specsample::Workspace& workspace) const {
        const double log_sum = place.pool.contents().draft_log_sum;
        const auto distribution = [&](Index i) {
            return specsample::Sampled(specsample::Logits(place(i).draft, 1, log_sum).probs());
        };
        const auto row = [&](Index i) {
            return specsample::Logits(place(i).target, (*sums_)[static_cast<std::size_t>(i)]);
        };
        return judge(draft, Indexed{distribution, draft.size()}, Indexed{row, draft.size() + 1}, Check::entries_read,
                     workspace);
    }

  private:
    using Sums = std::vector<specsample::kernels::LogitSums>;

    std::shared_ptr<const Sums> sums_;
};

/// Verify against the target's logits and the draft's probabilities.
textbook::Ending judge_mixed(const Draft& draft, const Place& place, specsample::Workspace& workspace) {
    const double sum = place.pool.contents().draft_sum;
    const auto distribution = [&](Index i) { return specsample::Sampled(place(i).draft, {}, sum); };
    const auto row = [&](Index i) { return specsample::Logits(place(i).target); };
    return judge(draft, Indexed{distribution, draft.size()}, Indexed{row, draft.size() + 1}, Check::entries_read,
                 workspace);
}

/// Verify against rows that are values, which origin(i) and row(i) make.
template <class OriginOf, class RowOf>
textbook::Ending judge_values(const Draft& draft, const OriginOf& origin, const RowOf& row,
                              specsample::Workspace& workspace) {
    std::array<specsample::Origin, 8> origins;
    for (Index i = 0; i < draft.size(); ++i) origins[static_cast<std::size_t>(i)] = origin(i);
    const auto round =
        specsample::verify(draft.tokens, std::span(origins).first(draft.tokens.size()), specsample::Rows(row),
                           specsample::TokenVerification{}, draft.rng, {}, workspace);
    return round ? textbook::Ending{round.accepted, round.tokens.back()} : textbook::Ending{-1, -1};
}

textbook::Ending judge_value_probs(const Draft& draft, const Place& place, specsample::Workspace& workspace) {
    const double sum = place.pool.contents().draft_sum;
    const auto origin = [&](Index i) {
        return specsample::Origin::sampled(specsample::Row::probs(place(i).draft), {}, sum);
    };
    const auto row = [&](Index i) { return specsample::Row::probs(place(i).target); };
    return judge_values(draft, origin, row, workspace);
}

textbook::Ending judge_value_logits(const Draft& draft, const Place& place, specsample::Workspace& workspace) {
    const double log_sum = place.pool.contents().draft_log_sum;
    const auto origin = [&](Index i) {
        return specsample::Origin::sampled(specsample::Row::logits(place(i).draft, 1, log_sum));
    };
    const auto row = [&](Index i) { return specsample::Row::logits(place(i).target); };
    return judge_values(draft, origin, row, workspace);
}

/// The same, where nothing is known of the draft's rows but their logits.
textbook::Ending judge_unknown_logits(const Draft& draft, const Place& place, specsample::Workspace& workspace) {
    const auto logits = [](const auto& numbers) { return specsample::Row::logits(numbers); };
    const auto origin = [&](Index i) { return specsample::Origin::sampled(logits(place(i).draft)); };
    const auto row = [&](Index i) { return logits(place(i).target); };
    return judge_values(draft, origin, row, workspace);
}

/// Verify against shaped logits: the target's are shaped when they are reached, the draft's were before its draws.
class ShapedRounds {
  public:
    explicit ShapedRounds(const Pool& pool)
        : target_(textbook_shaping(pool[0].target)), draft_(textbook_shaping(pool[0].draft)) {
        const auto row = specsample::shape(specsample::Logits(pool[0].draft), usual_shaping, {}, memory_->drafted);
        row.copy_to(memory_->draft);
    }

    Contents distributions() const { return {target_.cast<double>(), draft_.cast<double>(), 0, 0, 1, 0}; }

    textbook::Ending operator()(const Draft& draft, const Place& place, specsample::Workspace& workspace) const {
        const auto distribution = [&](Index) { return specsample::Sampled(memory_->draft); };
        const auto row = [&](Index i) {
            return specsample::shape(specsample::Logits(place(i).target), usual_shaping, {},
                                     memory_->rows[static_cast<std::size_t>(i)]);
        };
        return judge(draft, Indexed{distribution, draft.size()}, row, Check::entries_read, workspace);
    }

    textbook::Ending textbook(const Draft& draft, const Place& place) const {
        std::vector<Eigen::ArrayXf> targets;
        for (Index i = 0; i <= draft.size(); ++i) targets.push_back(textbook_shaping(place(i).target));
        struct At {
            const Eigen::ArrayXf &target, &draft;
        };
        return textbook::round(
            draft.tokens,
            [&](Index i) {
                return At{targets[static_cast<std::size_t>(i)], draft_};
            },
            draft.rng);
    }

  private:
    struct Memory {
        specsample::filters::ShapedMemory<float> drafted, rows[9];
        specsample::filters::ShapedRow<specsample::Logits<Row>>::Owned draft;
    };
    std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
    Eigen::ArrayXf target_, draft_;
};

textbook::Ending textbook_probs(const Draft& draft, const Place& place) {
    return textbook::round(draft.tokens, place, draft.rng);
}

textbook::Ending textbook_checked(const Draft& draft, const Place& place) {
    bool good = textbook::is_distribution(place(draft.size()).target);
    for (Index i = 0; i < draft.size(); ++i)
        good &= textbook::is_distribution(place(i).target) && textbook::is_distribution(place(i).draft);
    return good ? textbook_probs(draft, place) : textbook::Ending{-1, -1};
}

/// The textbook's round on logits: all rows become probabilities first.
template <Numbers numbers>
textbook::Ending textbook_softmax(const Draft& draft, const Place& place) {
    struct Probs {
        Eigen::ArrayXf target, draft;
    };
    std::vector<Probs> rows;
    for (Index i = 0; i <= draft.size(); ++i) {
        Probs& at = rows.emplace_back(Probs{textbook::softmax(place(i).target), {}});
        if (i < draft.size() && numbers == Numbers::logits) at.draft = textbook::softmax(place(i).draft);
        if (i < draft.size() && numbers == Numbers::mixed) at.draft = place(i).draft;
    }
    const auto at = [&](Index i) -> const Probs& { return rows[static_cast<std::size_t>(i)]; };
    return textbook::round(draft.tokens, at, draft.rng);
}

/// The rows of probabilities that a lazy verifier reads in full: both of the rejected position, or the last row.
constexpr auto needed_of_probs = [](const auto& reader, const Draft& draft, const Place& place) {
    const Pair last = place(draft.accepted);
    return draft.is_rejected() ? reader(last.target, last.draft) : reader(last.target);
};

/// The rows of logits that it reads in full if the draft's normalisers are known from its draws: also the target's at
/// every accepted position.
constexpr auto needed_of_logits = [](const auto& reader, const Draft& draft, const Place& place) {
    auto sum = needed_of_probs(reader, draft, place);
    for (Index i = 0; i < draft.accepted; ++i) sum += reader(place(i).target);
    return sum;
};

/// The rows of logits that it reads in full if no normaliser is known: both of every judged position, and the last row.
constexpr auto judged = [](const auto& reader, const Draft& draft, const Place& place) {
    auto sum = needed_of_logits(reader, draft, place);
    for (Index i = 0; i < draft.accepted; ++i) sum += reader(place(i).draft);
    return sum;
};

/// The target's rows that are reached: those that are shaped.
constexpr auto reached = [](const auto& reader, const Draft& draft, const Place& place) {
    auto sum = reader(place(0).target);
    for (Index i = 1; i <= draft.accepted; ++i) sum += reader(place(i).target);
    return sum;
};

constexpr auto every_row = [](const auto& reader, const Draft& draft, const Place& place) {
    auto sum = reader(place(draft.size()).target);
    for (Index i = 0; i < draft.size(); ++i) sum += reader(place(i).target) + reader(place(i).draft);
    return sum;
};

/// The distance between the positions of consecutive rounds on cold rows.
enum class Spacing {
    by_stops,  ///< rounds stop at consecutive positions: rows past the stop are not read
    by_rounds  ///< no two rounds share a position
};

/// Race two forms of a round, after checking that they end in the same way.
/// @param distributions    the distributions that tokens are drawn from and verified against
/// @param ours, textbook   map (draft, place) to an ending; ours is given a workspace as well
template <class Ours, class Textbook, class Read>
Race race_rounds(const Setting& setting, const Contents& distributions, Index lookahead, Index count, Spacing spacing,
                 const Ours& ours, const Textbook& textbook, const Read& read) {
    const Pool pool(setting);
    const auto workspace = std::make_shared<specsample::Workspace>();
    const bool by_stops = spacing == Spacing::by_stops;
    const auto place = [=](const Draft& draft, Index at) { return Place{pool, by_stops ? at - draft.accepted : at}; };
    const auto number = [](const textbook::Ending& end) {
        return static_cast<double>(end.last) * 64 + static_cast<double>(end.accepted);
    };
    const auto drafts = draw_drafts(distributions, lookahead, count);
    for (const Draft& draft : drafts) {
        const auto a = ours(draft, place(draft, 0), *workspace);
        const auto b = textbook(draft, place(draft, 0));
        // Recovered tokens are drawn by other numbers here, by rejection: each must be one that the residual allows.
        const bool agree =
            a.accepted == draft.accepted && b.accepted == draft.accepted &&
            (draft.is_rejected() ? textbook::residual(distributions)[a.last] > 0
                                 : textbook::distance(distributions.target, a.last, b.last) <= textbook::rounding);
        if (!agree) return {.refused = "the textbook's form ended a round in another way"};
    }
    return make_race(
        setting, by_stops ? 1 : lookahead + 1, drafts,
        [=](const Draft& draft, Index at) { return number(ours(draft, place(draft, at), *workspace)); },
        [=](const Draft& draft, Index at) { return number(textbook(draft, place(draft, at))); },
        [=](const auto& reader, const Draft& draft, Index at) { return read(reader, draft, place(draft, at)); });
}

/// Drafts by races that share the target's noise, as a match rule wants them.
std::vector<Draft> race_drafts(const Contents& distributions, Index lookahead, Index count) {
    std::vector<Draft> result;
    for (Index i = 0; i < count; ++i) {
        Draft draft{{}, specsample::RoundRng(42, 0, lookahead * i)};
        const auto winner = [&](const Eigen::ArrayXd& row, Index at) {
            return static_cast<Token>(specsample::race(draft.rng.at(Purpose::race, at), row));
        };
        for (Index at = 0; at < lookahead; ++at) draft.tokens.push_back(winner(distributions.draft, at));
        while (draft.is_rejected() &&
               winner(distributions.target, draft.accepted) == draft.tokens[static_cast<std::size_t>(draft.accepted)])
            ++draft.accepted;
        result.push_back(std::move(draft));
    }
    return result;
}

/// Race a round of Gumbel match on logits against races of every row that it reaches.
Race race_match(const Setting& setting, Index lookahead) {
    const Pool pool(setting);
    const auto workspace = std::make_shared<specsample::Workspace>();
    const auto ours = [=](const Draft& draft, Index at) {
        const auto row = [&](Index i) { return specsample::Logits(pool[at + i].target); };
        const auto round =
            specsample::verify(draft.tokens, specsample::PointMass{}, Indexed{row, draft.size() + 1},
                               specsample::GumbelMatch{}, draft.rng, {.check = Check::entries_read}, *workspace);
        return round.accepted;
    };
    const auto textbook = [=](const Draft& draft, Index at) {
        Index last = 0;
        for (Index i = 0; i <= draft.accepted; ++i)
            last = textbook::gumbel(pool[at + i].target, draft.rng.at(Purpose::race, i));
        return last;
    };
    const auto drafts = race_drafts(pool.contents(), lookahead, 16);
    for (const Draft& draft : drafts)
        if (ours(draft, 0) != draft.accepted) return {.refused = "another number of tokens was accepted"};
    return make_race(setting, lookahead + 1, drafts, ours, textbook,
                     [=](const auto& reader, const Draft& draft, Index at) {
                         return reached(reader, draft, Place{pool, at});
                     });
}

/// Race a round of sample match on logits against the loops of OpenVINO GenAI, which has the same rule.
Race race_openvino(const Setting& setting, Index lookahead) {
    const Pool pool(setting);
    const auto workspace = std::make_shared<specsample::Workspace>();
    const auto ours = [=](const Draft& draft, Index at) {
        const auto row = [&](Index i) { return specsample::Logits(pool[at + i].target); };
        return specsample::verify(draft.tokens, specsample::PointMass{}, Indexed{row, draft.size() + 1},
                                  specsample::SampleMatch{}, draft.rng, {}, *workspace)
            .accepted;
    };
    const auto theirs = [=](const Draft& draft, Index at) {
        return peers::openvino_round(
                   draft.tokens, [&](Index i) { return pool[at + i].target; }, draft.rng)
            .accepted;
    };
    std::vector<Draft> drafts = draw_drafts(pool.contents(), lookahead, 16);
    for (Draft& draft : drafts) {
        draft.accepted = ours(draft, 0);
        if (theirs(draft, 0) != draft.accepted) return {.refused = "another number of tokens was accepted"};
    }
    return make_race(setting, lookahead + 1, drafts, ours, theirs,
                     [=](const auto& reader, const Draft& draft, Index at) {
                         return reached(reader, draft, Place{pool, at});
                     });
}

/// A loop on the calling thread and one more.
struct TwoThreads {
    void operator()(Index count, const auto& body) const {
        std::atomic<Index> next = 0;
        const auto work = [&] {
            for (Index i = next++; i < count; i = next++) body(i);
        };
        const std::jthread other(work);
        work();
    }
};
struct OneThread {
    void operator()(Index count, const auto& body) const {
        for (Index i = 0; i < count; ++i) body(i);
    }
};

/// Race a batch of 64 rounds on logits, K = 4, against the textbook's rounds and a read of their rows on one thread.
template <class ParallelFor>
Race race_batch(const Setting& setting, const ParallelFor& parallel_for) {
    constexpr Index requests = 64, lookahead = 4;
    const Pool pool(setting);
    const auto drafts = std::make_shared<const std::vector<Draft>>(draw_drafts(pool.contents(), lookahead, requests));
    const auto memory = std::make_shared<specsample::BatchWorkspace>();
    const auto place = [=](Index request, Index first) { return Place{pool, first + request * (lookahead + 1)}; };
    const auto draft = [=](Index request) -> const Draft& { return (*drafts)[static_cast<std::size_t>(request)]; };
    return make_race(
        setting, requests * (lookahead + 1), std::vector{0},
        [=](int, Index first) {
            const auto judge = [&](Index i, specsample::Workspace& workspace) {
                const double log_sum = pool.contents().draft_log_sum;
                const auto distribution = [&](Index at) {
                    return specsample::Sampled(specsample::Logits(place(i, first)(at).draft, 1, log_sum).probs());
                };
                const auto row = [&](Index at) { return specsample::Logits(place(i, first)(at).target); };
                return specsample::verify(draft(i).tokens, Indexed{distribution, lookahead},
                                          Indexed{row, lookahead + 1}, specsample::TokenVerification{}, draft(i).rng,
                                          {}, workspace);
            };
            return specsample::verify_batch(requests, judge, *memory, parallel_for)[0].accepted;
        },
        [=](int, Index first) {
            Index sum = 0;
            for (Index i = 0; i < requests; ++i)
                sum += textbook_softmax<Numbers::logits>(draft(i), place(i, first)).accepted;
            return sum;
        },
        [=](const auto& reader, int, Index first) {
            auto sum = needed_of_logits(reader, draft(0), place(0, first));
            for (Index i = 1; i < requests; ++i) sum += needed_of_logits(reader, draft(i), place(i, first));
            return sum;
        });
}

}  // namespace

void add_rounds(Kernels& kernels) {
    const auto add = [&](const std::string& kernel, Index lookahead, const Setting& at, const auto& race) {
        const std::string name = kernel + "/K:" + std::to_string(lookahead);
        kernels.push_back({name, at.alpha == 70 ? "rounds" : "",
                           [=](const Setting& setting) { return race(setting, lookahead); }, at});
    };
    const auto with_check = [](Check check) {
        return [=](const Draft& draft, const Place& place, specsample::Workspace& workspace) {
            return judge_probs(draft, place, check, workspace);
        };
    };
    const auto probs = [=](const Setting& setting, Index lookahead) {
        return race_rounds(setting, Pool(setting).contents(), lookahead, 32, Spacing::by_stops,
                           with_check(Check::entries_read), textbook_probs, needed_of_probs);
    };
    const auto beside_mlc = [=](const Setting& setting, Index lookahead) {
        const auto mlc = [](const Draft& draft, const Place& place) {
            return peers::mlc_round(draft.tokens, place, draft.rng);
        };
        return race_rounds(setting, Pool(setting).contents(), lookahead, 32, Spacing::by_stops,
                           with_check(Check::entries_read), mlc, needed_of_probs);
    };
    const auto checked = [=](const Setting& setting, Index lookahead) {
        return race_rounds(setting, Pool(setting).contents(), lookahead, 32, Spacing::by_rounds,
                           with_check(Check::every_row), textbook_checked, every_row);
    };
    const auto logits = [](const Setting& setting, Index lookahead) {
        return race_rounds(setting, Pool(setting).contents(), lookahead, 16, Spacing::by_rounds, judge_logits,
                           textbook_softmax<Numbers::logits>, needed_of_logits);
    };
    const auto summed = [](const Setting& setting, Index lookahead) {
        const SummedRounds ours{Pool(setting)};
        return race_rounds(setting, Pool(setting).contents(), lookahead, 16, Spacing::by_rounds, ours,
                           textbook_softmax<Numbers::logits>, needed_of_logits);
    };
    const auto value_probs = [=](const Setting& setting, Index lookahead) {
        return race_rounds(setting, Pool(setting).contents(), lookahead, 32, Spacing::by_stops, judge_value_probs,
                           textbook_probs, needed_of_probs);
    };
    const auto unknown_logits = [](const Setting& setting, Index lookahead) {
        return race_rounds(setting, Pool(setting).contents(), lookahead, 16, Spacing::by_rounds, judge_unknown_logits,
                           textbook_softmax<Numbers::logits>, judged);
    };
    const auto value_logits = [](const Setting& setting, Index lookahead) {
        return race_rounds(setting, Pool(setting).contents(), lookahead, 16, Spacing::by_rounds, judge_value_logits,
                           textbook_softmax<Numbers::logits>, needed_of_logits);
    };
    const auto mixed = [](const Setting& setting, Index lookahead) {
        return race_rounds(setting, Pool(setting).contents(), lookahead, 16, Spacing::by_rounds, judge_mixed,
                           textbook_softmax<Numbers::mixed>, needed_of_logits);
    };
    const auto shaped = [](const Setting& setting, Index lookahead) {
        const ShapedRounds ours{Pool(setting)};
        const auto textbook = [=](const Draft& draft, const Place& place) { return ours.textbook(draft, place); };
        return race_rounds(setting, ours.distributions(), lookahead, 16, Spacing::by_rounds, ours, textbook, reached);
    };
    for (const Index lookahead : {4, 8})
        for (const int alpha : {50, 70, 90}) add("round/probs", lookahead, {.alpha = alpha}, probs);
    for (const Index lookahead : {4, 8}) add("round_every_row/probs", lookahead, {}, checked);
    for (const Index lookahead : {4, 8}) add("round/logits", lookahead, {.numbers = Numbers::logits}, logits);
    for (const Index lookahead : {4, 8}) add("round/logits+sums", lookahead, {.numbers = Numbers::logits}, summed);
    for (const Index lookahead : {4, 8}) add("round_match/logits", lookahead, {.numbers = Numbers::logits}, race_match);
    for (const Index lookahead : {4, 8}) add("round/shaped", lookahead, {.numbers = Numbers::logits}, shaped);
    add("round/probs beside MLC's", 4, {}, beside_mlc);
    add("sample_match/logits beside OpenVINO's", 4, {.numbers = Numbers::logits}, race_openvino);
    add("round_values/probs", 4, {}, value_probs);
    add("round_values/logits", 4, {.numbers = Numbers::logits}, value_logits);
    add("round_values/logits_unknown", 4, {.numbers = Numbers::logits}, unknown_logits);
    const auto add_batch = [&](const std::string& name, const auto& parallel_for) {
        kernels.push_back({"batch_64/logits/" + name,
                           "rounds",
                           [=](const Setting& setting) { return race_batch(setting, parallel_for); },
                           {.numbers = Numbers::logits}});
    };
    add_batch("1_thread", OneThread{});
    add_batch("2_threads", TwoThreads{});
    for (const Index lookahead : {4, 8}) add("round/mixed", lookahead, {.numbers = Numbers::mixed}, mixed);
}

}  // namespace bench
