#include "runner/make/wheel_check.hpp"

#include <catch2/catch.hpp>

#include "tests/runner/wheel.hpp"

using namespace nightjar;
using namespace nightjar::runner;
using Catch::Matchers::Contains;

namespace {

WheelCheck check(const Scratch& scratch, const std::vector<Member>& members) {
  const auto wheel = scratch / "torch-2.15.0-py3-none-any.whl";
  write_archive(wheel, true, members);
  return check_wheel(wheel, "torch", "/usr/bin/python3", scratch / "tmp", [](ProcessSpec&) {}, {});
}

}  // namespace

TEST_CASE("A wheel that holds what its RECORD says and imports is fine") {
  const Scratch scratch;
  auto members = torch_members("2.15.0", "abc");
  members.push_back(record_of(members, "2.15.0"));
  const WheelCheck good = check(scratch, members);
  CHECK(good.broken == "");
  CHECK(good.machine == "");
  members[2].text = "FACTOR = 2\n";
  CHECK_THAT(check(scratch, members).broken, Contains("torch/slow.py differs"));
  CHECK_THAT(check(scratch, torch_members("2.15.0", "abc")).broken, Contains("has no RECORD"));
}

TEST_CASE("A module that is not in the wheel was loaded from elsewhere, which does not count") {
  const Scratch scratch;
  auto members = torch_members("2.15.0", "abc");
  members.push_back(record_of(members, "2.15.0"));
  const auto wheel = scratch / "torch.whl";
  write_archive(wheel, true, members);
  const auto json =
      check_wheel(wheel, "json", "/usr/bin/python3", scratch / "tmp", [](ProcessSpec&) {}, {});
  CHECK_THAT(json.broken, Contains("not from the wheel"));
}

TEST_CASE("METADATA's requirements are read by name, and those of its text are not") {
  CHECK(required_by("Name: x\nRequires-Dist: Typing_Extensions>=4\nRequires-Dist: sympy (>1)\n"
                    "Requires-Dist: a.b ; extra == 'c'\n\nRequires-Dist: text\n") ==
        std::set<std::string>{"typing-extensions", "sympy", "a-b"});
}

TEST_CASE("An import that was ended says nothing about the wheel") {
  ProcessResult slow;
  slow.timed_out = true;
  CHECK(judge_import(slow, "torch", "/s", {}).broken == "");
  CHECK_THAT(judge_import(slow, "torch", "/s", {}).machine, Contains("import torch: timed out"));
  ProcessResult crash;
  crash.signal = 11;
  CHECK_THAT(judge_import(crash, "torch", "/s", {}).broken, Contains("signal 11"));
}
