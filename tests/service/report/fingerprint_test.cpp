#include <catch2/catch.hpp>

#include "service/report/report.hpp"
#include "tests/service/report/examples.hpp"

using namespace nightjar;
using namespace nightjar::service;
using examples::sha;

namespace {
std::string of(const std::string& repository, std::vector<CommitSha> commits) {
  return fingerprint_of(repository, commits);
}
}  // namespace

TEST_CASE("A fingerprint never changes: issues filed years ago are found by it") {
  CHECK(of("https://github.com/pytorch/pytorch", {sha('a')}) == "14ee82e00b0726924f57857c72fda650");
}

TEST_CASE("The same cause has the same fingerprint, however it is spelled") {
  const std::string one = of("https://github.com/pytorch/pytorch", {sha('a'), sha('b')});
  CHECK(of("https://github.com/PyTorch/pytorch.git", {sha('b'), sha('a')}) == one);
  CHECK(of("git@github.com:pytorch/pytorch.git", {sha('a'), sha('b')}) == one);
  CHECK(of("https://github.com/pytorch/pytorch/", {sha('a'), sha('b')}) == one);
}

TEST_CASE("Another repository or commit is another cause") {
  const std::string one = of("https://github.com/pytorch/pytorch", {sha('a')});
  CHECK(of("https://github.com/pytorch/vision", {sha('a')}) != one);
  CHECK(of("https://github.com/pytorch/pytorch", {sha('b')}) != one);
  CHECK(of("https://github.com/pytorch/pytorch", {sha('a'), sha('b')}) != one);
}

TEST_CASE("A marker is one HTML comment whatever its key holds") {
  CHECK(marker_of(issue_key("12ab")) == "<!-- nightjar:regression:12ab -->");
  CHECK(marker_of(night_key("12ab", "2.15.0.dev20260820+cpu")) ==
        "<!-- nightjar:night:12ab:2.15.0.dev20260820+cpu -->");
  CHECK(marker_of("a --> <b> -- c") == "<!-- nightjar:a_-____b__-__c -->");
}

TEST_CASE("A pull request's number is the one that the subject ends with") {
  CHECK(pull_request_of("Fix it (#61056)") == 61056);
  CHECK(pull_request_of("Fix it (#1) (#61056) ") == 61056);
  CHECK_FALSE(pull_request_of("Revert \"Fix it (#61056)\""));
  CHECK_FALSE(pull_request_of("Fix #61056"));
  CHECK_FALSE(pull_request_of("(#)"));
  CHECK_FALSE(pull_request_of("(#12x)"));
  CHECK_FALSE(pull_request_of("(#99999999999999999999999)"));
  CHECK_FALSE(pull_request_of(""));
}
