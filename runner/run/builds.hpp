// Port: where the builds of a session come from. WheelBuilds makes what a service names,
// LocalBuilds has the PyTorch at hand. Used by ProcessExecutor.
#pragma once

#include <stop_token>
#include <string>

#include "runner/build/native_cache.hpp"
#include "runner/build/torch_identity.hpp"
#include "runner/run/workload_process.hpp"
#include "storage/model/job.hpp"

namespace nightjar::runner {

struct ReadyBuild {
  std::string broken = {};                                  // not empty: nothing can run in it
  RunStatus broken_status = RunStatus::broken_environment;  // of its runs then
  ReadyTorch torch = {};        // which PyTorch it is; empty where only its runs can tell
  ExpectedTorch expected = {};  // what its runs must load
  NativeProgram native = {};
  RunStatus without_native = RunStatus::unavailable;  // of native runs, where there is no program
  RunPlace place = {};
};

class Builds {
 public:
  virtual ~Builds() = default;
  // Is called before the first make() of a session, with all that it will need.
  virtual void begin_session(const JobSpec& spec) = 0;
  // `native`: native workloads will run in it. Throws TransientFailure and Stopped.
  virtual ReadyBuild make(const EnvironmentSpec& spec, bool native, std::stop_token stop) = 0;
};

}  // namespace nightjar::runner
