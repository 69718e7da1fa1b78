// Builds as a service names them: unpacked from wheels into the runner's cache.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runner/build/environments.hpp"
#include "runner/run/builds.hpp"

namespace nightjar::runner {

class WheelBuilds final : public Builds {
 public:
  // `place` is what the runs of all builds have in common.
  WheelBuilds(EnvironmentsConfig environments, RunPlace place);
  void begin_session(const JobSpec& spec) override;
  ReadyBuild make(const EnvironmentSpec& spec, bool native, std::stop_token stop) override;

 private:
  ReadyBuild beside_torch(const EnvironmentSpec& spec, const Environment& environment) const;

  const RunPlace place_;
  Environments environments_;
  NativeCache natives_;
  // By the key of the environment that has packages of its own; "": of the base Python.
  std::map<std::string, std::vector<std::filesystem::path>> gpu_libraries_;
};

}  // namespace nightjar::runner
