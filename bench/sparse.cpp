// Draws from sparse rows, as top-k and top-p leave them: ids and their probabilities, here of the .95 nucleus.
#include "kernels.hpp"
#include "row_races.hpp"

#include <cstring>
#include <numeric>

#include <specsample/kernels.hpp>
#include <specsample/rows/sparse.hpp>

namespace bench {
namespace {

using specsample::Token;

struct SparseRow {
    std::span<const Token> ids;
    Row probs;
    Index vocab;
};

struct SparsePair {
    SparseRow target, draft;
};

/// The ids of a distribution's nucleus, increasing.
std::vector<Token> nucleus(const Eigen::ArrayXd& distribution) {
    std::vector<Token> ids(static_cast<std::size_t>(distribution.size()));
    std::iota(ids.begin(), ids.end(), Token{0});
    std::ranges::sort(ids, [&](Token a, Token b) { return distribution[a] > distribution[b]; });
    std::size_t count = 0;
    for (double mass = 0; mass < .95; ++count) mass += distribution[ids[count]];
    ids.resize(count);
    std::ranges::sort(ids);
    return ids;
}

/// Positions of the pool, each with the ids and probabilities of the target, then of the draft.
class SparsePool {
  public:
    explicit SparsePool(const Setting& setting) : vocab_(setting.vocab) {
        const Contents dense = fill_pool<float>(setting);
        target_ = store(dense.target, 0, target_distribution_);
        draft_ = store(dense.draft, bytes_of(target_), draft_distribution_);
        positions_ = repeat_position(bytes_of(target_) + bytes_of(draft_));
    }

    const Eigen::ArrayXd& target() const { return target_distribution_; }
    const Eigen::ArrayXd& draft() const { return draft_distribution_; }

    SparsePair operator[](Index position) const {
        const auto place = static_cast<std::size_t>(around(position, positions_));
        const std::byte* begin = pool_memory() + place * (bytes_of(target_) + bytes_of(draft_));
        return {row(begin, target_), row(begin + bytes_of(target_), draft_)};
    }

  private:
    static std::size_t padded(Index count) { return (static_cast<std::size_t>(count) * 4 + 63) / 64 * 64; }
    static std::size_t bytes_of(Index count) { return 2 * padded(count); }

    /// Write the nucleus of a distribution.
    /// @param left   set to the distribution over the nucleus
    /// @returns      the number of ids in it
    static Index store(const Eigen::ArrayXd& distribution, std::size_t offset, Eigen::ArrayXd& left) {
        const std::vector<Token> ids = nucleus(distribution);
        const auto count = static_cast<Index>(ids.size());
        Eigen::ArrayXf probs = distribution(ids).cast<float>();
        probs /= probs.sum();
        left.setZero(distribution.size());
        left(ids) = probs.cast<double>();
        std::memcpy(pool_memory() + offset, ids.data(), ids.size() * sizeof(Token));
        std::memcpy(pool_memory() + offset + padded(count), probs.data(), ids.size() * sizeof(float));
        return count;
    }

    SparseRow row(const std::byte* begin, Index count) const {
        return {{reinterpret_cast<const Token*>(begin), static_cast<std::size_t>(count)},
                {reinterpret_cast<const float*>(begin + padded(count)), count},
                vocab_};
    }

    Index vocab_, target_, draft_, positions_;
    Eigen::ArrayXd target_distribution_, draft_distribution_;
};

Eigen::ArrayXf scattered(const SparseRow& row) {
    Eigen::ArrayXf dense = Eigen::ArrayXf::Zero(row.vocab);
    for (std::size_t i = 0; i < row.ids.size(); ++i) dense[row.ids[i]] = row.probs[static_cast<Index>(i)];
    return dense;
}

/// The library's view of a sparse row.
auto distribution_of(const SparseRow& row) { return specsample::Sparse(row.ids, row.probs, row.vocab).probs(); }

/// Reads the ids and probabilities of a sparse row.
constexpr auto entries = [](const auto& reader, const SparseRow& row) {
    return reader(Row(reinterpret_cast<const float*>(row.ids.data()), row.probs.size()), row.probs);
};

Race categorical(const Setting& setting) {
    const SparsePool rows(setting);
    return race_draws(
        setting, rows, rows.target(),
        [](const SparsePair& at, double u) {
            const auto distribution = distribution_of(at.target);
            return specsample::kernels::draw_index(specsample::kernels::RowWeights(distribution), [u] { return u; })
                .index;
        },
        [](const SparsePair& at, double u) { return textbook::draw(scattered(at.target), u); },
        [](const auto& reader, const SparsePair& at) { return entries(reader, at.target); });
}

Race residual(const Setting& setting) {
    const SparsePool rows(setting);
    return race_draws(
        setting, rows, (rows.target() - rows.draft()).cwiseMax(0),
        [](const SparsePair& at, double u) {
            const auto target = distribution_of(at.target), draft = distribution_of(at.draft);
            const specsample::kernels::ResidualWeights weights(target, draft);
            return specsample::kernels::draw_index(weights, [u] { return u; }).index;
        },
        [](const SparsePair& at, double u) {
            return textbook::draw(textbook::residual(scattered(at.draft), scattered(at.target)), u);
        },
        [](const auto& reader, const SparsePair& at) {
            return entries(reader, at.target) + entries(reader, at.draft);
        });
}

}  // namespace

void add_sparse(Kernels& kernels) {
    const Setting flat, peaked{.peaked = true};
    const std::string group = "sparse rows";
    kernels.push_back({"categorical/sparse/flat", group, categorical, flat});
    kernels.push_back({"residual/sparse/flat", group, residual, flat});
    kernels.push_back({"categorical/sparse/peaked", group, categorical, peaked});
    kernels.push_back({"residual/sparse/peaked", group, residual, peaked});
}

}  // namespace bench
