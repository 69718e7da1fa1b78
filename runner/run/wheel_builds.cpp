#include "runner/run/wheel_builds.hpp"

#include "runner/build/python.hpp"

namespace nightjar::runner {

WheelBuilds::WheelBuilds(EnvironmentsConfig environments, RunPlace place)
    : place_(std::move(place)),
      environments_(std::move(environments)),
      natives_(place_.cache, place_.workloads, place_.confinement) {}

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
  // A build with a lock has NVIDIA's packages of its own.
  const std::string packages = spec.lock ? spec.key() : "";
  if (!gpu_libraries_.contains(packages))
    gpu_libraries_[packages] = gpu_libraries(
        place_.python, spec.lock ? environment.site_packages : std::filesystem::path(), stop);
  build.place.site_packages = environment.site_packages;
  build.place.native = build.native.path;
  build.place.profiled = build.native.library;
  build.place.libtorch = libtorch.libraries;
  build.place.gpu_libraries = gpu_libraries_.at(packages);
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
