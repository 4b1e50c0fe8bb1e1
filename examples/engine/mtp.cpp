#include "engine/mtp.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/reader.hpp"

namespace engine {
namespace {

constexpr std::array<char, 4> mtp_magic{'M', 'T', 'P', '1'};
constexpr std::array<char, 4> int8_mtp_magic{'M', 'T', 'P', '8'};

void check_mtp_size(const Reader& file, bool int8, Index dim, Index inner) {
    const Index bytes = int8 ? inner * (inner + 4) + dim * (inner + 4) : 4 * inner * inner + 4 * dim * inner;
    const Index expected = 16 + bytes;
    if (expected != static_cast<Index>(file.size())) {
        file.fail("has " + std::to_string(file.size()) + " bytes where a module on " + std::to_string(dim) +
                  " asks for " + std::to_string(expected));
    }
}

}  // namespace

Mtp::Mtp(float scale, PackedMatrix a, PackedMatrix b, std::shared_ptr<const Weights> weights)
    : scale_(scale),
      a_(std::move(a)),
      b_(std::move(b)),
      weights_(std::move(weights)),
      states_(RowMatrix::Zero(1, aligned_width(b_.rows()))),
      input_(RowMatrix::Zero(1, aligned_width(a_.columns()))),
      inner_(RowMatrix::Zero(1, aligned_width(a_.rows()))),
      update_(RowMatrix::Zero(1, aligned_width(b_.rows()))),
      logits_(1, weights_->config.vocab) {}

Mtp Mtp::load(const std::filesystem::path& path, std::shared_ptr<const Weights> weights) {
    Reader file(path);
    const auto magic = file.value<std::array<char, 4>>();
    const bool int8 = magic == int8_mtp_magic;
    if (!int8 && magic != mtp_magic) file.fail("holds no multi-token-prediction module");
    const Index dim = file.value<std::int32_t>();
    const Index inner = file.value<std::int32_t>();
    if (dim != weights->config.dim)
        file.fail("is for a model of width " + std::to_string(dim) + ", but the model has width " +
                  std::to_string(weights->config.dim));
    if (inner != 2 * dim)
        file.fail("has an inner width of " + std::to_string(inner) + ", but must have " + std::to_string(2 * dim));
    check_mtp_size(file, int8, dim, inner);
    const float scale = file.values<float>(1, "embedding scale").front();
    const auto matrix = [&](Index rows, const char* name) {
        return int8 ? file.int8_matrix(rows, inner, name) : file.float_matrix(rows, inner, name);
    };
    PackedMatrix a = matrix(inner, "inner weights");
    return {scale, std::move(a), matrix(dim, "outer weights"), std::move(weights)};
}

void Mtp::begin(const ConstVector& state) {
    tokens_.clear();
    states_.row(0).head(state.size()) = state.matrix();
}

Logits Mtp::operator()(std::span<const Token> behind) {
    if (behind.empty()) throw std::invalid_argument("Mtp: there is no token behind the state");
    const auto known = std::mismatch(tokens_.begin(), tokens_.end(), behind.begin(), behind.end()).first;
    tokens_.erase(known, tokens_.end());
    if (states_.rows() <= std::ssize(behind)) states_.conservativeResize(2 * std::ssize(behind) + 1, Eigen::NoChange);
    while (tokens_.size() < behind.size()) step(std::ssize(tokens_) + 1, behind[tokens_.size()]);
    multiply(weights_->classifier(), states_.row(std::ssize(behind)), logits_);
    return Logits(logits_.data(), 1, logits_.cols());
}

/// Computes g_k from g_{k-1} and token t + k.
void Mtp::step(Index k, Token token) {
    const Index dim = weights_->config.dim;
    input_.leftCols(dim) = states_.row(k - 1).head(dim);
    weights_->embedding.copy_row(token, &input_(0, dim));
    input_.rightCols(input_.cols() - dim).leftCols(dim) *= scale_;
    multiply(a_, input_, inner_);
    auto inner = inner_.leftCols(a_.rows()).array();
    inner = inner / (1.0f + (-inner).exp());
    multiply(b_, inner_, update_);
    states_.row(k) = states_.row(k - 1) + update_;
    tokens_.push_back(token);
}

}  // namespace engine
