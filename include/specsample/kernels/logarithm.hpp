// The natural logarithms of probabilities.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <specsample/core/eigen.hpp>
#include <specsample/kernels/block.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Write ln p for `count` numbers; `to` may be `from`. Eigen's logarithm takes subnormal numbers for the smallest
/// normal one, so that these are left to the standard library. Its last bit depends on whether it works by packets,
/// which it does here for every number: a logarithm must not depend on where its number lies.
template <class Value>
void take_logarithms(const Value* from, Index count, Value* to) {
    constexpr Value normal = std::numeric_limits<Value>::min();
    Eigen::Array<Value, block_size, 1> probs = decltype(probs)::Ones(), logs;
    for_blocks(0, count, [&](Index first, Index n) {
        const Index whole = (n + stripe_width - 1) / stripe_width * stripe_width;
        std::copy_n(from + first, n, probs.data());
        logs.head(whole) = probs.head(whole).log();
        std::copy_n(logs.data(), n, to + first);
        const auto share = probs.min(normal) * (1 / normal);  // between 0 and 1 where a number is subnormal
        if (!((share * (1 - share)).maxCoeff() > 0)) return;
        for (Index i = 0; i < n; ++i)
            if (probs[i] > 0 && probs[i] < normal)
                to[first + i] = static_cast<Value>(std::log(static_cast<double>(probs[i])));
    });
}

}}}  // namespace specsample::detail
