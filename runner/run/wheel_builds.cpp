#include "runner/run/wheel_builds.hpp"

#include "runner/build/gpu_packages.hpp"
#include "runner/build/python.hpp"

namespace nightjar::runner {

WheelBuilds::WheelBuilds(EnvironmentsConfig environments, RunPlace place)
    : place_(std::move(place)),
      environments_(std::move(environments)),
      natives_(place_.cache, place_.workloads, place_.rights.value()) {}

void WheelBuilds::begin_session(const JobSpec& spec) {
  environments_.begin_session(spec.environments);
}

ReadyBuild WheelBuilds::make(const EnvironmentSpec& spec, bool native, std::stop_token stop) {
  const Environment environment = environments_.make(spec, stop);
  if (spec.module != "torch") return beside_torch(spec, environment);
  const LibTorch libtorch = libtorch_of_build(environment.site_packages);
  ReadyBuild build{
      .broken = environment.broken, .broken_status = environment.status, .place = place_};
  build.torch = {spec.version, spec.git_version, ""};
  build.expected = {environment.site_packages, spec.version, spec.git_version};
  if (native && environment.broken.empty()) build.native = natives_.make(libtorch, stop);
  if (!build.native.tool_missing) build.without_native = RunStatus::broken_environment;
  if (!gpu_libraries_) gpu_libraries_ = gpu_libraries(place_.python, stop);
  build.place.site_packages = environment.site_packages;
  build.place.native = build.native.path;
  build.place.profiled = build.native.library;
  build.place.libtorch = libtorch.libraries;
  // A build with a lock has NVIDIA's packages of its own, which come first.
  if (spec.lock) build.place.gpu_libraries = libraries_of_packages(environment.site_packages);
  build.place.gpu_libraries.insert(build.place.gpu_libraries.end(), gpu_libraries_->begin(),
                                   gpu_libraries_->end());
  return build;
}

// The PyTorch is the one of the runner's Python; it is part of the machine, as Python itself is.
ReadyBuild WheelBuilds::beside_torch(const EnvironmentSpec& spec,
                                     const Environment& environment) const {
  ReadyBuild build{
      .broken = environment.broken, .broken_status = environment.status, .place = place_};
  build.expected = {environment.site_packages, "", "", spec.module};
  build.native.reason =
      "native workloads measure a build of PyTorch, and this one is of " + spec.module;
  build.place.site_packages = environment.site_packages;
  return build;
}

}  // namespace nightjar::runner
