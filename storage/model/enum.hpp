// Enumerators spelled alike in C++, SQL and JSON: one table an enum, both ways. Boost.Describe's
// enums give neither the type's name nor the list of names, which errors show.
#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar {

// NIGHTJAR_ENUM(JobState, queued, leased) defines `enum class JobState` and, found by
// argument-dependent look-up, its names.
#define NIGHTJAR_ENUM(Name, ...)                \
  enum class Name { __VA_ARGS__ };              \
  constexpr std::string_view enum_type(Name) {  \
    return #Name;                               \
  }                                             \
  constexpr std::string_view enum_names(Name) { \
    return #__VA_ARGS__;                        \
  }                                             \
  static_assert(true)

// The enumerator's name.
template <class E>
std::string_view name_of(E value) {
  std::string_view rest = enum_names(E{});
  for (int i = 0; i < static_cast<int>(value); ++i) rest.remove_prefix(rest.find(',') + 2);
  return rest.substr(0, rest.find(','));
}

// All of them, in order.
template <class E>
std::vector<E> all_of() {
  const std::string_view names = enum_names(E{});
  std::vector<E> all(1 + static_cast<std::size_t>(std::count(names.begin(), names.end(), ',')));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<E>(i);
  return all;
}

// nullopt if no enumerator of E is called `text`.
template <class E>
std::optional<E> enum_from(std::string_view text) {
  std::string_view rest = enum_names(E{});
  for (int i = 0;; ++i) {
    const auto comma = rest.find(',');
    if (rest.substr(0, comma) == text) return static_cast<E>(i);
    if (comma == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(comma + 2);
  }
}

// Throws std::invalid_argument that names type and text.
template <class E>
E require_enum(std::string_view text) {
  if (const auto value = enum_from<E>(text)) return *value;
  throw std::invalid_argument("no " + std::string(enum_type(E{})) + " is called '" +
                              std::string(text) + "'");
}

}  // namespace nightjar
