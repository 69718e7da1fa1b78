// Where reports go. Port with two implementations: GitHub's REST API, and a dry run that writes
// Markdown files. Used by the outbox's sender.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace nightjar::service {

struct Issue {
  std::int64_t number = 0;
  std::string url;
  bool open = true;
};

// May go through later: rate limit, 5xx, time-out, connection cut. It may have acted all the same.
struct Transient {
  std::string what;
  std::optional<std::chrono::seconds> retry_after;
};
// Will not go through by itself: wrong token, 404, 422.
struct Permanent {
  std::string what;
};

template <class T>
using Outcome = std::variant<T, Transient, Permanent>;

class IssueTracker {
 public:
  virtual ~IssueTracker() = default;
  // Whether all that was posted is found from the moment on at which the call or the process that
  // posted it ended. Else it may show up later, see OutboxSender::shows_up_within().
  virtual bool lists_at_once() const { return false; }
  // The issue whose body holds `marker` (an HTML comment), open or closed; nullopt: none.
  virtual Outcome<std::optional<Issue>> find_issue(const std::string& marker) = 0;
  virtual Outcome<Issue> open_issue(const std::string& title, const std::string& body,
                                    const std::vector<std::string>& labels) = 0;
  // True if a comment of that issue holds `marker`.
  virtual Outcome<bool> has_comment(std::int64_t issue, const std::string& marker) = 0;
  // The comment's URL.
  virtual Outcome<std::string> comment(std::int64_t issue, const std::string& body) = 0;
  virtual Outcome<Issue> close_issue(std::int64_t issue) = 0;
};

}  // namespace nightjar::service
