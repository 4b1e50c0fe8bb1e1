// The templates that most programs instantiate, compiled once: the rules' walks over rows of floats and doubles, as
// probabilities or logits, and the draws of drafted tokens.
//
// The library is header-only. A program may link the CMake target specsample::compiled as well: the same headers then
// take half to three quarters of the time to compile, because the functions below are declared here and defined in the
// library; <specsample/values.hpp> takes a tenth, without Eigen. Their results are the same.
//
// What values need is in the library for the instructions that it was compiled for and, on x86-64 Linux, for AVX2 and
// AVX-512: it runs the widest that the machine has, or what SPECSAMPLE_SIMD=base, v3 or v4 names in the environment. A
// file that includes <specsample/values.hpp> alone may thus have any flags. All else has the flags of its project: a
// file of other flags that includes this header does not link (core/eigen.hpp), and uses specsample::specsample.
#pragma once

#include <span>
#include <vector>

#include <specsample/compiled_values.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/drafters/chain.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/rows/logits.hpp>
#include <specsample/rows/memory.hpp>
#include <specsample/verify/block.hpp>
#include <specsample/verify/token.hpp>
#include <specsample/verify/verify.hpp>

#if !defined(SPECSAMPLE_EXTERN)
#define SPECSAMPLE_EXTERN extern
#endif

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

// The rows of a draft, and what its tokens were drawn from.
template <class Row>
using DrawnFrom = const std::vector<Sampled<row_view_t<Row>>>;
using Named = const std::vector<PointMass>;

// The target's rows: any list of rows in memory, or of logits in memory.
template <class Scalar>
using InMemory = const RowList<Column<Scalar>>;
using LogitsInMemory = const RowList<ListedRow<Element<const LogitRows<RowsInMemory<float>>>>>;

#define SPECSAMPLE_JUDGE(Distributions, Rows, Rule)                                                           \
    SPECSAMPLE_EXTERN template Round judge_plain(std::span<const Token>, const Links&, Distributions&, Rows&, \
                                                 const Rule&, const RoundRng&, const RoundLimits&, RoundMemory&);
#define SPECSAMPLE_RULES(Distributions, Rows)                \
    SPECSAMPLE_JUDGE(Distributions, Rows, TokenVerification) \
    SPECSAMPLE_JUDGE(Distributions, Rows, BlockVerification)

SPECSAMPLE_RULES(DrawnFrom<std::vector<float>>, InMemory<float>)
SPECSAMPLE_RULES(DrawnFrom<std::vector<double>>, InMemory<double>)
SPECSAMPLE_RULES(DrawnFrom<Logits<Column<float>>>, LogitsInMemory)
SPECSAMPLE_RULES(Named, InMemory<float>)
SPECSAMPLE_RULES(Named, LogitsInMemory)

#define SPECSAMPLE_DRAW(Row)                                                        \
    SPECSAMPLE_EXTERN template Index draw_child(const Row&, Index, const RoundRng&, \
                                                DraftTree<Sampled<row_view_t<Row>>>&);

SPECSAMPLE_DRAW(std::vector<float>)
SPECSAMPLE_DRAW(Eigen::VectorXf)
SPECSAMPLE_DRAW(Eigen::VectorXd)

#undef SPECSAMPLE_JUDGE
#undef SPECSAMPLE_RULES
#undef SPECSAMPLE_DRAW

}}}  // namespace specsample::detail

#undef SPECSAMPLE_EXTERN
