// Environments of builds on this runner. They are named by content, verified, made whole or not at
// all, and the longest unused are dropped. Layout: <cache>/env/<key>/{site-packages,complete}.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "runner/build/download.hpp"
#include "runner/build/marker.hpp"
#include "runner/build/python.hpp"
#include "runner/process/confinement.hpp"
#include "storage/model/job.hpp"

namespace nightjar::runner {

struct EnvironmentsConfig {
  std::filesystem::path cache;
  std::filesystem::path python;
  std::string uv = "uv";  // installs the packages of locks; a name is looked for in PATH
  std::vector<std::string> internal = {};  // see Installer
  std::filesystem::path wheels = {};       // of others, by file name; empty: each is downloaded
  // All environments together, and the packages that uv keeps for later ones.
  std::int64_t limit_bytes = 40LL << 30;
  ByteCodeLimits byte_code;  // of one environment
  DownloadConfig download;
  // What a build may do here while it is compiled to byte code and imported. nullopt: neither
  // happens (scripted runners).
  std::optional<BuildRights> rights = {};
};

struct Environment {
  std::filesystem::path site_packages;
  std::string broken;  // not empty: nothing can run in it, and why
  // The status of its runs then: broken_environment if it cannot be imported, which may be the
  // commit's fault; unavailable if it could not be prepared, which is not.
  RunStatus status = RunStatus::broken_environment;
  double seconds = 0;
};

// The limit of a cache whose operator sets none: 40 GiB, or half of what its disk can hold.
std::int64_t usual_limit(const std::filesystem::path& cache);

class Environments {
 public:
  // Removes what a killed process left. The cache must not be shared by two runners.
  explicit Environments(EnvironmentsConfig config);

  // Keeps these from now on, whatever the size limit says.
  void begin_session(const std::vector<EnvironmentSpec>& specs);
  // Throws TransientFailure (network, disk) and Stopped. If an archive or the build is at fault,
  // `broken` says so.
  Environment make(const EnvironmentSpec& spec, std::stop_token stop);
  // Gets and verifies the archives of `spec` and keeps nothing. Throws as make() does, and
  // BrokenArchive.
  void download_only(const EnvironmentSpec& spec, std::stop_token stop);

 private:
  std::filesystem::path folder_of(const std::string& name) const;
  // Makes it whole or not at all, unless it is there and intact. `fill` gets a folder for its work
  // and the site-packages to make; it gives the marker.
  using Fill = std::function<Marker(const std::filesystem::path& work,
                                    const std::filesystem::path& site_packages)>;
  void make_once(const std::string& name, const EnvironmentSpec& spec, std::stop_token stop,
                 const Fill& fill);
  // Whether its files are those of its RECORD. Looked at once; a damaged environment is dropped.
  bool is_intact(const std::string& name, const EnvironmentSpec& spec);
  // Removes it. False if the disk refuses.
  bool drop(const std::string& name);
  void fetch_wheel(const EnvironmentSpec& spec, const std::filesystem::path& to,
                   std::stop_token stop);
  void make_wheel(const EnvironmentSpec& spec, std::stop_token stop);
  void make_overlay(const EnvironmentSpec& spec, std::stop_token stop);
  void install_packages(const EnvironmentSpec& spec, std::stop_token stop);
  // To byte code. Names relative to `folder`; none: all that is there.
  // Returns the bytes of its own byte code. Throws BrokenArchive if they are too many.
  std::int64_t translate(const std::filesystem::path& folder, const std::set<std::string>& files,
                         std::stop_token stop);
  void import_once(const EnvironmentSpec& spec, Environment& environment, std::stop_token stop);
  void trim();
  std::filesystem::path packages_folder() const { return config_.cache / "uv"; }

  EnvironmentsConfig config_;
  Downloader downloader_;
  std::set<std::string> in_use_;
  std::set<std::string> verified_;  // names; since the start
};

}  // namespace nightjar::runner
