#include "service/report/dry_run_tracker.hpp"

#include <fstream>
#include <sstream>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "service/report/outbox_sender.hpp"
#include "service/report/report.hpp"
#include "tests/support/manual_clock.hpp"

using namespace nightjar;
using namespace nightjar::service;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "nightjar-dry-run-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
};

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Issue opened(DryRunTracker& tracker, const std::string& title, const std::string& body) {
  return std::get<Issue>(tracker.open_issue(title, body, {"nightjar", "cpu \"x\""}));
}

}  // namespace

TEST_CASE("A dry run's issue is a file with front matter, named by number and title") {
  const Folder folder;
  DryRunTracker tracker(folder.path / "made" / "here");
  const Issue issue = opened(tracker, "[nightjar] a/b \"c\": latency +23 % ü", "body\n");
  CHECK(issue.number == 1);
  CHECK(issue.url == (folder.path / "made/here/1-nightjar-a-b-c-latency-23.md").string());
  CHECK(text_of(issue.url) ==
        "---\nnumber: 1\ntitle: \"[nightjar] a/b \\\"c\\\": latency +23 % ü\"\nstate: open\n"
        "labels: [\"nightjar\", \"cpu \\\"x\\\"\"]\n---\n\nbody\n");
  CHECK(opened(tracker, "!", "x").url.ends_with("/2-issue.md"));
}

TEST_CASE(
    "A dry run's issue is found by its marker, by another process too, but not by a comment") {
  const Folder folder;
  DryRunTracker first(folder.path);
  opened(first, "one", "x");
  opened(first, "two", "y\n" + marker_of("regression:2"));
  REQUIRE(
      std::holds_alternative<std::string>(first.comment(1, "about " + marker_of("regression:3"))));
  DryRunTracker second(folder.path);
  const auto found = std::get<std::optional<Issue>>(second.find_issue(marker_of("regression:2")));
  REQUIRE(found);
  CHECK(found->number == 2);
  CHECK(found->open);
  CHECK_FALSE(std::get<std::optional<Issue>>(second.find_issue(marker_of("regression:3"))));
}

TEST_CASE("Comments are appended and known again, and closing changes the front matter only") {
  const Folder folder;
  DryRunTracker tracker(folder.path);
  const Issue issue = opened(tracker, "one", "state: open\n" + marker_of("night:0"));
  CHECK_FALSE(std::get<bool>(tracker.has_comment(1, marker_of("night:0"))));
  CHECK(std::get<std::string>(tracker.comment(1, "again " + marker_of("night:1"))) == issue.url);
  CHECK(std::get<bool>(tracker.has_comment(1, marker_of("night:1"))));
  CHECK_FALSE(std::get<Issue>(tracker.close_issue(1)).open);
  CHECK_FALSE(std::get<Issue>(tracker.close_issue(1)).open);
  const std::string text = text_of(issue.url);
  CHECK(text.find("\nstate: closed\n") != std::string::npos);
  CHECK(text.find("\nstate: open\n") != std::string::npos);  // the body's own words
  CHECK(fs::directory_iterator(folder.path)->path() == issue.url);
}

TEST_CASE("A dry run answers for an unknown issue and for a vanished folder") {
  const Folder folder;
  DryRunTracker tracker(folder.path);
  CHECK(std::holds_alternative<Permanent>(tracker.comment(9, "x")));
  CHECK(std::holds_alternative<Permanent>(tracker.has_comment(9, "x")));
  CHECK(std::holds_alternative<Permanent>(tracker.close_issue(9)));
  fs::remove_all(folder.path);
  CHECK(std::holds_alternative<Transient>(tracker.find_issue("x")));
  CHECK(std::holds_alternative<Transient>(tracker.open_issue("t", "b", {})));
  std::ofstream(folder.path) << "a file";
  CHECK_THROWS_AS(DryRunTracker(folder.path), std::runtime_error);
}

TEST_CASE("The sender over a dry run opens, comments and closes once") {
  const Folder folder;
  DryRunTracker tracker(folder.path);
  ManualClock clock(*parse_rfc3339("2026-08-20T10:00:00Z"));
  OutboxSender sender(tracker, {"nightjar"}, clock);
  OutboxMessage message;
  message.key = issue_key("ab");
  message.title = "title";
  message.body = "body";
  for (int i = 0; i < 2; ++i) CHECK(sender.send(message, {}).issue->number == 1);
  message.kind = OutboxKind::close_issue;
  message.key = recovered_key("ab", "v1");
  message.body = "recovered";
  for (int i = 0; i < 2; ++i) CHECK_FALSE(sender.send(message, 1).issue->open);
  const std::string text = text_of(folder.path / "1-title.md");
  CHECK(text.find(marker_of(message.key)) == text.rfind(marker_of(message.key)));
}
