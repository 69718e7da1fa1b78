// An issue tracker in memory, which fails in the ways that GitHub does.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "service/report/tracker.hpp"
#include "tests/simulation/random.hpp"

namespace nightjar::simulation {

class Tracker final : public service::IssueTracker {
 public:
  struct Filed {
    std::string title, body;
    std::vector<std::string> comments;
    bool open = true;
  };

  explicit Tracker(std::uint64_t seed) : random_(seed, 70) {}

  void set_failing(bool failing) { failing_ = failing; }
  const std::vector<Filed>& issues() const { return issues_; }  // number 1 first

  service::Outcome<std::optional<service::Issue>> find_issue(const std::string& marker) override {
    if (fails()) return away();
    for (std::size_t i = 0; i < issues_.size(); ++i)
      if (issues_[i].body.find(marker) != std::string::npos) return std::optional(issue(i));
    return std::optional<service::Issue>();
  }
  service::Outcome<service::Issue> open_issue(const std::string& title, const std::string& body,
                                              const std::vector<std::string>&) override {
    if (fails()) return away();
    issues_.push_back({title, body, {}, true});
    if (fails()) return away();
    return issue(issues_.size() - 1);
  }
  service::Outcome<bool> has_comment(std::int64_t number, const std::string& marker) override {
    if (fails()) return away();
    for (const std::string& comment : at(number).comments)
      if (comment.find(marker) != std::string::npos) return true;
    return false;
  }
  service::Outcome<std::string> comment(std::int64_t number, const std::string& body) override {
    if (fails()) return away();
    at(number).comments.push_back(body);
    if (fails()) return away();
    return url_of(number) + "#comment";
  }
  service::Outcome<service::Issue> close_issue(std::int64_t number) override {
    if (fails()) return away();
    at(number).open = false;
    if (fails()) return away();
    return issue(static_cast<std::size_t>(number) - 1);
  }

 private:
  bool fails() { return failing_ && random_.chance(.4); }
  static service::Transient away() { return {"502 Bad Gateway", {}}; }
  static std::string url_of(std::int64_t number) {
    return "https://example.org/issues/" + std::to_string(number);
  }
  Filed& at(std::int64_t number) { return issues_.at(static_cast<std::size_t>(number) - 1); }
  service::Issue issue(std::size_t index) const {
    const auto number = static_cast<std::int64_t>(index) + 1;
    return {number, url_of(number), issues_[index].open};
  }

  Random random_;
  bool failing_ = false;
  std::vector<Filed> issues_;
};

}  // namespace nightjar::simulation
