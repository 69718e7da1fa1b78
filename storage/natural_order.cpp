#include "storage/natural_order.hpp"

#include <algorithm>

namespace nightjar::storage {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Takes the number at the front off `text`, without its leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  std::string_view number = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(number.size());
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

}  // namespace

int natural_compare(std::string_view left, std::string_view right) {
  while (!left.empty() && !right.empty()) {
    if (is_digit(left[0]) && is_digit(right[0])) {
      const auto a = take_number(left), b = take_number(right);
      if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
      if (const int order = a.compare(b)) return order;
    } else {
      if (left[0] != right[0]) return left[0] < right[0] ? -1 : 1;
      left.remove_prefix(1);
      right.remove_prefix(1);
    }
  }
  return static_cast<int>(right.empty()) - static_cast<int>(left.empty());
}

}  // namespace nightjar::storage
