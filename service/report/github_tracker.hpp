// The tracker on GitHub, by REST API version 2022-11-28. Blocking and not thread-safe: one worker
// thread uses it.
#pragma once

#include <filesystem>
#include <memory>

#include "service/report/tracker.hpp"
#include "storage/model/time.hpp"

namespace nightjar::service {

struct GithubConfig {
  std::string api = "https://api.github.com";  // base URL, without trailing slash
  std::string repository;                      // "owner/name"
  // Read before each request: it may be rotated. NIGHTJAR_GITHUB_TOKEN goes before it.
  std::filesystem::path token_file;
  std::string label;  // what our issues carry; find_issue lists by it. Empty: not listed by label
  std::chrono::milliseconds timeout{30000};
};

// 403 and 429 that name a time are Transient until then. No answer, a time-out and 5xx are
// Transient, other 4xx Permanent. A token is never part of a message.
class GithubTracker final : public IssueTracker {
 public:
  // Throws std::invalid_argument unless the repository is "owner/name".
  GithubTracker(GithubConfig config, const Clock& clock);
  ~GithubTracker() override;

  // Search lags behind by minutes and labels are dropped for a token without push access: so it
  // reads the issues with our label, the newest without regard to labels, and then asks the search.
  Outcome<std::optional<Issue>> find_issue(const std::string& marker) override;
  Outcome<Issue> open_issue(const std::string& title, const std::string& body,
                            const std::vector<std::string>& labels) override;
  Outcome<bool> has_comment(std::int64_t issue, const std::string& marker) override;
  Outcome<std::string> comment(std::int64_t issue, const std::string& body) override;
  Outcome<Issue> close_issue(std::int64_t issue) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nightjar::service
