#include "runner/run/usual_probes.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::runner;

namespace {
Workload workload(const char* name) {
  return {{}, *WorkloadName::parse(name), 1};
}
RunTask run_of(const Workload& workload, bool profile = false) {
  RunTask task;
  task.workload = &workload;
  task.profile = profile;
  return task;
}
}  // namespace

TEST_CASE("A run that met a higher clock than ever again does not make all later ones disturbed") {
  const Workload act = workload("python/soft_actor_critic/act/cpu/fp32/b1/eager");
  UsualProbes probes;
  CHECK(probes.of(run_of(act)) == 0);
  probes.note(run_of(act), 25e-6);
  CHECK(probes.of(run_of(act)) == 25e-6);
  for (int run = 0; run < 10; ++run) {
    probes.note(run_of(act), 25e-6);
    probes.note(run_of(act), 27e-6);
  }
  probes.note(run_of(act), 18e-6);
  CHECK(probes.of(run_of(act)) == 25e-6);
  // Slowed from begin to end, nearly half of what is kept: the quiet ones still say what is usual.
  for (int run = 0; run < 18; ++run) probes.note(run_of(act), 40e-6);
  CHECK(probes.of(run_of(act)) == 25e-6);
  // A machine that has become faster for good is known by its next runs.
  for (int run = 0; run < 40; ++run) probes.note(run_of(act), 20e-6);
  CHECK(probes.of(run_of(act)) == 20e-6);
}

TEST_CASE("Programs probe with code of their own") {
  const Workload python = workload("python/dlrm/eval/cpu/fp32/b128/eager");
  const Workload native = workload("native/dlrm/eval/cpu/fp32/b128/eager");
  const Workload other = workload("timm/m/eval/cpu/fp32/b4/eager"),
                 mine = workload("mine/m/eval/cpu/fp32/b4/eager");
  UsualProbes probes;
  probes.note(run_of(python), 20e-6);
  CHECK(probes.of(run_of(native)) == 0);
  CHECK(probes.of(run_of(native, true)) == 20e-6);  // Python profiles it
  CHECK(probes.of(run_of(other)) == 20e-6);
  CHECK(probes.of(run_of(mine)) == 0);
  probes.note(run_of(python), 0);
  probes.note(run_of(python), 1e300);
  probes.note({}, 1);
  CHECK(probes.of(run_of(python)) == 20e-6);
  CHECK(probes.of({}) == 0);
}
