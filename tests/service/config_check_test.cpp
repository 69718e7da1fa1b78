#include "service/config_check.hpp"

#include <catch2/catch.hpp>

#include "tests/service/builds/support.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using nightjar::test::ScratchFolder;

namespace {

constexpr const char* checked_wheel = "torch-2.15.0.dev20260820+cpu-cp311-cp311-linux_x86_64.whl";

// All that it names is there.
struct SoundPlace {
  ScratchFolder folder;
  Config config;

  SoundPlace() {
    config.service.data = folder / "deep/below/data";
    config.report.directory = folder / "reports";
    config.source.directory = folder / "wheels";
    config.repository.url = folder / "repository";
    nightjar::test::write_file(folder / "wheels" / checked_wheel, "wheel");
    const std::string command =
        "cd '" + folder.path().string() +
        "' && git -c init.defaultBranch=main init -q repository && cd repository && git -c "
        "user.name=Tester -c user.email=t@example.test commit -q --allow-empty -m first";
    REQUIRE(std::system(command.c_str()) == 0);
  }
  std::string only() const {
    const auto found = check_surroundings(config);
    REQUIRE(found.size() == 1);
    return found.front();
  }
};

}  // namespace

TEST_CASE_METHOD(SoundPlace, "a configuration whose places are all there has nothing to say") {
  CHECK(check_surroundings(config).empty());
  CHECK_FALSE(std::filesystem::exists(folder / "deep"));  // it is only asked whether it can be
}

TEST_CASE_METHOD(SoundPlace, "a folder that cannot be made is named by its key") {
  nightjar::test::write_file(folder / "deep", "a file is in the way");
  CHECK_THAT(only(), Contains("[service] data: ") && Contains("deep is no folder"));
}

TEST_CASE_METHOD(SoundPlace, "a repository that is not there, or has no such branch, is named") {
  config.repository.main = "trunk";
  CHECK(only() == "[repository] main: the repository has no branch trunk");
  config.repository.url = folder / "elsewhere";
  CHECK_THAT(only(), Contains("[repository] url: cannot fetch"));
}

TEST_CASE_METHOD(SoundPlace, "a source without a wheel of its variant names the keys to look at") {
  config.source.variant = "cu130";
  CHECK_THAT(only(), Contains("[source] directory: ") && Contains("of variant cu130 for cp311") &&
                         Contains("check [source] directory, variant and python_tag") &&
                         !Contains("[project]"));
  config.project.package = "rivulet";
  CHECK_THAT(only(), Contains("no wheel of rivulet") && Contains("and [project] package"));
}

TEST_CASE_METHOD(SoundPlace, "indexes that do not answer, or lack a GPU's variant, are named") {
  nightjar::test::write_file(
      folder / "wheels/torch-2.15.0.dev20260820+cu130-cp311-cp311-linux_x86_64.whl", "wheel");
  config.environment.indexes = {"http://127.0.0.1:1"};
  CHECK_THAT(only(), Contains("[environment] indexes: http://127.0.0.1:1 does not answer"));
  config.source.variant = "cu130";
  config.environment.indexes.clear();
  CHECK_THAT(only(), Contains("[environment] indexes: there is none") && Contains("nvidia-*"));
  config.environment.indexes = {"http://127.0.0.1:1"};
  const auto found = check_surroundings(config);
  REQUIRE(found.size() == 2);
  CHECK_THAT(found[1], Contains("none of them has wheels of variant cu130"));
}
