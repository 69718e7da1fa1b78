#include "service/complaints.hpp"

#include "storage/base/foreign_text.hpp"
#include "storage/base/log.hpp"

namespace nightjar::service {

void Complaints::fails(const std::string& what, const std::string& with) {
  const std::string error = one_line(with);
  const std::lock_guard lock(mutex_);
  auto& said = failing_[what];
  if (said == error) return;
  said = error;
  log::error("failing what={} error=\"{}\"", what, error);
}

void Complaints::works(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (failing_.erase(what) > 0) log::info("works again what={}", what);
}

std::map<std::string, std::string> Complaints::current() const {
  const std::lock_guard lock(mutex_);
  return failing_;
}

std::optional<std::string> Complaints::find(const std::string& what) const {
  const std::lock_guard lock(mutex_);
  const auto found = failing_.find(what);
  return found == failing_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace nightjar::service
