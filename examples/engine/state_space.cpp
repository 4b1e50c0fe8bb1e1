#include "engine/state_space.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/layers.hpp"
#include "engine/trunk.hpp"

namespace engine {
namespace {

constexpr std::array<char, 4> magic{'S', 'S', 'M', '8'};
constexpr float epsilon = 1e-5f;

RowMatrix table(Reader& file, Index rows, Index columns, const char* name) {
    const auto values = file.values<float>(rows * columns, name);
    return Eigen::Map<const RowMatrix>(values.data(), rows, columns);
}

StateSpaceBlock block_of(Reader& file, const StateSpaceConfig& c) {
    StateSpaceBlock block;
    block.norm = file.vector(c.dim, "block norm");
    block.enter = file.int8_matrix(2 * c.inner, c.dim, "input weights");
    block.window = table(file, c.window, c.inner, "convolution weights");
    block.bias = file.vector(c.inner, "convolution bias");
    block.select = file.int8_matrix(c.rank + 2 * c.states, c.inner, "selection weights");
    block.step = file.int8_matrix(c.inner, c.rank, "step weights");
    block.step_bias = file.vector(c.inner, "step bias");
    block.decay = table(file, c.states, c.inner, "decays");
    block.skip = file.vector(c.inner, "skip weights");
    block.leave = file.int8_matrix(c.dim, c.inner, "output weights");
    return block;
}

template <class X>
auto silu(const X& x) {
    return x / (1.0f + (-x).exp());
}

}  // namespace

std::shared_ptr<const StateSpaceWeights> StateSpaceWeights::load(const std::filesystem::path& path) {
    Reader file(path);
    if (file.value<std::array<char, 4>>() != magic) file.fail("holds no state-space model");
    const auto sizes = file.value<std::array<std::int32_t, 7>>();
    for (const std::int32_t size : sizes)
        if (size < 1 || size > 1 << 20)
            file.fail("has a size of " + std::to_string(size) + ", but must have 1 to 2^20");
    auto weights = std::make_shared<StateSpaceWeights>();
    weights->config = {sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6]};
    const StateSpaceConfig& config = weights->config;
    weights->embedding = file.int8_matrix(config.vocab, config.dim, "embedding");
    for (Index i = 0; i < config.blocks; ++i) weights->blocks.push_back(block_of(file, config));
    weights->norm = file.vector(config.dim, "final norm");
    file.end();
    return weights;
}

std::size_t StateSpaceWeights::bytes() const {
    std::size_t bytes = embedding.bytes();
    for (const StateSpaceBlock& block : blocks)
        bytes += block.enter.bytes() + block.select.bytes() + block.step.bytes() + block.leave.bytes();
    return bytes;
}

StateSpace::StateSpace(std::shared_ptr<const StateSpaceWeights> weights) : weights_(std::move(weights)) {
    const StateSpaceConfig& c = config();
    for (RowMatrix* rows : {&stream_, &normed_, &update_}) *rows = Trunk::rows(c.dim);
    for (RowMatrix* rows : {&channels_, &steps_, &mixed_}) *rows = Trunk::rows(c.inner);
    entered_ = Trunk::rows(2 * c.inner);
    inputs_ = RowMatrix::Zero(c.window - 1 + Trunk::max_pass, c.inner);
    selected_ = Trunk::rows(c.rank + 2 * c.states);
    ranked_ = Trunk::rows(c.rank);
    restore({});
}

void StateSpace::restore(const State& copy) {
    const StateSpaceConfig& c = config();
    state_ = copy.size() > 0 ? copy : State(State::Zero(c.blocks * (c.window - 1 + c.states), c.inner));
}

