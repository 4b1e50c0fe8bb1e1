// Offences: public names without documentation, one of each kind, between names that have it and names that need none.
#pragma once

namespace specsample {

/// A class with a deduction guide, which needs no documentation of its own.
template <class T>
struct Documented {
    T value;
};
template <class T>
Documented(T) -> Documented<T>;

/// One overload says it for all.
void overloaded(int x);
void overloaded(double x);

namespace detail {
void hidden();
struct Hidden {};
}  // namespace detail

template <class T>
    requires(sizeof(T) > 1)
struct Structure {
    struct Inner {};
};

template <class T>
concept Concept = requires(T x) { x.value; };

enum class Enumeration { first /**< documented, but its type is not */ };

using Alias = Structure<int>;

inline constexpr int constant = 1;

template <Concept T>
auto function(const T& x) -> decltype(x.value);

namespace testing {
namespace detail {
void hidden_too();
}
void in_testing();
}  // namespace testing

}  // namespace specsample

namespace specsample::odd {
/// Documented, in a namespace that is not.
void documented();
void in_odd();
}  // namespace specsample::odd
