// Small random checkpoints that the tests write themselves, and what a plain double-precision Llama makes of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint.hpp"
#include "engine/token.hpp"

namespace engine::testing {

/// A file that is gone when the test is over.
class TemporaryFile {
  public:
    explicit TemporaryFile(std::string_view content) {
        static int count = 0;
        const auto salt = std::to_string(std::random_device{}());
        path_ = std::filesystem::temp_directory_path() / ("specsample-" + salt + "-" + std::to_string(count++));
        std::ofstream(path_, std::ios::binary).write(content.data(), std::ssize(content));
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() { std::filesystem::remove(path_); }

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

template <class T>
void append(std::string& file, const std::vector<T>& values) {
    file.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <class T>
void overwrite(std::string& file, std::size_t offset, T value) {
    std::memcpy(file.data() + offset, &value, sizeof value);
}

class Uniform {
  public:
    explicit Uniform(unsigned seed) : engine_(seed) {}
    double operator()() { return static_cast<double>(engine_()) / 4294967296.0; }
    int below(Index end) { return static_cast<int>((*this)() * static_cast<double>(end)); }

  private:
    std::mt19937 engine_;
};

inline std::vector<Token> random_tokens(Index count, Index vocab, unsigned seed) {
    Uniform uniform(seed);
    std::vector<Token> tokens;
    for (Index i = 0; i < count; ++i) tokens.push_back(uniform.below(vocab));
    return tokens;
}

struct Matrix {
    Index rows, columns;
    std::vector<float> values;  // what the model computes with; for an int8 matrix, scale * quantised
    std::vector<std::int8_t> quantised;
    std::vector<float> scales;

    double operator()(Index r, Index k) const { return values[static_cast<std::size_t>(r * columns + k)]; }
};

inline Matrix random_matrix(Index rows, Index columns, Uniform& uniform) {
    Matrix m{rows, columns, {}, {}, {}};
    for (Index r = 0; r < rows; ++r) {
        m.scales.push_back(static_cast<float>((0.5 + uniform()) / 127 / std::sqrt(static_cast<double>(columns))));
        for (Index k = 0; k < columns; ++k) {
            m.quantised.push_back(static_cast<std::int8_t>(uniform.below(256) - 128));
            m.values.push_back(m.scales.back() * static_cast<float>(m.quantised.back()));
        }
    }
    return m;
}

/// A matrix in groups of 32 columns, as files have it.
struct Codes {
    std::vector<std::uint8_t> codes;
    std::vector<Eigen::half> scales, minima;
};

/// The nearest codes of a matrix, whose values become those of the codes.
inline Codes round_to_codes(Matrix& m, int bits) {
    Codes result;
    for (std::size_t begin = 0; begin < m.values.size(); begin += 32) {
        const auto [low, high] = std::minmax_element(m.values.begin() + static_cast<std::ptrdiff_t>(begin),
                                                     m.values.begin() + static_cast<std::ptrdiff_t>(begin + 32));
        const float largest = std::max(std::abs(*low), std::abs(*high));
        const Eigen::half scale(bits == 8 ? largest / 127 : (*high - *low) / 15);
        const Eigen::half minimum(bits == 8 ? 0.0f : *low);
        const int least = bits == 8 ? -127 : 0;
        const int most = bits == 8 ? 127 : 15;
        for (std::size_t i = begin; i < begin + 32; ++i) {
            const float steps = (m.values[i] - static_cast<float>(minimum)) / static_cast<float>(scale);
            const int code = std::clamp(static_cast<int>(std::lround(steps)), least, most);
            m.values[i] = static_cast<float>(scale) * static_cast<float>(code) + static_cast<float>(minimum);
            if (bits == 8)
                result.codes.push_back(static_cast<std::uint8_t>(code));
            else if (i % 2 == 0)
                result.codes.push_back(static_cast<std::uint8_t>(code));
            else
                result.codes.back() = static_cast<std::uint8_t>(result.codes.back() | code << 4);
        }
        result.scales.push_back(scale);
        if (bits == 4) result.minima.push_back(minimum);
    }
    return result;
}

struct ReferenceLayer {
    Matrix norm1, q, k, v, o, norm2, w1, w2, w3;
};

class ReferenceModel {
  public:
    ReferenceModel(const Config& config, bool tied, unsigned seed) : c(config), tied_(tied) {
        Uniform uniform(seed);
        const auto matrix = [&](Index rows, Index columns) { return random_matrix(rows, columns, uniform); };
        embedding_ = matrix(c.vocab, c.dim);
        for (Index i = 0; i < c.layers; ++i) {
            layers_.push_back({norm(uniform), matrix(c.dim, c.dim), matrix(c.kv_dim(), c.dim),
                               matrix(c.kv_dim(), c.dim), matrix(c.dim, c.dim), norm(uniform), matrix(c.hidden, c.dim),
                               matrix(c.dim, c.hidden), matrix(c.hidden, c.dim)});
        }
        final_norm_ = norm(uniform);
        classifier_ = tied ? embedding_ : matrix(c.vocab, c.dim);
    }

    std::string float32_file() const {
        std::string file;
        append(file, header(tied_ ? c.vocab : -c.vocab));
        append(file, embedding_.values);
        for (const auto part :
             {&ReferenceLayer::norm1, &ReferenceLayer::q, &ReferenceLayer::k, &ReferenceLayer::v, &ReferenceLayer::o,
              &ReferenceLayer::norm2, &ReferenceLayer::w1, &ReferenceLayer::w2, &ReferenceLayer::w3}) {
            for (const ReferenceLayer& layer : layers_) append(file, (layer.*part).values);
        }
        append(file, final_norm_.values);
        append(file, std::vector<float>(static_cast<std::size_t>(c.context * c.head_size()), 7.0f));  // to be skipped
        if (!tied_) append(file, classifier_.values);
        return file;
    }

    std::string int8_file() const {
        std::string file = "SPQ8";
        append(file, header(c.vocab));
        append_stacked(file, {&embedding_});
        for (const ReferenceLayer& layer : layers_) {
            append(file, layer.norm1.values);
            append_stacked(file, {&layer.q, &layer.k, &layer.v});
            append_stacked(file, {&layer.o});
            append(file, layer.norm2.values);
            append_stacked(file, {&layer.w1, &layer.w3});
            append_stacked(file, {&layer.w2});
        }
        append(file, final_norm_.values);
        return file;
    }

    /// Codes of 4 or 8 bits in groups. The values become those of the codes. All columns must be whole groups.
    std::string groups_file(int bits) {
        std::string file = "SPQG";
        append(file, std::vector<std::int32_t>{1});
        append(file, header(c.vocab));
        append(file, std::vector<float>{c.rms_epsilon, c.rope_theta});
        append(file, std::vector<std::int32_t>{tied_ ? 1 : 0});
        append_groups(file, 8, {&embedding_});
        for (ReferenceLayer& layer : layers_) {
            append(file, layer.norm1.values);
            append_groups(file, bits, {&layer.q, &layer.k, &layer.v});
            append_groups(file, bits, {&layer.o});
            append(file, layer.norm2.values);
            append_groups(file, bits, {&layer.w1, &layer.w3});
            append_groups(file, bits, {&layer.w2});
        }
        append(file, final_norm_.values);
        if (tied_) {
            classifier_ = embedding_;
        } else {
            append_groups(file, 8, {&classifier_});
        }
        return file;
    }

    /// Logits after every token, by the textbook in double precision.
    std::vector<std::vector<double>> logits(const std::vector<Token>& tokens) const {
        auto stream = residual_stream(tokens, c.layers);
        for (auto& x : stream) x = times(classifier_, normed(x, final_norm_));
        return stream;
    }

    /// What the first `layers` layers make of every token.
    std::vector<std::vector<double>> residual_stream(const std::vector<Token>& tokens, Index layers) const {
        std::vector<std::vector<double>> stream;
        for (const Token token : tokens) stream.push_back(row(embedding_, token));
        for (Index i = 0; i < layers; ++i) {
            attend(layers_[at(i)], stream);
            for (auto& x : stream) feed_forward(layers_[at(i)], x);
        }
        return stream;
    }

    const Config c;

  private:
    using Vector = std::vector<double>;

    static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

    Matrix norm(Uniform& uniform) const {
        Matrix weights{1, c.dim, {}, {}, {}};
        for (Index i = 0; i < c.dim; ++i) weights.values.push_back(static_cast<float>(0.5 + uniform()));
        return weights;
    }

    std::vector<std::int32_t> header(Index vocab) const {
        std::vector<std::int32_t> fields;
        for (const Index field : {c.dim, c.hidden, c.layers, c.heads, c.kv_heads, vocab, c.context}) {
            fields.push_back(static_cast<std::int32_t>(field));
        }
        return fields;
    }

    static void append_stacked(std::string& file, const std::vector<const Matrix*>& stack) {
        for (const Matrix* matrix : stack) append(file, matrix->quantised);
        for (const Matrix* matrix : stack) append(file, matrix->scales);
    }

    static void append_groups(std::string& file, int bits, const std::vector<Matrix*>& stack) {
        std::vector<Codes> parts;
        for (Matrix* matrix : stack) parts.push_back(round_to_codes(*matrix, bits));
        append(file, std::vector<std::int32_t>{bits});
        for (const Codes& part : parts) append(file, part.codes);
        for (const Codes& part : parts) append(file, part.scales);
        for (const Codes& part : parts) append(file, part.minima);
    }

    static Vector row(const Matrix& matrix, Index r) {
        Vector result;
        for (Index k = 0; k < matrix.columns; ++k) result.push_back(matrix(r, k));
        return result;
    }

    static Vector times(const Matrix& matrix, const Vector& x) {
        Vector y(at(matrix.rows), 0.0);
        for (Index r = 0; r < matrix.rows; ++r) {
            for (Index k = 0; k < matrix.columns; ++k) y[at(r)] += matrix(r, k) * x[at(k)];
        }
        return y;
    }

    static Vector normed(const Vector& x, const Matrix& weights) {
        double squares = 0;
        for (const double value : x) squares += value * value;
        const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);  // every config's epsilon
        Vector y;
        for (std::size_t i = 0; i < x.size(); ++i) y.push_back(x[i] * scale * weights.values[i]);
        return y;
    }

    void rotate(Vector& x, std::size_t position) const {
        for (std::size_t i = 0; i < x.size(); i += 2) {
            const std::size_t within = i % at(c.head_size());
            const double exponent = static_cast<double>(within) / static_cast<double>(c.head_size());
            const double angle = static_cast<double>(position) * std::pow(static_cast<double>(c.rope_theta), -exponent);
            const double a = x[i];
            const double b = x[i + 1];
            x[i] = a * std::cos(angle) - b * std::sin(angle);
            x[i + 1] = a * std::sin(angle) + b * std::cos(angle);
        }
    }

    void attend(const ReferenceLayer& layer, std::vector<Vector>& stream) const {
        std::vector<Vector> keys, values;
        for (std::size_t position = 0; position < stream.size(); ++position) {
            const Vector x = normed(stream[position], layer.norm1);
            Vector queries = times(layer.q, x);
            keys.push_back(times(layer.k, x));
            values.push_back(times(layer.v, x));
            rotate(queries, position);
            rotate(keys.back(), position);
            Vector mixed;
            for (Index head = 0; head < c.heads; ++head) {
                const Vector part = attend_head(queries, keys, values, head);
                mixed.insert(mixed.end(), part.begin(), part.end());
            }
            const Vector update = times(layer.o, mixed);
            for (std::size_t i = 0; i < update.size(); ++i) stream[position][i] += update[i];
        }
    }

    Vector attend_head(const Vector& queries, const std::vector<Vector>& keys, const std::vector<Vector>& values,
                       Index head) const {
        const std::size_t size = at(c.head_size());
        const std::size_t query = at(head) * size;
        const std::size_t key = at(head / (c.heads / c.kv_heads)) * size;
        Vector sum(size, 0.0);
        double total = 0;
        for (std::size_t t = 0; t < keys.size(); ++t) {
            double score = 0;
            for (std::size_t i = 0; i < size; ++i) score += queries[query + i] * keys[t][key + i];
            const double weight = std::exp(score / std::sqrt(static_cast<double>(size)));
            total += weight;
            for (std::size_t i = 0; i < size; ++i) sum[i] += weight * values[t][key + i];
        }
        for (double& value : sum) value /= total;
        return sum;
    }

    static void feed_forward(const ReferenceLayer& layer, Vector& x) {
        const Vector input = normed(x, layer.norm2);
        Vector gate = times(layer.w1, input);
        const Vector up = times(layer.w3, input);
        for (std::size_t i = 0; i < gate.size(); ++i) gate[i] *= up[i] / (1 + std::exp(-gate[i]));
        const Vector update = times(layer.w2, gate);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += update[i];
    }

    bool tied_;
    Matrix embedding_;
    std::vector<ReferenceLayer> layers_;
    Matrix final_norm_;
    Matrix classifier_;
};

/// Sizes that are no multiple of a SIMD register or of an int8 word, with query heads that share key heads.
inline constexpr Config odd_config{18, 22, 3, 9, 3, 37, 70};

/// Sizes of whole groups, but of no whole panels, with another angle than usual.
inline constexpr Config group_config{96, 160, 3, 6, 2, 37, 70, 1e-5f, 100000.0f};

}  // namespace engine::testing
