#include "runner/run/local_build.hpp"

#include <stdexcept>

#include "runner/build/python.hpp"
#include "runner/process/failure.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

ReadyTorch imported(const fs::path& python, std::stop_token stop) {
  const ImportCheck check = check_import(python, {}, {}, stop);
  if (stop.stop_requested()) throw Stopped();
  if (!check.broken.empty())
    throw std::runtime_error(check.broken + " (with " + python.string() +
                             "; --python names another one)");
  return check.torch;
}

}  // namespace

LocalBuild local_build(const LocalPaths& paths, bool native, std::stop_token stop,
                       const std::function<void(const std::string&)>& progress) {
  LocalBuild build;
  if (paths.libtorch.empty()) {
    progress("importing torch with " + paths.python.string());
    build.torch = imported(paths.python, stop);
    build.place.site_packages = fs::path(build.torch.path).parent_path().parent_path();
  }
  const LibTorch libtorch = paths.libtorch.empty() ? libtorch_of_build(build.place.site_packages)
                                                   : libtorch_at(paths.libtorch);
  if (native) {
    progress("making the native workloads ready");
    build.native = NativeCache(paths.cache, paths.workloads).make(libtorch, stop);
  }
  build.root = libtorch.root;
  build.place.cache = paths.cache;
  build.place.python = paths.python;
  build.place.workloads = paths.workloads;
  build.place.torchbench = paths.torchbench;
  build.place.native = build.native.path;
  build.place.libtorch = libtorch.libraries;
  return build;
}

}  // namespace nightjar::runner
