// Models for tests of the engine, and how their rows are compared.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "engine/checkpoints.hpp"
#include "engine/model.hpp"

namespace engine::testing {

inline std::shared_ptr<const Weights> loaded(const std::string& file) {
    return Weights::load(TemporaryFile(file).path());
}

/// Every kind of weights: float32 with both kinds of classifier, odd-sized int8, groups of both sizes, and the pair
/// that ships.
inline std::vector<std::shared_ptr<const Weights>> all_weights() {
    const std::filesystem::path models = SPECSAMPLE_MODELS_DIR;
    return {loaded(ReferenceModel(odd_config, true, 1).float32_file()),
            loaded(ReferenceModel(odd_config, false, 2).float32_file()),
            loaded(ReferenceModel(odd_config, true, 3).int8_file()),
            loaded(ReferenceModel(group_config, true, 4).groups_file(4)),
            loaded(ReferenceModel(group_config, false, 5).groups_file(8)),
            Weights::load(models / "draft_230K_kd_int8.bin"),
            Weights::load(models / "target_1.8M_int8.bin")};
}

inline bool same_bits(const Eigen::Ref<const RowMatrix>& a, const Eigen::Ref<const RowMatrix>& b) {
    const auto bytes = sizeof(float) * static_cast<std::size_t>(a.size());
    return a.rows() == b.rows() && a.cols() == b.cols() && std::memcmp(a.data(), b.data(), bytes) == 0;
}

}  // namespace engine::testing
