#include "engine/eagle.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/reader.hpp"

namespace engine {
namespace {

constexpr std::array<char, 4> eagle_magic{'S', 'P', 'Q', 'D'};
constexpr std::int32_t eagle_version = 2;
constexpr float not_drafted = -std::numeric_limits<float>::infinity();

/// Reads the sizes, and checks those that must be the target's.
Config read_config(Reader& file, const Config& target, Index& ids) {
    if (file.value<std::array<char, 4>>() != eagle_magic) file.fail("holds no drafter for states");
    if (const auto version = file.value<std::int32_t>(); version != eagle_version)
        file.fail("has version " + std::to_string(version) + ", but must have " + std::to_string(eagle_version));
    const auto require = [&](const char* what, Index value, Index wanted) {
        if (value != wanted)
            file.fail(std::string("is for a target with ") + what + " " + std::to_string(value) +
                      ", but this target has " + std::to_string(wanted));
    };
    Config config = target;
    config.layers = 1;
    require("dim", file.value<std::int32_t>(), target.dim);
    config.hidden = file.value<std::int32_t>();
    require("heads", file.value<std::int32_t>(), target.heads);
    require("key heads", file.value<std::int32_t>(), target.kv_heads);
    require("vocabulary", file.value<std::int32_t>(), target.vocab);
    ids = file.value<std::int32_t>();
    const Index context = file.value<std::int32_t>();
    config.context = std::min(context, target.context);
    config.rms_epsilon = file.value<float>();
    config.rope_theta = file.value<float>();
    const bool good = config.hidden > 0 && config.hidden % group_columns == 0 && config.dim % group_columns == 0 &&
                      ids > 0 && ids <= config.vocab && context > 0 && config.has_constants();
    if (!good) file.fail("has an impossible header");
    return config;
}

std::vector<Index> read_ids(Reader& file, Index count, Index vocab) {
    const auto numbers = file.values<std::int32_t>(count, "ids");
    std::vector<Index> ids(numbers.begin(), numbers.end());
    std::vector<Index> sorted = ids;
    std::ranges::sort(sorted);
    if (sorted.front() < 0 || sorted.back() >= vocab) file.fail("has ids outside the vocabulary");
    if (std::ranges::adjacent_find(sorted) != sorted.end()) file.fail("has an id twice");
    return ids;
}

/// The most ids that a text can make draftable, with the frequent ones.
Index most_ids(const Weights& weights, const std::vector<Index>& frequent) {
    return std::min(weights.config.vocab, std::ssize(frequent) + weights.config.context);
}

}  // namespace

Eagle Eagle::load(const std::filesystem::path& path, std::shared_ptr<Model> target) {
    Reader file(path);
    auto weights = std::make_shared<Weights>();
    Parts parts;
    Index ids = 0;
    const Config& c = weights->config = read_config(file, target->weights()->config, ids);
    parts.ids = read_ids(file, ids, c.vocab);
    parts.state_norm = file.vector(c.dim, "norm of states");
    parts.token_norm = file.vector(c.dim, "norm of tokens");
    parts.join = file.group_matrix(c.dim, 2 * c.dim, "joining weights");
    for (Eigen::ArrayXf& norm : parts.middle_norms) norm = file.vector(c.dim, "norm of a middle layer's states");
    parts.middle = file.group_matrix(c.dim, middle_states * c.dim, "weights of the middle layers");
    weights->layers.push_back(file.layer(c, &Reader::group_matrix));
    weights->final_norm = file.vector(c.dim, "final norm");
    file.end();
    parts.weights = std::move(weights);
    return {std::move(parts), std::move(target)};
}

Eagle::Eagle(Parts parts, std::shared_ptr<Model> target)
    : target_(std::move(target)),
      weights_(std::move(parts.weights)),
      join_(std::move(parts.join)),
      middle_(std::move(parts.middle)),
      state_norm_(std::move(parts.state_norm)),
      token_norm_(std::move(parts.token_norm)),
      middle_norms_(std::move(parts.middle_norms)),
      ids_(std::move(parts.ids)),
      frequent_ids_(std::ssize(ids_)),
      classifier_(target_->weights()->classifier().select(ids_, most_ids(*weights_, ids_) - frequent_ids_)),
      trunk_(weights_, target_->team()),
      cache_(std::make_shared<PagePool>(weights_->config.cache(), 64)),
      no_state_(Eigen::ArrayXf::Zero(weights_->config.dim)),
      pair_(Trunk::rows(2 * weights_->config.dim)),
      middle_pair_(Trunk::rows(middle_states * weights_->config.dim)),
      input_(Trunk::rows(weights_->config.dim)),
      middle_input_(Trunk::rows(weights_->config.dim)),
      few_logits_(1, most_ids(*weights_, ids_)),
      logits_(RowMatrix::Constant(1, weights_->config.vocab, not_drafted)) {
    for (const Index id : ids_) logits_(0, id) = 0;
}

void Eagle::check_length(std::size_t tokens) const {
    if (tokens < 1 || static_cast<Index>(tokens) > context()) {
        throw std::invalid_argument("Eagle: the text has " + std::to_string(tokens) + " tokens, but must have 1 to " +
                                    std::to_string(context()));
    }
}

/// Makes the ids of `text` draftable, and of ids that are not frequent these alone.
void Eagle::list_ids(std::span<const Token> text) {
    if (!std::ranges::equal(listed_, text.first(std::min(listed_.size(), text.size())))) {
        for (const Index id : std::span(ids_).subspan(static_cast<std::size_t>(frequent_ids_)))
            logits_(0, id) = not_drafted;
        ids_.resize(static_cast<std::size_t>(frequent_ids_));
        classifier_.truncate(frequent_ids_);
        listed_.clear();
    }
    for (const Token token : text.subspan(listed_.size())) {
        if (token < 0 || token >= logits_.cols()) {
            throw std::invalid_argument("Eagle: token " + std::to_string(token) + " is outside the vocabulary of " +
                                        std::to_string(logits_.cols()));
        }
        listed_.push_back(token);
        if (logits_(0, token) != not_drafted) continue;
        logits_(0, token) = 0;  // until the next row
        ids_.push_back(token);
        classifier_.append(target_->weights()->classifier(), token);
    }
}

void Eagle::begin(std::span<const Token> text) {
    check_length(text.size());
    list_ids(text);
    const std::span<const Token> behind = text.subspan(1);
    Index known = 0;
    while (known < std::min(text_slots_, std::ssize(behind)) &&
           cache_.history.token(known) == behind[static_cast<std::size_t>(known)])
        ++known;
    cache_.history.truncate(known);
    cache_.attention.resize(std::ssize(behind));
    text_slots_ = known;
    while (text_slots_ < std::ssize(behind)) {
        std::array<Place, Trunk::max_pass> places;
        const Index count = std::min(Trunk::max_pass, std::ssize(behind) - text_slots_);
        for (Index i = 0; i < count; ++i) {
            const Index slot = text_slots_ + i;
            const Token token = behind[static_cast<std::size_t>(slot)];
            const std::span<const Token> before = text.first(static_cast<std::size_t>(slot) + 1);
            place_input(i, target_->state(before), token);
            place_middle(i, before);
            cache_.history.push(token, slot - 1, 1);
            places[static_cast<std::size_t>(i)] = {&cache_, slot};
        }
        join(count);
        add_middle(count);
        trunk_.pass(std::span(places).first(static_cast<std::size_t>(count)), 1, input_.topRows(count));
        text_slots_ += count;
    }
}

Logits Eagle::few(std::span<const Token> prefix) {
    check_length(prefix.size());
    const std::span<const Token> behind = prefix.subspan(1);
    const std::vector<Index> path = cache_.history.find(behind, 1);
    if (std::ssize(path) < text_slots_) throw std::invalid_argument("Eagle: the prefix does not continue the text");
    Index last = path.empty() ? no_slot : path.back();
    for (std::size_t i = path.size(); i < behind.size(); ++i) {
        const Index slot = cache_.history.size();
        cache_.attention.resize(slot + 1);
        cache_.history.push(behind[i], last, 1);
        const Vector state =
            last == no_slot ? Vector(no_state_.data(), no_state_.size()) : cache_.attention.state(last);
        place_input(0, ConstVector(state.data(), state.size()), behind[i]);
        join(1);
        const Place place{&cache_, slot};
        trunk_.pass({&place, 1}, 1, input_.topRows(1));
        last = slot;
    }
    const Vector state = last == no_slot ? Vector(no_state_.data(), no_state_.size()) : cache_.attention.state(last);
    multiply(classifier_, Eigen::Map<const RowMatrix>(state.data(), 1, state.size()),
             few_logits_.leftCols(classifier_.rows()), *target_->team());
    return Logits(few_logits_.data(), 1, classifier_.rows());
}

Logits Eagle::operator()(std::span<const Token> prefix) {
    const Logits logits = few(prefix);
    for (std::size_t i = 0; i < ids_.size(); ++i) logits_(0, ids_[i]) = logits(0, static_cast<Index>(i));
    return Logits(logits_.data(), 1, logits_.cols());
}

double Eagle::confidence() const {
    const auto logits = few_logits_.row(0).head(classifier_.rows()).array();
    return 1 / static_cast<double>((logits - logits.maxCoeff()).exp().sum());
}

void Eagle::place_input(Index row, const ConstVector& state, Token token) {
    const Config& c = weights_->config;
    rms_norm(state, state_norm_, c.rms_epsilon, Vector(&pair_(row, 0), c.dim));
    target_->weights()->embedding.copy_row(token, &input_(row, 0));
    rms_norm(ConstVector(&input_(row, 0), c.dim), token_norm_, c.rms_epsilon, Vector(&pair_(row, c.dim), c.dim));
}

void Eagle::place_middle(Index row, std::span<const Token> prefix) {
    const Config& c = weights_->config;
    for (std::size_t which = 0; which < middle_norms_.size(); ++which) {
        const auto number = static_cast<Index>(which);
        rms_norm(target_->state(prefix, number), middle_norms_[which], c.rms_epsilon,
                 Vector(&middle_pair_(row, number * c.dim), c.dim));
    }
}

void Eagle::join(Index count) { multiply(join_, pair_.topRows(count), input_.topRows(count), *target_->team()); }

void Eagle::add_middle(Index count) {
    multiply(middle_, middle_pair_.topRows(count), middle_input_.topRows(count), *target_->team());
    input_.topRows(count) += middle_input_.topRows(count);
}

}  // namespace engine
