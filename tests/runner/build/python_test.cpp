#include "runner/build/python.hpp"

#include <catch2/catch.hpp>

#include "tests/support/scratch.hpp"

namespace fs = std::filesystem;
using nightjar::runner::default_python;
using nightjar::runner::gpu_libraries;

TEST_CASE("a Python is found from where its path was written") {
  CHECK(default_python("env/bin/python") == fs::current_path() / "env/bin/python");
  CHECK(default_python("/usr/bin/python3") == "/usr/bin/python3");
  CHECK(default_python("python3.12") == "python3.12");
  CHECK_FALSE(default_python("").empty());
}

TEST_CASE("the folders of NVIDIA's libraries are those that the Python's packages brought") {
  const nightjar::runner::Scratch scratch;
  fs::create_directories(scratch / "site [1]/nvidia/cudnn/lib");
  fs::create_directories(scratch / "site [1]/nvidia/cu13/lib");
  fs::create_directories(scratch / "site [1]/nvidia/cu13/include");
  const fs::path python = scratch / "python";
  std::ofstream(python) << "#!/bin/sh\nPYTHONPATH='" << (scratch / "site [1]").string()
                        << "' exec python3 \"$@\"\n";
  fs::permissions(python, fs::perms::owner_all);
  const auto found = gpu_libraries(python, {});
  REQUIRE(found.size() >= 2);
  CHECK(found[0] == scratch / "site [1]/nvidia/cu13/lib");
  CHECK(found[1] == scratch / "site [1]/nvidia/cudnn/lib");
  CHECK(gpu_libraries(scratch / "no python", {}).empty());
}