RowMatrix StateSpace::read(std::span<const Token> tokens, Index n, Index sure, State& copy) {
    for (const Token token : tokens)
        if (token < 0 || token >= config().vocab)
            throw std::invalid_argument("StateSpace: token " + std::to_string(token) + " is not in [0, " +
                                        std::to_string(config().vocab) + ")");
    const Index count = std::ssize(tokens), first = count - n;  // row i is that after token first + i
    RowMatrix logits = RowMatrix::Zero(n, config().vocab);
    if (sure == 0) copy = state_;
    for (Index begin = 0; begin < count; begin += Trunk::max_pass) {
        const Index end = std::min(begin + Trunk::max_pass, count);
        pass(tokens.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)), sure - begin,
             copy);
        if (const Index from = std::max(begin, first); from < end) {
            for (Index i = from; i < end; ++i)
                rms_norm(ConstVector(&stream_(i - begin, 0), config().dim), weights_->norm, epsilon,
                         Vector(&normed_(i - begin, 0), config().dim));
            multiply(weights_->embedding, normed_.middleRows(from - begin, end - from),
                     logits.middleRows(from - first, end - from));
        }
    }
    return logits;
}

/// Takes tokens through all blocks; the state after the first `sure` of them goes to `copy`.
void StateSpace::pass(std::span<const Token> tokens, Index sure, State& copy) {
    const Index count = std::ssize(tokens);
    if (sure >= 1 && sure <= count) copy.resizeLike(state_);
    for (Index i = 0; i < count; ++i) weights_->embedding.copy_row(tokens[static_cast<std::size_t>(i)], &stream_(i, 0));
    for (Index block = 0; block < config().blocks; ++block) {
        run(block, count, sure, copy);
        stream_.topRows(count) += update_.topRows(count);
    }
}

/// Computes a block's outputs for the first `count` rows of the stream.
void StateSpace::run(Index number, Index count, Index sure, State& copy) {
    const StateSpaceConfig& c = config();
    const StateSpaceBlock& block = weights_->blocks[static_cast<std::size_t>(number)];
    const Index before = c.window - 1, first = number * (before + c.states);
    for (Index i = 0; i < count; ++i)
        rms_norm(ConstVector(&stream_(i, 0), c.dim), block.norm, epsilon, Vector(&normed_(i, 0), c.dim));
    multiply(block.enter, normed_.topRows(count), entered_.topRows(count));
    inputs_.topRows(before) = state_.middleRows(first, before);
    inputs_.middleRows(before, count) = entered_.topLeftCorner(count, c.inner);
    for (Index i = 0; i < count; ++i) convolve(block, i);
    multiply(block.select, channels_.topRows(count), selected_.topRows(count));
    ranked_.topLeftCorner(count, c.rank) = selected_.topLeftCorner(count, c.rank);
    multiply(block.step, ranked_.topRows(count), steps_.topRows(count));
    auto numbers = state_.middleRows(first + before, c.states);
    for (Index i = 0; i < count; ++i) {
        scan(block, numbers, i);
        if (i + 1 != sure) continue;
        copy.middleRows(first, before) = inputs_.middleRows(sure, before);
        copy.middleRows(first + before, c.states) = numbers;
    }
    state_.middleRows(first, before) = inputs_.middleRows(count, before);
    multiply(block.leave, mixed_.topRows(count), update_.topRows(count));
}

void StateSpace::convolve(const StateSpaceBlock& block, Index position) {
    auto u = channels_.row(position).head(config().inner).array();
    u = block.bias.transpose();
    for (Index k = 0; k < config().window; ++k) u += block.window.row(k).array() * inputs_.row(position + k).array();
    u = silu(u);
}

void StateSpace::scan(const StateSpaceBlock& block, Rows numbers, Index position) {
    const StateSpaceConfig& c = config();
    const auto u = channels_.row(position).head(c.inner).array();
    const auto selected = selected_.row(position);
    auto step = steps_.row(position).head(c.inner).array();
    auto y = mixed_.row(position).head(c.inner).array();
    step += block.step_bias.transpose();
    step = step.max(0.0f) + (-step.abs()).exp().log1p();
    y = block.skip.transpose() * u;
    for (Index n = 0; n < c.states; ++n) {
        auto s = numbers.row(n).array();
        s = (step * block.decay.row(n).array()).exp() * s + step * u * selected(c.rank + n);
        y += s * selected(c.rank + c.states + n);
    }
    y *= silu(entered_.row(position).segment(c.inner, c.inner).array());
}

}  // namespace engine
