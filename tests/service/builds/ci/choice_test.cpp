#include "service/builds/ci/choice.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::service::ci;
using Catch::Contains;

namespace {

const CommitSha chosen_head = *CommitSha::parse("0123456789012345678901234567890123456789");

ZipMember member(const std::string& name) {
  ZipMember made;
  made.name = "dist/" + name;
  return made;
}

MemberChoice choose(const std::vector<std::string>& names) {
  std::vector<ZipMember> members;
  for (const std::string& name : names) members.push_back(member(name));
  return choose_member(members, {"torch", "cp311", chosen_head});
}

}  // namespace

TEST_CASE("archives of the configured environments are chosen, the first glob's first") {
  const std::string prefix = "pytorch/pytorch/5/";
  std::vector<ListedObject> listed;
  for (const char* name :
       {"linux-jammy-cuda13.2-py3.11-gcc11/artifacts.zip", "linux-jammy-py3.10-gcc11/artifacts.zip",
        "linux-jammy-py3.11-gcc11/artifacts.zip", "linux-jammy-py3.11-gcc11/1/artifacts.zip",
        "linux-jammy-py3.11-gcc11/logs.zip", "artifacts.zip"})
    listed.push_back({prefix + name, 1});
  const std::vector<std::string> globs{"linux-jammy-py3.11-*", "linux-jammy-py3.*-gcc11"};
  const auto found = candidates("pytorch/pytorch", 5, listed, globs);
  REQUIRE(found.size() == 2);
  CHECK(found[0].environment == "linux-jammy-py3.11-gcc11");
  CHECK(found[0].key == prefix + "linux-jammy-py3.11-gcc11/artifacts.zip");
  CHECK(found[1].environment == "linux-jammy-py3.10-gcc11");
  CHECK(candidates("pytorch/pytorch", 6, listed, globs).empty());
}

TEST_CASE("the wheel for this Python and this commit is chosen, others are named") {
  const std::string right = "torch-2.15.0a0+git0123456-cp311-cp311-linux_x86_64.whl";
  CHECK(choose({"torchvision-0.20.0a0+0123456-cp311-cp311-linux_x86_64.whl", right}).member->name ==
        "dist/" + right);
  CHECK(choose({}).reason == "it has no wheel");
  CHECK_THAT(choose({"torch-2.15.0a0+git0123456-cp312-cp312-linux_x86_64.whl"}).reason,
             Contains("not for cp311 on Linux x86-64"));
  CHECK_THAT(choose({"torch-2.15.0a0+git0123456-cp311-cp311-linux_aarch64.whl"}).reason,
             Contains("not for cp311 on Linux x86-64"));
  CHECK_THAT(choose({"torch-2.15.0a0+git7654321-cp311-cp311-linux_x86_64.whl"}).reason,
             Contains("of another commit than 012345678901"));
  CHECK_THAT(choose({"functorch-1.0a0+0123456-cp311-cp311-linux_x86_64.whl", "odd.whl"}).reason,
             Contains("another package") && Contains("odd.whl is no wheel name"));
}
