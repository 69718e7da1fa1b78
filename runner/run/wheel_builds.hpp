// Builds as a service names them: unpacked from wheels into the runner's cache.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "runner/build/environments.hpp"
#include "runner/run/builds.hpp"

namespace nightjar::runner {

class WheelBuilds final : public Builds {
 public:
  // `place` is what the runs of all builds have in common; it says what they may do.
  WheelBuilds(EnvironmentsConfig environments, RunPlace place);
  void begin_session(const JobSpec& spec) override;
  ReadyBuild make(const EnvironmentSpec& spec, bool native, std::stop_token stop) override;

 private:
  ReadyBuild beside_torch(const EnvironmentSpec& spec, const Environment& environment) const;

  const RunPlace place_;
  Environments environments_;
  NativeCache natives_;
  std::optional<std::vector<std::filesystem::path>> gpu_libraries_;  // of the base Python
};

}  // namespace nightjar::runner
