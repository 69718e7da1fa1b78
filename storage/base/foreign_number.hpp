// Numbers that others wrote, as integers of ours. Used wherever a floating-point number comes from
// outside: a plain cast of one that does not fit is undefined behaviour.
#pragma once

#include <concepts>
#include <limits>
#include <optional>

namespace nightjar {
namespace foreign_number_detail {

// Whether T can hold `value` without its fraction. False for what is not finite.
template <std::integral T>
constexpr bool fits(double value) {
  double above = 1;  // 2^digits: exact, unlike the largest T as a double
  for (int digit = 0; digit < std::numeric_limits<T>::digits; ++digit) above *= 2;
  return value < above && (std::signed_integral<T> ? value >= -above : value > -1);
}

}  // namespace foreign_number_detail

// Returns `value` if it is a whole number from `least` to `most`; else nullopt, also for what is
// not finite.
template <std::integral T>
constexpr std::optional<T> integer_in(double value, T least = std::numeric_limits<T>::min(),
                                      T most = std::numeric_limits<T>::max()) {
  if (!foreign_number_detail::fits<T>(value)) return std::nullopt;
  const T whole = static_cast<T>(value);
  if (static_cast<double>(whole) != value || whole < least || whole > most) return std::nullopt;
  return whole;
}

// Returns `value` without its fraction, or the nearer bound if it is beyond one. What is no number
// gives `least`.
template <std::integral T>
constexpr T clamped_integer(double value, T least = std::numeric_limits<T>::min(),
                            T most = std::numeric_limits<T>::max()) {
  if (!foreign_number_detail::fits<T>(value)) return value > 0 ? most : least;
  const T whole = static_cast<T>(value);
  return whole < least ? least : whole > most ? most : whole;
}

}  // namespace nightjar
