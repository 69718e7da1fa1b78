// An issue tracker in memory that fails as told: before acting, after acting, or for good.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "service/report/tracker.hpp"

namespace nightjar::service {

class ScriptedTracker final : public IssueTracker {
 public:
  enum class Fault { none, transient_before, cut_after, permanent, throws };
  struct Stored {
    std::string title, body;
    std::vector<std::string> labels, comments;
    bool open = true;
  };

  bool at_once = false;                             // lists what it got
  std::deque<Fault> faults;                         // one a call, in order; none when used up
  std::optional<std::chrono::seconds> retry_after;  // of transient_before
  std::vector<Stored> issues;
  std::vector<std::string> calls;

  bool lists_at_once() const override { return at_once; }
  Outcome<std::optional<Issue>> find_issue(const std::string& marker) override {
    return act<std::optional<Issue>>("find", [&]() -> std::optional<Issue> {
      for (std::size_t i = 0; i < issues.size(); ++i) {
        if (issues[i].body.find(marker) != std::string::npos) return issue(i);
      }
      return std::nullopt;
    });
  }
  Outcome<Issue> open_issue(const std::string& title, const std::string& body,
                            const std::vector<std::string>& labels) override {
    return act<Issue>("open", [&] {
      issues.push_back({title, body, labels, {}, true});
      return issue(issues.size() - 1);
    });
  }
  Outcome<bool> has_comment(std::int64_t number, const std::string& marker) override {
    return act<bool>("has_comment", [&] {
      for (const std::string& one : at(number).comments) {
        if (one.find(marker) != std::string::npos) return true;
      }
      return false;
    });
  }
  Outcome<std::string> comment(std::int64_t number, const std::string& body) override {
    return act<std::string>("comment", [&] {
      at(number).comments.push_back(body);
      return "https://tracker/" + std::to_string(number) + "#1";
    });
  }
  Outcome<Issue> close_issue(std::int64_t number) override {
    return act<Issue>("close", [&] {
      at(number).open = false;
      return issue(static_cast<std::size_t>(number - 1));
    });
  }

 private:
  Stored& at(std::int64_t number) { return issues.at(static_cast<std::size_t>(number - 1)); }
  Issue issue(std::size_t i) const {
    return {static_cast<std::int64_t>(i) + 1, "https://tracker/" + std::to_string(i + 1),
            issues[i].open};
  }
  template <class T, class Act>
  Outcome<T> act(const std::string& name, const Act& acting) {
    calls.push_back(name);
    const Fault fault = faults.empty() ? Fault::none : faults.front();
    if (!faults.empty()) faults.pop_front();
    if (fault == Fault::throws) throw std::runtime_error("the tracker broke");
    if (fault == Fault::transient_before) return Transient{"502", retry_after};
    if (fault == Fault::permanent) return Permanent{"422"};
    T result = acting();
    if (fault == Fault::cut_after) return Transient{"cut off", std::nullopt};
    return result;
  }
};

}  // namespace nightjar::service
