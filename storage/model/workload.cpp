#include "storage/model/workload.hpp"

#include <algorithm>

namespace nightjar {
namespace {
constexpr int kParts = 7;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

bool is_batch(std::string_view text) {
  if (text == "bmax") return true;
  return text.size() > 1 && text.size() < 10 && text[0] == 'b' && text[1] != '0' &&
         std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}
}  // namespace

std::optional<WorkloadName> WorkloadName::parse(std::string_view text) {
  if (std::count(text.begin(), text.end(), '/') != kParts - 1) return std::nullopt;
  const WorkloadName name(text);
  for (int i = 0; i < kParts; ++i) {
    const auto part = name.part(i);
    if (part.empty() || !std::all_of(part.begin(), part.end(), is_word)) return std::nullopt;
  }
  if (!is_batch(name.batch())) return std::nullopt;
  return name;
}

std::string_view WorkloadName::part(int index) const {
  std::string_view rest = text_;
  for (int i = 0; i < index; ++i) rest.remove_prefix(rest.find('/') + 1);
  return rest.substr(0, rest.find('/'));
}

bool glob_match(std::string_view glob, std::string_view text) {
  if (glob.empty()) return text.empty();
  if (glob.starts_with("**")) {
    glob.remove_prefix(2);
    for (std::size_t skip = 0; skip <= text.size(); ++skip)
      if (glob_match(glob, text.substr(skip))) return true;
    return false;
  }
  if (glob[0] == '*') {
    for (std::size_t skip = 0;; ++skip) {
      if (glob_match(glob.substr(1), text.substr(skip))) return true;
      if (skip == text.size() || text[skip] == '/') return false;
    }
  }
  if (text.empty() || (glob[0] == '?' ? text[0] == '/' : glob[0] != text[0])) return false;
  return glob_match(glob.substr(1), text.substr(1));
}

}  // namespace nightjar
