// Compile-time checks of models and drafters: each mistake gives one sentence, which is the compiler's first error.
#pragma once

#include <concepts>
#include <type_traits>

#include <specsample/concepts.hpp>
#include <specsample/drafters/proposer.hpp>
#include <specsample/models/adaptor.hpp>
#include <specsample/rows/rows.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// True for a row that states its encoding (Logits, Sparse) over numbers that it borrows from an owner, which is gone
/// when the model has returned.
template <class R>
inline constexpr bool is_borrowed_row = [] {
    if constexpr (StatedRow<std::remove_cvref_t<R>>) return !std::remove_cvref_t<R>::outlives_its_making;
    return false;
}();

/// True for a type of several rows that are borrowed in this way.
template <class Rows>
inline constexpr bool is_borrowed_rows = [] {
    using Given = std::remove_cvref_t<Rows>;
    if constexpr (requires { Given::outlives_its_making; }) {
        return !Given::outlives_its_making;
    } else if constexpr (IndexedRows<Given>) {
        return is_borrowed_row<decltype(std::declval<const Given&>()[std::size_t{}])>;
    } else {
        return false;
    }
}();

struct NamedPropose {
    int propose;
};
template <class D>
struct WithPropose : D, NamedPropose {};

/// True if a class has a member `propose`, with whatever parameters: the name is then ambiguous in WithPropose, which
/// has two bases with that name.
template <class D>
inline constexpr bool has_propose = false;
template <class D>
    requires(std::is_class_v<D> && !std::is_final_v<D>)
inline constexpr bool has_propose<D> = !requires { &WithPropose<D>::propose; };

template <class T>
concept Character = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
                    std::same_as<T, char16_t> || std::same_as<T, char32_t>;

/// Contiguous token ids. Characters are not ids: a text needs a tokenizer first.
template <class Prompt>
concept TokenIds = requires(const Prompt& prompt) { std::span(prompt); } &&
                   Integer<typename decltype(std::span(std::declval<const Prompt&>()))::value_type> &&
                   !Character<typename decltype(std::span(std::declval<const Prompt&>()))::value_type>;

template <class Prompt>
struct PromptRequirement {
    static_assert(
        TokenIds<Prompt>,
        "specsample: a prompt must be contiguous token ids, as in std::vector<Token> or {1, 2}; a text must go "
        "through the model's tokenizer first");
};

/// A callable that is told of written tokens. It returns nothing, or a value that can be tested for false.
template <class OnToken, class Told>
concept Callback = requires(OnToken& on_token, const Told& told) {
    requires std::is_void_v<decltype(std::invoke(on_token, told))> || requires { !std::invoke(on_token, told); };
};

/// Whether a model's rows can be kept, where they are values: rows/row_copy.hpp is included.
template <class M, bool = returns_values<M>>
inline constexpr bool keeps_values = true;
template <class M>
inline constexpr bool keeps_values<M, true> =
    requires { sizeof(OwnedRow<std::conditional_t<returns_values<M>, Row, M>>); };

/// Whether drafted tokens of this distribution can be judged over rows that are values, or over rows that are types.
template <class L>
constexpr bool fits(bool are_values) {
    constexpr bool has_row = !std::same_as<L, PointMass> && !std::same_as<L, SharedNoise>;
    return !has_row || are_values == std::same_as<L, Origin>;
}

/// Checks models and drafters, in order. After one check has failed, the later ones count as passed, so that one
/// mistake gives one sentence.
template <class Draft, class Target>
struct Requirements {
    static constexpr bool is_drafter = has_propose<Unwrapped<Draft>> && !Model<Draft>;
    static constexpr bool draft_distribution =
        !is_drafter || requires { requires NodeDistribution<typename Unwrapped<Draft>::Distribution>; };
    static constexpr bool draft_propose = !is_drafter || !draft_distribution || Drafter<Draft>;
    static constexpr bool draft_call = is_drafter || Model<Draft> || Drafter<Draft>;
    static constexpr bool draft_result = [] {
        if constexpr (Model<Draft>) return AnyRow<Answer<Draft>> || Integer<std::remove_cvref_t<Answer<Draft>>>;
        return true;
    }();
    static constexpr bool draft_kept = [] {
        if constexpr (Model<Draft> && draft_result) return !is_borrowed_row<Answer<Draft>>;
        return true;
    }();
    static constexpr bool draft_owned = [] {
        if constexpr (Model<Draft> && draft_result && draft_kept) return RowModel<Draft> || TokenModel<Draft>;
        return true;
    }();

    static constexpr bool target_call = Model<Target> || ManyModel<Target> || TreeCallable<Target>;
    static constexpr bool target_result = [] {
        if constexpr (Model<Target>) return AnyRow<Answer<Target>>;
        return true;
    }();
    static constexpr bool target_kept = [] {
        if constexpr (Model<Target> && target_result) return !is_borrowed_row<Answer<Target>>;
        return true;
    }();
    static constexpr bool target_owned = [] {
        if constexpr (Model<Target> && target_result && target_kept) return RowModel<Target>;
        return true;
    }();
    static constexpr bool target_rows_layout = [] {
        if constexpr (ManyModel<Target>) {
            using Rows = std::remove_cvref_t<Answer<Target, Index>>;
            if constexpr (EigenOwner<Rows> || EigenView<Rows>)
                return bool(Rows::IsRowMajor) || bool(Rows::IsVectorAtCompileTime);
        }
        return true;
    }();
    static constexpr bool target_rows = [] {
        if constexpr (ManyModel<Target> && target_rows_layout) return BatchModel<Target>;
        return true;
    }();

