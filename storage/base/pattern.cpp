#include "storage/base/pattern.hpp"

#include <regex>

namespace nightjar {

struct Pattern::Compiled {
  std::regex regex;
};

namespace {

Groups groups_of(const std::smatch& found) {
  Groups groups;
  for (const auto& group : found) groups.push_back(group.str());
  return groups;
}

}  // namespace

Pattern::Pattern(const std::string& text)
    : compiled_(std::make_shared<const Compiled>(std::regex(text))) {}

std::optional<Groups> Pattern::match(const std::string& text) const {
  std::smatch found;
  if (!std::regex_match(text, found, compiled_->regex)) return std::nullopt;
  return groups_of(found);
}

std::optional<Groups> Pattern::search(const std::string& text) const {
  std::smatch found;
  if (!std::regex_search(text, found, compiled_->regex)) return std::nullopt;
  return groups_of(found);
}

std::string Pattern::replace_all(const std::string& text, const std::string& by) const {
  return std::regex_replace(text, compiled_->regex, by);
}

}  // namespace nightjar
