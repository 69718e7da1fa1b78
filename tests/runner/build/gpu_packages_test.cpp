#include "runner/build/gpu_packages.hpp"

#include <catch2/catch.hpp>

#include "tests/support/scratch.hpp"

namespace fs = std::filesystem;
using nightjar::runner::libraries_of_packages;
using nightjar::runner::Scratch;
using nightjar::runner::spit;

namespace {

void add_package(const fs::path& site, const std::string& name, const std::string& record) {
  const fs::path info = site / (name + "-1.0.dist-info");
  fs::create_directories(info);
  spit(info / "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n\nName: x\n");
  spit(info / "RECORD", record);
}

}  // namespace

TEST_CASE("The folders of NVIDIA's libraries are found in whatever folder a package put them") {
  const Scratch scratch;
  const fs::path site = scratch / "site [1]";
  for (const char* folder : {"nvidia/cudnn/lib", "nvidia/cu13/include", "cusparselt/lib", "blas"})
    fs::create_directories(site / folder);
  add_package(site, "NVIDIA-cusparselt-cu12",
              "cusparselt/lib/libcusparseLt.so.0,,\ncusparselt/__init__.py,,\n");
  add_package(site, "numpy", "blas/libblas.so,,\n");
  CHECK(libraries_of_packages(site) ==
        std::vector{site / "nvidia/cudnn/lib", site / "cusparselt/lib"});
  CHECK(libraries_of_packages(scratch / "nowhere").empty());
}

TEST_CASE("A package cannot name a folder of the machine as one of its libraries") {
  const Scratch scratch;
  const fs::path site = scratch / "site", secrets = scratch / "secrets";
  fs::create_directories(site / "nvidia/cudnn");
  fs::create_directories(secrets / "lib");
  fs::create_directory_symlink(secrets / "lib", site / "nvidia/cudnn/lib");
  add_package(site, "nvidia-a",
              (secrets / "libcuda.so").string() + ",,\n../secrets/libcuda.so,,\n");
  add_package(site, "nvidia-b", "\"never closed,,\n");
  CHECK(libraries_of_packages(site).empty());
}
