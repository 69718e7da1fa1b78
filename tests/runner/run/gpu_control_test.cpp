#include "runner/run/gpu_control.hpp"

#include <catch2/catch.hpp>

#include "tests/support/scratch.hpp"
#include "tests/support/variable.hpp"

using namespace nightjar::runner;

namespace {

GpuSamples measured(const Scratch& scratch, const std::string& slowed) {
  spit(scratch / "settings", slowed);
  const nightjar::Variable settings("CUDA_DOUBLE", (scratch / "settings").string());
  return run_gpu_control(CUDA_DOUBLE_LIBRARY);
}

}  // namespace

TEST_CASE("A control on a GPU times its arithmetic, its memory and its launches apart") {
  const Scratch scratch;
  const GpuSamples usual = measured(scratch, ""), slow = measured(scratch, "copy 1.25");
  CHECK(usual.missing == "");
  REQUIRE(usual.compute.size() == 20);
  REQUIRE(usual.bandwidth.size() == 20);
  REQUIRE(usual.launch.size() == 20);
  // On 10 TFLOP/s and 1 TB/s; a kernel has 8 operations a step, and a copy reads and writes.
  CHECK(usual.compute[0] == Approx(2048. * 256 * 20'000 * 8 / 10e12).epsilon(.001));
  CHECK(usual.bandwidth[0] == Approx(4. * 2 * (256 << 20) / 1e12).epsilon(.001));
  CHECK(usual.launch[0] > 0);
  CHECK(slow.compute[19] == Approx(usual.compute[0]).epsilon(.001));
  CHECK(slow.bandwidth[19] == Approx(1.25 * usual.bandwidth[0]).epsilon(.001));
}

TEST_CASE("Where there is no GPU the control says why, and measures the rest") {
  CHECK(run_gpu_control("libcuda-of-nobody.so.1").missing == "no libcuda-of-nobody.so.1");
  const nightjar::Variable settings("CUDA_DOUBLE", "/nowhere");
  const GpuSamples none = run_gpu_control(CUDA_DOUBLE_LIBRARY);
  CHECK(none.missing == "cuInit: no CUDA-capable device is detected");
  CHECK(none.compute.empty());
}
