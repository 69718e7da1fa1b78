#include "runner/build/python.hpp"

#include <catch2/catch.hpp>

#include "tests/support/scratch.hpp"

namespace fs = std::filesystem;
using nightjar::runner::default_python;
using nightjar::runner::gpu_libraries;
using nightjar::runner::installed_packages;

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
  const auto found = gpu_libraries(python, {}, {});
  REQUIRE(found.size() >= 2);
  CHECK(found[0] == scratch / "site [1]/nvidia/cu13/lib");
  CHECK(found[1] == scratch / "site [1]/nvidia/cudnn/lib");
  CHECK(gpu_libraries(scratch / "no python", {}, {}).empty());

  // A build's own packages come first, in whatever folder they put their libraries.
  const fs::path own = scratch / "own";
  fs::create_directories(own / "nvidia/cudnn/lib");
  fs::create_directories(own / "cusparselt/lib");
  fs::create_directories(own / "numpy.libs");
  fs::create_directories(own / "nvidia_cusparselt_cu12-0.6.2.dist-info");
  fs::create_directories(own / "numpy-2.0.dist-info");
  nightjar::runner::spit(own / "cusparselt/lib/libcusparseLt.so.0", "");
  nightjar::runner::spit(own / "nvidia_cusparselt_cu12-0.6.2.dist-info/METADATA",
                         "Metadata-Version: 2.1\nName: nvidia-cusparselt-cu12\nVersion: 0.6.2\n");
  nightjar::runner::spit(own / "nvidia_cusparselt_cu12-0.6.2.dist-info/RECORD",
                         "cusparselt/lib/libcusparseLt.so.0,,\ncusparselt/__init__.py,,\n");
  nightjar::runner::spit(own / "numpy-2.0.dist-info/METADATA",
                         "Metadata-Version: 2.1\nName: numpy\nVersion: 2.0\n");
  nightjar::runner::spit(own / "numpy-2.0.dist-info/RECORD", "numpy.libs/libblas.so,,\n");
  const auto of_build = gpu_libraries("python3", own, {});
  REQUIRE(of_build.size() >= 2);
  CHECK(of_build[0] == own / "nvidia/cudnn/lib");
  CHECK(of_build[1] == own / "cusparselt/lib");
  CHECK(std::none_of(of_build.begin(), of_build.end(),
                     [](const fs::path& folder) { return folder.filename() == "numpy.libs"; }));
}

TEST_CASE("the packages of a Python are known by the names that indexes use") {
  const nightjar::runner::Scratch scratch;
  for (const auto& [name, version] :
       std::map<std::string, std::string>{{"Torch_Vision.Extra", "0.28.0"}, {"pip", "26.0"}}) {
    const fs::path info = scratch / "site" / (name + "-" + version + ".dist-info");
    fs::create_directories(info);
    std::ofstream(info / "METADATA")
        << "Metadata-Version: 2.1\nName: " << name << "\nVersion: " << version << "\n";
  }
  const fs::path python = scratch / "python";
  std::ofstream(python) << "#!/bin/sh\nPYTHONPATH='" << (scratch / "site").string()
                        << "' exec python3 \"$@\"\n";
  fs::permissions(python, fs::perms::owner_all);
  const auto found = installed_packages(python, {});
  CHECK(found.at("torch-vision-extra") == "0.28.0");
  CHECK_FALSE(found.contains("pip"));
  CHECK(installed_packages(scratch / "no python", {}).empty());
}
