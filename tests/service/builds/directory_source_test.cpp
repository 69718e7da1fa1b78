#include "service/builds/directory_source.hpp"

#include <catch2/catch.hpp>

#include "tests/service/builds/support.hpp"
#include "web/secret.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using nightjar::test::ScratchFolder;
using nightjar::test::write_file;

TEST_CASE("a directory lists its wheels like an index") {
  const ScratchFolder folder;
  write_file(folder / "torch-2.15.0.dev20260820+cpu-cp311-cp311-linux_x86_64.whl", "b");
  write_file(folder / "torch-2.15.0.dev20260819+cpu-cp311-cp311-linux_x86_64.whl", "a");
  write_file(folder / "torch-2.14.0.dev20260819+cpu-cp311-cp311-linux_x86_64.whl", "old base");
  write_file(folder / "torch-2.15.0.dev20260820+cpu-cp312-cp312-linux_x86_64.whl", "other Python");
  write_file(folder / ".torch-2.15.0.dev20260821+cpu-cp311-cp311-linux_x86_64.whl", "unfinished");
  write_file(folder / "torch-broken.whl", "");
  write_file(folder / "notes.txt", "");
  DirectorySource source(folder.path(), {"cpu", "cp311"});
  const auto wheels = source.list();
  REQUIRE(wheels.size() == 2);
  CHECK(wheels[0].version == "2.15.0.dev20260819+cpu");
  CHECK(wheels[1].version == "2.15.0.dev20260820+cpu");
  CHECK(wheels[1].url == "file://" + (folder / wheels[1].file_name).string());
  REQUIRE(source.problems().size() == 1);
  CHECK_THAT(source.problems()[0], Contains("torch-broken.whl"));

  CHECK(source.fetch(wheels[0], folder / "copy") == web::sha256("a"));
  CHECK(nightjar::test::read_file(folder / "copy") == "a");
  std::filesystem::remove(folder / wheels[0].file_name);
  CHECK_THROWS_WITH(source.fetch(wheels[0], folder / "copy"), Contains(wheels[0].file_name));
  CHECK_THROWS_AS(source.fetch(wheels[0], folder / "copy"), WheelGone);
}

TEST_CASE("a directory that is not there is an error that names it") {
  DirectorySource source("/nonexistent/wheels", {"cpu", "cp311"});
  CHECK_THROWS_WITH(source.list(), Contains("/nonexistent/wheels"));
}

TEST_CASE("the configuration chooses the source") {
  const ScratchFolder folder;
  Config::Source config;
  config.directory = folder.path();
  CHECK(make_source(config, "torch")->list().empty());
  config.directory.clear();
  config.index = "http://127.0.0.1:1";  // nothing listens there
  CHECK_THROWS_WITH(make_source(config, "torch")->list(), Contains("http://127.0.0.1:1/torch/"));
}
