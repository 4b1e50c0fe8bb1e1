#pragma once

// Weights of a Llama model and their three file formats: llama2.c's version 0 (float32), SPQ8 (int8 rows with a float32
// scale each) and SPQG (codes of 8 or 4 bits in groups: groups.hpp). The content of a file tells its format.

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "engine/kernel.hpp"
#include "engine/pages.hpp"

namespace engine {

struct Config {
    Index dim;
    Index hidden;
    Index layers;
    Index heads;
    Index kv_heads;
    Index vocab;
    Index context;
    float rms_epsilon = 1e-5f;
    float rope_theta = 10000.0f;

    constexpr Index head_size() const { return dim / heads; }
    constexpr Index kv_dim() const { return kv_heads * head_size(); }
    /// Are the two numbers that are no sizes positive and finite?
    bool has_constants() const {
        return rms_epsilon > 0 && std::isfinite(rms_epsilon) && rope_theta > 0 && std::isfinite(rope_theta);
    }
    CacheShape cache() const { return {layers, heads, kv_heads, head_size()}; }
};

struct Layer {
    Eigen::ArrayXf attention_norm;
    PackedMatrix query_key_value;  // the rows of the three stacked, so that one product computes them
    PackedMatrix attention_output;
    Eigen::ArrayXf feed_forward_norm;
    PackedMatrix gate_up;  // likewise: w1 on w3
    PackedMatrix down;     // w2
};

struct Weights {
    Config config;
    PackedMatrix embedding;
    std::vector<Layer> layers;
    Eigen::ArrayXf final_norm;
    std::optional<PackedMatrix> untied_classifier;

    const PackedMatrix& classifier() const { return untied_classifier ? *untied_classifier : embedding; }
    Index parameters() const;
    std::size_t bytes_per_pass() const;  ///< read by one pass, without embedding rows

    /// Throws std::runtime_error, with the file, what is wrong and what was expected, for a file that is damaged or of
    /// neither format. Nothing is allocated before the header has been found to fit the file's size.
    static std::shared_ptr<const Weights> load(const std::filesystem::path& path);
};

}  // namespace engine