    static constexpr bool target_rows_kept = [] {
        if constexpr (ManyModel<Target> && target_rows_layout && target_rows)
            return !is_borrowed_rows<Answer<Target, Index>>;
        return true;
    }();

    static constexpr bool target_tree_rows = [] {
        if constexpr (TreeCallable<Target>) return TreeModel<Target>;
        return true;
    }();
    static constexpr bool target_tree_rows_kept = [] {
        if constexpr (TreeModel<Target>) return !is_borrowed_rows<Answer<Target, Tree<Token, Index>>>;
        return true;
    }();

    static constexpr bool each = draft_distribution && draft_propose && draft_call && draft_result && draft_kept &&
                                 draft_owned && target_call && target_result && target_kept && target_owned &&
                                 target_rows_layout && target_rows && target_rows_kept && target_tree_rows &&
                                 target_tree_rows_kept;

    static constexpr bool values_included = keeps_values<Draft> && keeps_values<Target>;
    static constexpr bool of_one_kind = [] {
        if constexpr (each && values_included)
            return fits<typename Unwrapped<typename DrafterOf<Draft>::type>::Distribution>(returns_values<Target>);
        return true;
    }();

    static constexpr bool all = each && of_one_kind && values_included;

    static_assert(
        draft_distribution,
        "specsample::Sampler: draft has propose, but no member type Distribution, which says what its tokens are drawn "
        "from; write `using Distribution = specsample::PointMass;` for tokens that are named, or `using Distribution = "
        "specsample::Sampled<...>;` for drawn ones");
    static_assert(draft_propose,
                  "specsample::Sampler: draft.propose cannot be called with a prefix, a random source and a DraftTree "
                  "of its Distribution; "
                  "write `void propose(std::span<const specsample::Token> prefix, const auto& rng, "
                  "specsample::DraftTree<Distribution>& draft_tree)`");
    static_assert(draft_call,
                  "specsample::Sampler: draft must be callable with a token prefix; write "
                  "[](std::span<const specsample::Token> prefix) { ... }");
    static_assert(draft_result,
                  "specsample::Sampler: draft(prefix) must return a row of probabilities (an Eigen vector, Eigen::Map, "
                  "std::vector or std::span of floating point), a Row, or a Token");
    static_assert(draft_kept,
                  "specsample::Sampler: draft(prefix) returns Logits or Sparse of a row that would be gone; write "
                  "Logits(std::move(row), temperature), or Logits(std::span(row), temperature) where the model keeps "
                  "the row, and the like for Sparse");
    static_assert(
        draft_owned,
        "specsample::Sampler: draft(prefix) returns an Eigen expression, whose operands would be gone; return "
        "a plain vector: write `return (...).eval();` or `-> Eigen::VectorXf`");
    static_assert(
        target_call,
        "specsample::Sampler: target must be callable with a token prefix, or with a prefix and a count; write "
        "[](std::span<const specsample::Token> prefix) { ... }");
    static_assert(
        target_result,
        "specsample::Sampler: target(prefix) must return a row of probabilities (an Eigen vector, Eigen::Map, "
        "std::vector or std::span of floating point), or a Row");
    static_assert(target_kept,
                  "specsample::Sampler: target(prefix) returns Logits or Sparse of a row that would be gone; write "
                  "Logits(std::move(row), temperature), or Logits(std::span(row), temperature) where the model keeps "
                  "the row, and the like for Sparse");
    static_assert(
        target_owned,
        "specsample::Sampler: target(prefix) returns an Eigen expression, whose operands would be gone; return "
        "a plain vector: write `return (...).eval();` or `-> Eigen::VectorXf`");
    static_assert(
        target_rows_layout,
        "specsample::Sampler: target(prefix, n) returns a column-major matrix, whose rows are not contiguous; "
        "return a specsample::RowMajorMatrix<float>");
    static_assert(
        target_rows,
        "specsample::Sampler: target(prefix, n) must return n rows of probabilities: a row-major Eigen matrix, "
        "Rows, or anything indexed [i] that gives a row");
    static_assert(target_rows_kept,
                  "specsample::Sampler: target(prefix, n) returns logits of rows that would be gone; write "
                  "logits_of(std::move(rows), temperature), or logits_of(rows_in_memory(data, n, vocab), temperature) "
                  "where the model keeps the rows");
    static_assert(target_tree_rows,
                  "specsample::Sampler: target(prefix, tree) must return a row of probabilities for the prefix and one "
                  "for every node: a row-major Eigen matrix, Rows, or anything indexed [i] that gives a row");
    static_assert(target_tree_rows_kept,
                  "specsample::Sampler: target(prefix, tree) returns logits of rows that would be gone; write "
                  "logits_of(std::move(rows), temperature), or logits_of(rows_in_memory(data, n, vocab), temperature) "
                  "where the model keeps the rows");
    static_assert(values_included,
                  "specsample::Sampler: models that return Row need #include <specsample/sampler_values.hpp>");
    static_assert(of_one_kind,
                  "specsample::Sampler: one of draft and target returns Row, and the other rows that are types; let "
                  "both return Row, as Row::probs(probabilities) or Row::logits(logits, temperature)");
};

}}}  // namespace specsample::detail
