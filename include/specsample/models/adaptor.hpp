// The base class of adaptors: models that wrap another model and change its rows or its prefix.
#pragma once

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/rows/rows.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The form in which a model takes the prefix of a call: a span or a vector.
template <class M, class... Rest>
using PrefixOf = std::conditional_t<takes_span<M, Rest...>, std::span<const Token>, const std::vector<Token>&>;

/// Copy a prefix into memory that is reserved ahead, because texts grow by one round at a time.
inline void remember(std::span<const Token> prefix, std::vector<Token>& memory) {
    if (memory.capacity() < prefix.size()) memory.reserve(2 * prefix.size() + 1024);
    memory.assign(prefix.begin(), prefix.end());
}

/// Return the temperature that adaptors give the rows of a model; 1 if none does. No further adaptor may give the rows
/// a second one.
template <class M>
double temperature_of(const M& model) {
    const Unwrapped<M>& adaptor = model;
    if constexpr (requires { adaptor.temperature_of_rows(); }) return adaptor.temperature_of_rows();
    return 1;
}

/// Base of adaptors. An adaptor offers exactly the calls that the wrapped model offers, in the same form: one row, n
/// rows in one pass, the rows of a tree in one pass, rollback. So a stack of adaptors never takes a pass that the model
/// alone would not take. The rows of an adaptor may point into its memory, so keep the adaptor in a variable.
///
/// @tparam Self   the adaptor, which derives from this. Calls go to its ask(prefix), ask(prefix, n), ask(prefix, tree),
///                which call model(). If its rows stay valid as long as the model's, it repeats the model's stable_rows
/// @tparam M      the model, or a std::reference_wrapper of one
template <class Self, class M>
class Adaptor {
  public:
    decltype(auto) operator()(PrefixOf<M> prefix)
        requires(Model<M>)
    {
        return self().ask(prefix);
    }
    decltype(auto) operator()(PrefixOf<M, Index> prefix, Index count)
        requires(ManyModel<M>)
    {
        return self().ask(prefix, count);
    }
    decltype(auto) operator()(PrefixOf<M, Tree<Token, Index>> prefix, Tree<Token, Index> tree)
        requires(TreeCallable<M>)
    {
        return self().ask(prefix, tree);
    }
    void rollback(Index length)
        requires(Rewindable<M>)
    {
        model().rollback(length);
    }

    /// Return the temperature of the rows: see temperature_of.
    double temperature_of_rows() const { return temperature_of(model_); }
    /// Call visit on each model that is held here, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(model_); }

  protected:
    explicit Adaptor(M model) : model_(std::move(model)) {}

    Unwrapped<M>& model() { return model_; }

  private:
    Self& self() { return static_cast<Self&>(*this); }

    M model_;
};

/// A model of rows, by any of the three calls.
template <class M>
concept RowsModel = (Model<M> || ManyModel<M> || TreeCallable<M>)&&!TokenModel<M>;

/// Whether the rows of a model are values.
template <class M>
inline constexpr bool returns_values = [] {
    bool are_values = false;
    if constexpr (RowModel<M>) are_values |= RowValue<Answer<M>>;
    if constexpr (BatchModel<M>) are_values |= ValueList<std::remove_reference_t<Answer<M, Index>>>;
    if constexpr (TreeModel<M>) are_values |= ValueList<std::remove_reference_t<typename TreeAnswer<M>::type>>;
    return are_values;
}();

/// A model of rows that are types.
template <class M>
concept TypedRowsModel = RowsModel<M> && !returns_values<M>;

}}}  // namespace specsample::detail
