#include "service/builds/needs.hpp"

#include <catch2/catch.hpp>

#include "tests/service/builds/elf_file.hpp"
#include "tests/service/builds/support.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;

namespace {

// One fat binary with machine code for sm_90 alone.
std::string sm_90() {
  unsigned char bytes[16 + 64]{0x50, 0xED, 0x55, 0xBA, 1, 0, 16, 0, 64};
  bytes[16] = 2;
  bytes[18] = bytes[19] = 1;
  bytes[20] = 64;
  bytes[16 + 28] = 90;
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

BuildNeeds needs(const std::string& platform, const nightjar::test::Members& more,
                 bool cuda = false) {
  const nightjar::test::ScratchFolder folder;
  const nightjar::test::WheelRecipe recipe;
  nightjar::test::Members members = recipe.members();
  members.insert(members.end(), more.begin(), more.end());
  const auto path = folder / "wheel";
  nightjar::test::write_zip(path, members);
  WheelFacts facts = read_wheel(path);
  if (cuda) facts.version_file.cuda = "13.2";
  return needs_of(path, *parse_wheel_name("torch-2.15.0-cp311-cp311-" + platform + ".whl"), facts);
}

}  // namespace

TEST_CASE("a wheel's tags say for which Python, platform and glibc it is") {
  const BuildNeeds found = needs("manylinux_2_28_x86_64", {});
  CHECK(found.python_tag == "cp311");
  CHECK(found.platform_tag == "manylinux_2_28_x86_64");
  CHECK(found.glibc == "2.28");
  CHECK(found.gpu_architectures == "");
  CHECK(needs("manylinux2014_x86_64.manylinux_2_28_x86_64", {}).glibc == "2.17");
}

TEST_CASE("where the tags do not say it, the library's own needs do") {
  const BuildNeeds unknown = needs("linux_x86_64", {});
  CHECK_FALSE(unknown.glibc);
  // This test program's own need stands for that of a library.
  const std::string program = nightjar::test::read_file("/proc/self/exe");
  const BuildNeeds found = needs("linux_x86_64", {{"torch/lib/libtorch_cpu.so", program}});
  REQUIRE(found.glibc);
  CHECK(found.glibc->starts_with("2."));
}

TEST_CASE("architectures come from the CUDA library's fat binaries, and are unknown without") {
  const std::string path = "torch/lib/libtorch_cuda.so";
  CHECK(needs("linux_x86_64", {{path, nightjar::test::library(".nv_fatbin", sm_90())}}, true)
            .gpu_architectures == "sm_90");
  CHECK_FALSE(needs("linux_x86_64", {{path, nightjar::test::library(".text", sm_90())}}, true)
                  .gpu_architectures);
  CHECK_FALSE(needs("linux_x86_64", {{path, "no library"}}, true).gpu_architectures);
  CHECK_FALSE(needs("linux_x86_64", {}, true).gpu_architectures);
}

TEST_CASE("a machine class that cannot run a build is told why") {
  const BuildNeeds ci{"cp311", "linux_x86_64", "2.35", "sm_75 sm_80 compute_89"};
  const auto on = [&](const std::string& libc, const std::string& gpu) {
    return cannot_run(ci, {{"libc", libc}, {"gpu", gpu}});
  };
  CHECK_FALSE(on("glibc 2.36", "none"));
  CHECK_FALSE(on("glibc 2.35", "Tesla T4"));
  CHECK(on("glibc 2.31", "none") == "it needs glibc 2.35, and the machine has 2.31");
  CHECK_FALSE(on("glibc 2.36", "NVIDIA A10G, NVIDIA A10G"));  // 8.6 runs code for 8.0
  CHECK_FALSE(on("glibc 2.36", "NVIDIA H100 80GB HBM3"));     // by PTX
  CHECK_THAT(*on("glibc 2.36", "Tesla V100-SXM2-16GB"),
             Contains("the Tesla V100-SXM2-16GB there is sm_70"));
  CHECK_FALSE(on("glibc 2.36", "A GPU that we do not know"));
  const BuildNeeds no_ptx{"cp311", "linux_x86_64", "2.35", "sm_75 sm_89"};
  CHECK(cannot_run(no_ptx, {{"gpu", "NVIDIA H100 80GB HBM3"}}));
  CHECK_FALSE(cannot_run({}, {{"gpu", "NVIDIA H100 80GB HBM3"}, {"libc", "glibc 2.17"}}));
}
