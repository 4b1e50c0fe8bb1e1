#include "rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <random>
#include <tuple>
#include <typeindex>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif
#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace bench {
namespace {

constexpr double logit_deviation = 3;
constexpr std::size_t huge_page = std::size_t{2} << 20;

Eigen::ArrayXd normal(Index size, double deviation, std::mt19937_64& generator) {
    std::normal_distribution<double> draw(0, deviation);
    return Eigen::ArrayXd::NullaryExpr(size, [&] { return draw(generator); });
}

double log_sum_exp(const Eigen::ArrayXd& logits) {
    const double largest = logits.maxCoeff();
    return largest + std::log((logits - largest).exp().sum());
}

Eigen::ArrayXd softmax(const Eigen::ArrayXd& logits) { return (logits - log_sum_exp(logits)).exp(); }

/// A target's logits. If peaked, 24 random tokens share all but a fiftieth of the mass; their logits span 2.3 evenly.
Eigen::ArrayXd target_logits(const Setting& setting, std::mt19937_64& generator) {
    Eigen::ArrayXd logits = normal(setting.vocab, logit_deviation, generator);
    if (!setting.peaked) return logits;
    const double top = log_sum_exp(logits) + std::log(49.);  // the sum of the peaks' exponentials
    const Eigen::ArrayXd peaks = Eigen::ArrayXd::LinSpaced(24, 0, -2.3);
    const double shift = top - log_sum_exp(peaks);
    for (const double peak : peaks)
        logits[static_cast<Index>(generator() % static_cast<std::uint64_t>(setting.vocab))] = peak + shift;
    return logits;
}

/// The target's logits with noise, scaled back to their former deviation. More noise gives less overlap: bisection
/// finds the amount that gives an overlap of `alpha`.
Eigen::ArrayXd draft_logits(const Eigen::ArrayXd& logits, double alpha, std::mt19937_64& generator) {
    const Eigen::ArrayXd target = softmax(logits);
    const Eigen::ArrayXd noise = normal(logits.size(), 1, generator);
    Eigen::ArrayXd draft;
    double overlap = 0;
    for (double low = 0, high = 16; std::abs(overlap - alpha) > 1e-3 && high - low > 1e-9;) {
        const double s = (low + high) / 2;
        draft = (logits + s * noise) * (logit_deviation / std::hypot(logit_deviation, s));
        overlap = target.min(softmax(draft)).sum();
        (overlap > alpha ? low : high) = s;
    }
    return draft;
}

/// Write a row.
/// @returns the probabilities of the numbers as stored, and ln sum exp of them if they are logits
template <class Scalar>
std::tuple<Eigen::ArrayXd, double> store(const Eigen::ArrayXd& logits, bool as_logits, Scalar* place) {
    Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>> row(place, logits.size());
    row = (as_logits ? logits : softmax(logits)).template cast<float>().template cast<Scalar>();
    const Eigen::ArrayXd stored = row.template cast<float>().template cast<double>();
    if (!as_logits) return {stored, 0};
    return {softmax(stored), log_sum_exp(stored)};
}

/// The current contents of the pool.
using Key = std::tuple<std::type_index, Numbers, int, bool, Index>;
std::optional<Key> in_pool;

}  // namespace

std::size_t pool_bytes() {
    std::size_t last_cache = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    last_cache = static_cast<std::size_t>(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)));
#endif
    return std::clamp<std::size_t>(4 * last_cache, 320'000'000, 2'000'000'000) / 64 * 64;
}

std::byte* pool_memory() {
    static std::byte* const begin = [] {
        auto* memory = new (std::align_val_t{huge_page}) std::byte[pool_bytes()];
#ifdef MADV_HUGEPAGE
        madvise(memory, pool_bytes(), MADV_HUGEPAGE);
#endif
        return memory;
    }();
    return begin;
}

bool has_huge_pages() {
    std::FILE* file = std::fopen("/proc/self/smaps_rollup", "r");
    if (file == nullptr) return false;
    long kilobytes = 0;
    for (char line[256]; std::fgets(line, sizeof line, file) != nullptr;)
        if (std::sscanf(line, "AnonHugePages: %ld", &kilobytes) == 1) break;
    std::fclose(file);
    return static_cast<std::size_t>(kilobytes) * 1024 > pool_bytes() / 2;
}

Index repeat_position(std::size_t bytes) {
    in_pool.reset();
    coldest_position() = 0;  // the pool's end is written last
    const std::size_t count = pool_bytes() / bytes;
    for (std::size_t i = 1; i < count; ++i) std::memcpy(pool_memory() + i * bytes, pool_memory(), bytes);
    return static_cast<Index>(count);
}

Index& coldest_position() {
    static Index position = 0;
    return position;
}

template <class Scalar>
const Contents& fill_pool(const Setting& setting) {
    const Key key{typeid(Scalar), setting.numbers, setting.alpha, setting.peaked, setting.vocab};
    static Contents contents;
    if (in_pool == key) return contents;
    std::mt19937_64 generator(42);
    const Eigen::ArrayXd target = target_logits(setting, generator);
    const Eigen::ArrayXd draft = draft_logits(target, setting.alpha / 100., generator);
    auto* pair = reinterpret_cast<Scalar*>(pool_memory());
    std::tie(contents.target, contents.target_log_sum) = store(target, setting.numbers != Numbers::probs, pair);
    std::tie(contents.draft, contents.draft_log_sum) =
        store(draft, setting.numbers == Numbers::logits, pair + setting.vocab);
    contents.draft_sum = contents.draft.sum();
    contents.positions = repeat_position(2 * sizeof(Scalar) * static_cast<std::size_t>(setting.vocab));
    in_pool = key;
    return contents;
}

template const Contents& fill_pool<float>(const Setting&);
template const Contents& fill_pool<Eigen::half>(const Setting&);
template const Contents& fill_pool<Eigen::bfloat16>(const Setting&);

}  // namespace bench
