// A row that is a value, as the kernels read it.
#pragma once

#include <specsample/kernels/argmax.hpp>
#include <specsample/kernels/logit_weights.hpp>
#include <specsample/kernels/numbers.hpp>
#include <specsample/rows/row.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// A Row whose numbers are read as `Value`. What it is, logits or probabilities, dense or sparse, is known at run time.
template <class Value>
class RowView {
    using Weights = kernels::LogitWeights<Numbers<Value>, RowIds>;
    using RowEntries = Entries<Numbers<Value>, RowIds>;

  public:
    static constexpr RowForm form{.logits = true, .listed = true};
    static constexpr bool owns = false;
    static constexpr bool borrows = true;
    static constexpr bool outlives_its_making = true;
    using Owned = void;  // no rule copies a row

    /// View a row that outlives this view.
    explicit RowView(const Row& row) : listed_(&row) {}
    /// Keep a row that was made for this view.
    struct Made {};
    RowView(const Row& row, Made) : made_(row) {}

    Index size() const { return parts().vocab; }
    RowIds ids() const { return RowIds(parts().ids); }
    Numbers<Value> numbers() const { return Numbers<Value>(parts().numbers); }
    bool has_logits() const { return parts().are_logits(); }
    bool is_refused() const { return parts().is_refused; }
    /// Return whether probs() finds no normaliser; nobody needs that of a refused row.
    bool is_normalised() const {
        return parts().found || !has_logits() || is_refused() || (parts().is_known && parts().temperature > 0);
    }

    /// Return the probabilities as an expression.
    /// @cost   one pass over logits whose normaliser is not known
    auto probs() const { return encoded(encoding()); }
    auto unnormalised() const { return encoded(unnormalised_encoding()); }
    auto encoded(const Encoding<Value>& encoding) const { return entries(encoding).row(); }

    /// Return the weights that a token is drawn from.
    /// @cost   one pass, unless their sums are known
    [[gnu::noinline]] Weights weights() const {
        if (!has_logits()) return Weights(entries({}));
        if (parts().sums != nullptr) return Weights(numbers(), *parts().sums, size(), ids());
        return Weights(numbers(), parts().temperature, size(), ids());
    }

    [[gnu::noinline]] Encoding<Value> encoding() const {
        return is_refused() ? found_encoding().as_refused() : found_encoding();
    }

    Index argmax() const {
        const Index place = largest_id(Blocks(numbers()));
        return place < 0 ? -1 : ids().id(place);
    }

  private:
    RowEntries entries(const Encoding<Value>& encoding) const { return {numbers(), ids(), size(), encoding}; }

    Encoding<Value> found_encoding() const {
        if (parts().found) return Encoding<Value>(*parts().found);
        if (!has_logits()) return {};
        if (!parts().is_known || parts().temperature == 0) return weights().encoding();
        return stated_encoding<Value>(parts().temperature, parts().log_sum_exp);
    }

    Encoding<Value> unnormalised_encoding() const {
        if (!has_logits()) return {};
        if (parts().temperature == 0) return Encoding<Value>::peak(largest_id(Blocks(numbers())));
        return {0, exponent_scale<Value>(parts().temperature), 1};
    }

    const RowParts& parts() const { return parts_of(listed_ != nullptr ? *listed_ : *made_); }

    const Row* listed_ = nullptr;
    std::optional<Row> made_{};
};

}}}  // namespace specsample::detail
