#include "storage/base/pattern.hpp"

#include <re2/re2.h>
#include <stdexcept>

namespace nightjar {

struct Pattern::Compiled {
  Compiled(std::string_view text, Characters characters)
      : regex({text.data(), text.size()}, options(characters)) {
    if (!regex.ok())
      throw std::invalid_argument("the pattern " + std::string(text) + ": " + regex.error());
  }

  std::optional<Groups> find(std::string_view text, RE2::Anchor anchor) const {
    std::vector<re2::StringPiece> found(static_cast<std::size_t>(regex.NumberOfCapturingGroups()) +
                                        1);
    if (!regex.Match({text.data(), text.size()}, 0, text.size(), anchor, found.data(),
                     static_cast<int>(found.size())))
      return std::nullopt;
    Groups groups;
    for (const auto& group : found) groups.emplace_back(group.data(), group.size());
    return groups;
  }

  RE2 regex;

 private:
  static RE2::Options options(Characters characters) {
    RE2::Options ours(characters == Characters::utf8 ? RE2::DefaultOptions : RE2::Latin1);
    ours.set_log_errors(false);
    return ours;
  }
};

Pattern::Pattern(std::string_view text, Characters characters)
    : compiled_(std::make_shared<const Compiled>(text, characters)) {}

std::optional<Groups> Pattern::match(std::string_view text) const {
  return compiled_->find(text, RE2::ANCHOR_BOTH);
}

std::optional<Groups> Pattern::search(std::string_view text) const {
  return compiled_->find(text, RE2::UNANCHORED);
}

}  // namespace nightjar
