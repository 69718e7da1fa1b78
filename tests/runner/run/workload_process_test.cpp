#include "runner/run/workload_process.hpp"

#include <catch2/catch.hpp>

#include "tests/support/scratch.hpp"
#include "tests/support/variable.hpp"

namespace fs = std::filesystem;
using namespace nightjar;
using namespace nightjar::runner;

TEST_CASE(
    "a native run is told where its LibTorch lies, the NVIDIA libraries which that may need, and "
    "the driver behind them") {
  const Scratch scratch;
  spit(scratch / "driver/libcuda.so.1", "");
  const Variable path("LD_LIBRARY_PATH", "/toolkit:" + (scratch / "driver").string());
  const fs::path program = scratch / "native";
  std::ofstream(program) << "#!/bin/sh\ncat >/dev/null\nprintf %s \"$LD_LIBRARY_PATH\" >&3\n";
  fs::permissions(program, fs::perms::owner_all);
  fs::create_directories(scratch / "tmp");
  RunPlace place;
  place.rights = Unconfined("a test");
  place.cache = scratch.path();
  place.native = program;
  place.libtorch = "/build/torch/lib";
  place.gpu_libraries = {"/base/nvidia/cu13/lib", "/base/nvidia/cudnn/lib"};
  const Workload workload{WorkloadId{},
                          *WorkloadName::parse("native/resnet18/eval/cpu/fp32/b4/eager"), 1};
  const RunLimits limits;
  RunTask task;
  task.workload = &workload;
  task.limits = &limits;
  const auto result = run_workload(place, {}, task, 0, {});
  CHECK(result.protocol == "/build/torch/lib:/base/nvidia/cu13/lib:/base/nvidia/cudnn/lib:" +
                               (scratch / "driver").string());
}
