// Objects and functions that are borrowed behind one type: what a caller gave, whatever its type.
#pragma once

#include <type_traits>

#include <specsample/core/config.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Return the address of an object or of a function, const or not.
template <class T>
[[gnu::always_inline]] inline void* address_of_any(T& given) {
    if constexpr (std::is_function_v<T>)
        return reinterpret_cast<void*>(&given);
    else
        return const_cast<char*>(&reinterpret_cast<const volatile char&>(given));  // whatever its operator& does
}

/// Return the object or function at an address from address_of_any<T>.
template <class T>
[[gnu::always_inline]] inline T& any_at(void* address) {
    return *reinterpret_cast<T*>(address);
}

}}}  // namespace specsample::detail
