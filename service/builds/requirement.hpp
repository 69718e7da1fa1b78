// What a wheel requires of other packages: the part of PEP 508 that an index can answer. The text
// of a requirement is written from what was read, so nothing else ever reaches an installer. Used
// from where METADATA is read down to uv's input.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/model/lock.hpp"

namespace nightjar::service {

class Requirement {
 public:
  // A name, extras, version specifiers and a marker. nullopt for all else: options, URLs, paths,
  // direct references ("name @ ..."), comments, line breaks and lines of more than 4000 characters.
  static std::optional<Requirement> parse(std::string_view line);

  // The normalised spelling, with the name as on indexes:
  // "name[extra]>=1,<2 ; python_version < \"3.12\"".
  const std::string& text() const { return text_; }
  bool operator==(const Requirement&) const = default;

 private:
  std::string text_;
};

// The requirement of exactly this version. nullopt if the name or the version is invalid.
std::optional<Requirement> exactly(const LockedPackage& package);
// "'-r /etc/passwd' is no requirement ...", for the reason of a build. Foreign text is cut and has
// no control characters.
std::string unreadable_requirement(std::string_view line);

}  // namespace nightjar::service
