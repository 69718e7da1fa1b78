// Why a look at PyTorch's CI brought no answer. Everything of this folder that uses the network
// throws one of these; none of them means that there is no wheel. What they say may be of others.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include "storage/base/foreign_text.hpp"

namespace nightjar::service::ci {

// There is no answer now: it was refused, limited, cut off or makes no sense. The same question may
// be asked again, but not before `wait` if the server named a time.
struct Unanswered : std::runtime_error {
  explicit Unanswered(const std::string& what, std::optional<std::chrono::seconds> named = {})
      : std::runtime_error(one_line(what)), wait(named) {}
  std::optional<std::chrono::seconds> wait;
};

// The object is not there: it expired, or another one has taken its place since it was looked at.
struct Gone : std::runtime_error {
  explicit Gone(const std::string& what) : std::runtime_error(one_line(what)) {}
};

// The object is there, but cannot be used as it is: no zip, a wrong checksum, far too large.
struct Unusable : std::runtime_error {
  explicit Unusable(const std::string& what) : std::runtime_error(one_line(what)) {}
};

}  // namespace nightjar::service::ci
