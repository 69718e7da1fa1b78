#include <catch2/catch.hpp>

#include "service/report/report.hpp"
#include "tests/service/report/examples.hpp"

using namespace nightjar;
using namespace nightjar::service;
using examples::sha;

namespace {
std::string of(const std::string& repository, std::vector<CommitSha> commits, const char* metric) {
  return fingerprint_of(repository, commits, metric);
}
}  // namespace

TEST_CASE("A fingerprint never changes: issues filed years ago are found by it") {
  CHECK(of("https://github.com/pytorch/pytorch", {sha('a')}, "latency") ==
        "48be93d6c3ce1b43aea62c71d2e864e0");
}

TEST_CASE("The same cause has the same fingerprint, however it is spelled") {
  const std::string one = of("https://github.com/pytorch/pytorch", {sha('a'), sha('b')}, "latency");
  CHECK(of("https://github.com/PyTorch/pytorch.git", {sha('b'), sha('a')}, "compile_time") == one);
  CHECK(of("git@github.com:pytorch/pytorch.git", {sha('a'), sha('b')}, "latency") == one);
  CHECK(of("https://github.com/pytorch/pytorch/", {sha('a'), sha('b')}, "latency") == one);
}

TEST_CASE("Another repository, commit or metric family is another cause") {
  const std::string one = of("https://github.com/pytorch/pytorch", {sha('a')}, "latency");
  CHECK(of("https://github.com/pytorch/vision", {sha('a')}, "latency") != one);
  CHECK(of("https://github.com/pytorch/pytorch", {sha('b')}, "latency") != one);
  CHECK(of("https://github.com/pytorch/pytorch", {sha('a'), sha('b')}, "latency") != one);
  CHECK(of("https://github.com/pytorch/pytorch", {sha('a')}, "peak_cpu_memory") != one);
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
