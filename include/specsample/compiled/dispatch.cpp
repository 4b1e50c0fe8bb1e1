// Which loops of the compiled library run: those of the widest instruction set that the machine has.
//
// SPECSAMPLE_SIMD=base, v3 or v4 in the environment chooses another set; tokens are the same with every one. `base` is
// compiled as the program is, v3 and v4 for x86-64-v3 and v4. There is no v2: measured, it is not faster than SSE2.
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <specsample/compiled/loops.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

extern "C" {
[[gnu::visibility("hidden")]] extern const Loops specsample_loops_base, specsample_loops_v3, specsample_loops_v4;
}

struct LoopSet {
    std::string_view name;
    bool runs_here;
    bool is_wider;  ///< than what `base` is compiled for
    const Loops& loops;
};

#if defined(__AVX512F__)
inline constexpr bool has_v3 = true, has_v4 = true;
#elif defined(__AVX2__)
inline constexpr bool has_v3 = true, has_v4 = false;
#else
inline constexpr bool has_v3 = false, has_v4 = false;
#endif

/// The sets, the widest first. A processor with the instructions named here has all of x86-64-v3 or v4.
inline std::span<const LoopSet> loop_sets() {
    static const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    static const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                           __builtin_cpu_supports("avx512vl");
    static const LoopSet sets[] = {{"v4", v4, !has_v4, specsample_loops_v4},
                                   {"v3", v3, !has_v3, specsample_loops_v3},
                                   {"base", true, true, specsample_loops_base}};
    return sets;
}

/// Return the set that SPECSAMPLE_SIMD names; without a name, the widest that runs here and is wider than `base`.
/// @throws   std::invalid_argument for a name that is no set, or is one that does not run here
inline const LoopSet& find_loop_set() {
    const char* named = std::getenv("SPECSAMPLE_SIMD");
    const std::string_view name = named == nullptr ? "" : named;
    std::string here;
    for (const LoopSet& set : loop_sets()) {
        if (!set.runs_here) continue;
        if (name.empty() ? set.is_wider : name == set.name) return set;
        here += " " + std::string(set.name);
    }
    invalid("compiled", "SPECSAMPLE_SIMD", name, "a set of loops that runs on this machine:" + here);
}

/// Return the set that this process runs.
inline const LoopSet& loop_set() {
    static const LoopSet& found = find_loop_set();
    return found;
}

inline const char* loop_set_name() { return loop_set().name.data(); }

// What compiled_values.hpp and shaping/shape_value.hpp declare.
template <class Rule>
Round judge_values(std::span<const Token> tokens, const Links* shape, const Origins& origins, const Rows& rows,
                   const Rule& rule, const RoundRng& rng, const RoundLimits& limits, RoundMemory& memory) {
    const auto judge = std::get<JudgeLoop<Rule>>(loop_set().loops.judge);
    return judge(tokens, shape, origins, rows, rule, rng, limits, memory);
}

template <class Value>
const Loops::OfValue& loops_of() {
    return std::is_same_v<Value, float> ? loop_set().loops.floats : loop_set().loops.doubles;
}
template <class Value>
DraftedValue draft_alone(const RoundRng& rng, Index node, const Row& row, Index depth, std::span<const Token> without) {
    return loops_of<Value>().draft_alone(rng, node, row, depth, without);
}
template <class Value>
DraftedValue draft_shared(const RoundRng& rng, const Row& row, Index depth, std::span<const Token> without) {
    return loops_of<Value>().draft_shared(rng, row, depth, without);
}
template <class Value>
std::optional<RowFault> inspect_as(const Row& row, Side side, Index number) {
    return loops_of<Value>().inspect(row, side, number);
}

template <class Memory>
std::span<const DraftScore> score_values(const Links& shape, std::span<const Token> tokens, const Origins& origins,
                                         const Rows& rows, const RoundRng& rng, const Round& round, Memory& memory) {
    return loop_set().loops.score_drafts(shape, tokens, origins, rows, rng, round, memory);
}
template <class Memory>
std::span<const TokenScore> score_emitted(const Round& round, const Rows& rows, Memory& memory, Index top) {
    return loop_set().loops.score_emitted(round, rows, memory, top);
}

Row shape_value(const Row& row, const SamplingParams& params, std::span<const Token> context,
                filters::ShapedMemory<Row>& memory) {
    return loop_set().loops.shape(row, params, context, memory);
}

}}}  // namespace specsample::detail
