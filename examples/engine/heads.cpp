#include "engine/heads.hpp"

#include <array>
#include <string>
#include <utility>

#include "engine/reader.hpp"

namespace engine {
namespace {

constexpr std::array<char, 4> heads_magic{'M', 'E', 'D', 'U'};
constexpr std::array<char, 4> int8_heads_magic{'M', 'E', 'D', '8'};
constexpr Index most_heads = 64;

void check_size(const Reader& file, bool int8, Index count, Index dim) {
    const Index head = int8 ? dim * (dim + 4) : 4 * dim * dim;
    const Index expected = 12 + count * head;
    if (expected != static_cast<Index>(file.size())) {
        file.fail("has " + std::to_string(file.size()) + " bytes where " + std::to_string(count) + " heads on " +
                  std::to_string(dim) + " ask for " + std::to_string(expected));
    }
}

}  // namespace

Heads::Heads(std::vector<PackedMatrix> heads, std::shared_ptr<const Weights> weights)
    : heads_(std::move(heads)),
      weights_(std::move(weights)),
      input_(RowMatrix::Zero(1, aligned_width(weights_->config.dim))),
      hidden_(RowMatrix::Zero(count(), aligned_width(weights_->config.dim))),
      logits_(count(), weights_->config.vocab) {}

Heads Heads::load(const std::filesystem::path& path, std::shared_ptr<const Weights> weights) {
    Reader file(path);
    const auto magic = file.value<std::array<char, 4>>();
    const bool int8 = magic == int8_heads_magic;
    if (!int8 && magic != heads_magic) file.fail("holds no Medusa heads");
    const Index count = file.value<std::int32_t>();
    const Index dim = file.value<std::int32_t>();
    if (count < 1 || count > most_heads)
        file.fail("says it holds " + std::to_string(count) + " heads, but must hold 1 to " +
                  std::to_string(most_heads));
    if (dim != weights->config.dim)
        file.fail("is for a model of width " + std::to_string(dim) + ", but the model has width " +
                  std::to_string(weights->config.dim));
    check_size(file, int8, count, dim);
    std::vector<PackedMatrix> heads;
    for (Index k = 1; k <= count; ++k) {
        const std::string name = "weights of head " + std::to_string(k);
        heads.push_back(int8 ? file.int8_matrix(dim, dim, name) : file.float_matrix(dim, dim, name));
    }
    return {std::move(heads), std::move(weights)};
}

Heads Heads::untrained(Index count, std::shared_ptr<const Weights> weights) {
    const Index dim = weights->config.dim;
    return {std::vector<PackedMatrix>(static_cast<std::size_t>(count), PackedMatrix(dim, dim)), std::move(weights)};
}

void Heads::keep(Index count) {
    heads_.resize(static_cast<std::size_t>(count));
    hidden_.conservativeResize(count, Eigen::NoChange);
    logits_.resize(count, Eigen::NoChange);
}

Logits Heads::operator()(const ConstVector& state) {
    const Index dim = state.size();
    input_.row(0).head(dim) = state.matrix();
    for (Index k = 0; k < count(); ++k) {
        multiply(heads_[static_cast<std::size_t>(k)], input_, hidden_.middleRows(k, 1));
        Vector hidden(&hidden_(k, 0), dim);
        hidden = hidden / (1.0f + (-hidden).exp()) + state;
    }
    multiply(weights_->classifier(), hidden_, logits_);
    return Logits(logits_.data(), count(), logits_.cols());
}

}  // namespace engine
