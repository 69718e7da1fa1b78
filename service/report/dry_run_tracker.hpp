// The tracker of a dry run: an issue is a Markdown file `<directory>/<number>-<slug>.md` with front
// matter, comments appended. Written durably; an issue's URL is its path.
#pragma once

#include <filesystem>

#include "service/report/tracker.hpp"

namespace nightjar::service {

class DryRunTracker final : public IssueTracker {
 public:
  // Makes the directory if it is not there; throws std::runtime_error if it cannot.
  explicit DryRunTracker(std::filesystem::path directory);

  bool lists_at_once() const override { return true; }
  Outcome<std::optional<Issue>> find_issue(const std::string& marker) override;
  Outcome<Issue> open_issue(const std::string& title, const std::string& body,
                            const std::vector<std::string>& labels) override;
  Outcome<bool> has_comment(std::int64_t issue, const std::string& marker) override;
  Outcome<std::string> comment(std::int64_t issue, const std::string& body) override;
  Outcome<Issue> close_issue(std::int64_t issue) override;

 private:
  std::filesystem::path directory_;
};

}  // namespace nightjar::service
