// Finds a model with a cache that was given twice by std::ref: each use would roll back the other's text.
#pragma once

#include <algorithm>
#include <functional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/core/contract.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

template <class M>
inline constexpr bool is_reference = false;
template <class M>
inline constexpr bool is_reference<std::reference_wrapper<M>> = true;

/// The models and drafters with rollback(length) that were given by std::ref. Adaptors and drafters of the library show
/// the models they hold by each_model(visit); models inside a user's callable are not seen. A model without rollback
/// compares each prefix with what it remembers, or remembers nothing, and may be shared.
class SharedModels {
  public:
    /// @param where   the caller's name, for the error message
    explicit SharedModels(std::string_view where) : where_(where) {}

    /// Add a model or a drafter, and the models it holds.
    /// @throws   std::invalid_argument if the same one with rollback(length) is added twice by std::ref
    template <class M>
    void add(M& given) {
        if constexpr (is_reference<std::remove_cv_t<M>>) {
            if constexpr (Rewindable<M>) add_address(reinterpret_cast<Index>(&given.get()));
            add_held(given.get());
        } else {
            add_held(given);
        }
    }

  private:
    void add_held(auto& model) {
        if constexpr (requires { model.each_model([](auto&) {}); })
            model.each_model([this](auto& held) { this->add(held); });
        if constexpr (requires { model.add_to(*this); }) model.add_to(*this);  // models of a type that is unknown here
    }

    void add_address(Index model) {
        if (std::ranges::find(models_, model) != models_.end())
            invalid(where_, "a model with rollback", "given twice by std::ref, so that two parts would share its cache",
                    "given once: a cache follows one text; give each part a model of its own, or one without rollback "
                    "that compares each prefix with its cache");
        models_.push_back(model);
    }

    std::string_view where_;
    std::vector<Index> models_;  ///< the addresses of models
};

/// Tells the models, drafters and adaptors that have begin_text(prompt_size) where a text begins.
struct TextBegins {
    Index prompt_size;

    template <class M>
    [[gnu::always_inline]] void operator()(M& given) const {
        Unwrapped<M>& model = given;
        if constexpr (requires { model.begin_text(prompt_size); }) model.begin_text(prompt_size);
        if constexpr (requires { model.each_model(*this); }) model.each_model(*this);
    }
};

}}}  // namespace specsample::detail
