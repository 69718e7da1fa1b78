#include "runner/run/local_session.hpp"

#include <memory>
#include <stdexcept>

#include "runner/build/python.hpp"
#include "runner/process/failure.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

// A person who measures by hand names a PyTorch that they could run themselves.
const Unconfined by_hand("a person asked for it");

ReadyTorch imported(const fs::path& python, std::stop_token stop) {
  const ImportCheck check = check_import(python, {}, {}, by_hand, stop);
  if (stop.stop_requested()) throw Stopped();
  if (!check.broken.empty())
    throw std::runtime_error(check.broken + " (with " + python.string() +
                             "; --python names another one)");
  return check.torch;
}

class LocalBuilds final : public Builds {
 public:
  explicit LocalBuilds(ReadyBuild build) : build_(std::move(build)) {}
  void begin_session(const JobSpec&) override {}
  ReadyBuild make(const EnvironmentSpec&, bool, std::stop_token) override { return build_; }

 private:
  const ReadyBuild build_;
};

}  // namespace

ReadyBuild local_build(const LocalPaths& paths, bool native, std::stop_token stop,
                       const std::function<void(const std::string&)>& progress) {
  ReadyBuild build;
  build.place.cache = paths.cache;
  build.place.python = paths.python;
  build.place.workloads = paths.workloads;
  build.place.torchbench = paths.torchbench;
  build.place.rights = by_hand;
  if (paths.libtorch.empty()) {
    progress("importing torch with " + paths.python.string());
    build.torch = imported(paths.python, stop);
    build.place.site_packages = fs::path(build.torch.path).parent_path().parent_path();
  }
  const LibTorch libtorch = paths.libtorch.empty() ? libtorch_of_build(build.place.site_packages)
                                                   : libtorch_at(paths.libtorch);
  build.expected.below = libtorch.root;
  build.place.libtorch = libtorch.libraries;
  if (!native) return build;
  progress("making the native workloads ready");
  build.native = NativeCache(paths.cache, paths.workloads, by_hand).make(libtorch, stop);
  build.place.native = build.native.path;
  build.place.profiled = build.native.library;
  return build;
}

ProcessExecutor local_executor(const ReadyBuild& build, int throttled_repeats) {
  return ProcessExecutor({.place = build.place,
                          .control = {},
                          .machine_lock = {},
                          .throttled_repeats = throttled_repeats},
                         std::make_unique<LocalBuilds>(build));
}

JobSpec local_job(JobKind kind, const std::vector<CatalogEntry>& workloads,
                  const std::vector<std::size_t>& order, const RunLimits& limits) {
  JobSpec job;
  job.kind = kind;
  job.environments = {{.build = {},
                       .wheel_url = "",
                       .wheel_file = "",
                       .wheel_sha256 = *Sha256::parse(std::string(64, '0')),  // there is no wheel
                       .overlay = {},
                       .version = "",
                       .git_version = ""}};
  for (const CatalogEntry& entry : workloads)
    job.workloads.push_back({{}, entry.name, entry.version});
  for (const std::size_t workload : order)
    job.order.push_back({.environment = 0, .workload = static_cast<int>(workload)});
  job.limits = limits;
  return job;
}

}  // namespace nightjar::runner
