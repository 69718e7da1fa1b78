// Makes up the runs of a session as a script says: without PyTorch, without noise but the script's,
// in microseconds.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runner/build/environments.hpp"
#include "runner/run/executor.hpp"
#include "runner/run/script.hpp"

namespace nightjar::runner {

class ScriptedExecutor final : public Executor {
 public:
  // `environments` is used if the script says "download" or "unpack".
  ScriptedExecutor(Script script, EnvironmentsConfig environments);
  std::vector<std::string> workloads() const override { return script_.workloads; }
  std::map<std::string, std::string> facts() const override;
  std::unique_ptr<MachineLock> lock_machine(const std::string&, std::stop_token) override {
    return nullptr;
  }
  void begin_session(const JobSpec& spec) override;
  Prepared prepare(const EnvironmentSpec& environment, bool native, std::stop_token stop) override;
  ParsedRun run(const RunTask& task, std::stop_token stop) override;
  MachineState machine() override { return script_.machine; }

 private:
  bool matches(const RunCondition& when, const EnvironmentSpec& environment,
               const Workload* workload) const;

  const Script script_;
  std::unique_ptr<Environments> environments_;
  std::map<std::string, std::filesystem::path> site_packages_;  // by EnvironmentSpec::key()
};

}  // namespace nightjar::runner
