#include "runner/build/environments.hpp"

#include <chrono>
#include <malloc.h>
#include <system_error>

#include "runner/build/locked_packages.hpp"
#include "runner/build/python.hpp"
#include "runner/build/record.hpp"
#include "runner/build/sharing.hpp"
#include "runner/build/unpack.hpp"
#include "runner/process/failure.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"
#include "storage/base/log.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

std::int64_t bytes_of(const Contents& contents) {
  std::int64_t bytes = 0;
  for (const auto& [path, content] : contents) bytes += content.bytes;
  return bytes;
}

// Copies a tree like `cp -al`: makes new folders, and hard links to the files.
void link_tree(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    const fs::path target = to / entry.path().lexically_relative(from);
    if (entry.is_directory())
      fs::create_directory(target);
    else
      fs::create_hard_link(entry.path(), target);
  }
}

// Returns a name that is as long for an overlay, and for a wheel with its packages, as for a wheel.
// With a longer path, Python's heap is laid out differently: one loop then took 3 to 5 % less time,
// and the overlay beside the nightly looked like a culprit.
std::string folder_name(const EnvironmentSpec& spec) {
  return spec.overlay || spec.lock ? digest_of(spec.key()).str() : spec.wheel_sha256.str();
}

// The same environment without the packages of its lock.
EnvironmentSpec without_lock(EnvironmentSpec spec) {
  spec.lock.reset();
  return spec;
}

// Returns the name as the wheel's name and its .dist-info folder spell it.
std::string distribution_of(const EnvironmentSpec& spec) {
  return spec.wheel_file.substr(0, spec.wheel_file.find('-'));
}

// PyTorch's CI lays Python files over an older wheel and leaves RECORD as it was.
bool is_of_ci(const EnvironmentSpec& spec) {
  return spec.version.find("+git") != std::string::npos;
}

// The site-packages of the wheel that was used last; empty: there is none.
fs::path newest_wheel(const fs::path& folder) {
  fs::path newest;
  for (const CachedEnvironment& one : cached_environments(folder))
    if (one.marker.base.empty()) newest = folder / one.key / "site-packages";
  return newest;
}

// Moves the files of `from` into `to`, over what is there. Returns their bytes.
std::int64_t move_tree(const fs::path& from, const fs::path& to) {
  std::int64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    const fs::path target = to / entry.path().lexically_relative(from);
    if (entry.is_directory() && !entry.is_symlink()) {
      fs::create_directories(target);
      continue;
    }
    if (entry.is_regular_file()) bytes += static_cast<std::int64_t>(entry.file_size());
    fs::rename(entry.path(), target);
  }
  return bytes;
}

// The bytes of Python's byte code that is in no other environment, too.
std::int64_t byte_code_of(const fs::path& folder) {
  std::int64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".pyc" && entry.is_regular_file() &&
        entry.hard_link_count() == 1)
      bytes += static_cast<std::int64_t>(entry.file_size());
  return bytes;
}

// The bytes below a folder that are nowhere else, too.
std::int64_t bytes_only_in(const fs::path& folder) {
  std::int64_t bytes = 0;
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(folder, none))
    if (!entry.is_symlink() && entry.is_regular_file() && entry.hard_link_count() == 1)
      bytes += static_cast<std::int64_t>(entry.file_size());
  return bytes;
}

// Copies a wheel that lies in a folder of others. False if it is not there or has other bytes.
bool copy_of(const fs::path& folder, const EnvironmentSpec& spec, const fs::path& to) {
  const fs::path theirs = folder / fs::path(spec.wheel_file).filename();
  std::error_code error;
  if (folder.empty() || !fs::exists(theirs, error)) return false;
  if (fs::copy_file(theirs, to, error) && digest_of_file(to) == spec.wheel_sha256) return true;
  log::warn("wheel of others is not the build's, so it is downloaded file={} cause=\"{}\"",
            theirs.string(), error ? error.message() : "it has another SHA-256");
  fs::remove(to, error);
  return false;
}

// What packages bring of Python's byte code is not ours.
void drop_byte_code(const fs::path& packages) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator(packages))
    if (entry.path().filename() == "__pycache__") folders.push_back(entry.path());
  for (const fs::path& folder : folders) fs::remove_all(folder);
}

// Whether the build, and not the machine, is the reason that its files cannot be laid out.
bool is_fault_of_build(const std::error_code& error) {
  for (const std::errc fault :
       {std::errc::filename_too_long, std::errc::not_a_directory, std::errc::is_a_directory,
        std::errc::file_exists, std::errc::directory_not_empty,
        std::errc::too_many_symbolic_link_levels, std::errc::illegal_byte_sequence})
    if (error == fault) return true;
  return false;
}

std::set<std::string> names_of(const Contents& contents) {
  std::set<std::string> names;
  for (const auto& [path, content] : contents) names.insert(path);
  return names;
}

// The files first: after a power cut a marker must not vouch for files that are empty.
void complete(const fs::path& made, const Marker& marker, const fs::path& folder) {
  sync_file_system(made);
  write_marker(made, marker);
  move_durably(made, folder);
}

}  // namespace

std::int64_t usual_limit(const fs::path& cache) {
  std::error_code unknown;
  const auto disk = fs::space(cache, unknown);
  const std::int64_t most = EnvironmentsConfig{}.limit_bytes;
  if (unknown || disk.capacity / 2 > static_cast<std::uintmax_t>(most)) return most;
  return static_cast<std::int64_t>(disk.capacity / 2);
}

Environments::Environments(EnvironmentsConfig config)
    : config_(std::move(config)), downloader_(config_.download) {
  fs::create_directories(config_.cache / "env");
  TemporaryFolder::remove_leftovers(config_.cache / "tmp");
  for (const auto& entry : fs::directory_iterator(config_.cache / "env"))
    if (!read_marker(entry.path())) fs::remove_all(entry.path());
}

fs::path Environments::folder_of(const std::string& name) const {
  return config_.cache / "env" / name;
}

void Environments::begin_session(const std::vector<EnvironmentSpec>& specs) {
  in_use_.clear();
  for (const auto& spec : specs)
    in_use_.insert({folder_name(spec), folder_name(without_lock(spec)), spec.wheel_sha256.str()});
}

Environment Environments::make(const EnvironmentSpec& spec, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  Environment environment;
  environment.site_packages = folder_of(folder_name(spec)) / "site-packages";
  try {
    make_wheel(spec, stop);
    if (spec.overlay) make_overlay(without_lock(spec), stop);
    if (spec.lock) install_packages(spec, stop);
    if (config_.rights) import_once(spec, environment, stop);
  } catch (const BrokenArchive& error) {
    environment.broken = error.what();
    environment.status = RunStatus::unavailable;
  } catch (const std::system_error& error) {  // fs::filesystem_error is one
    if (!is_fault_of_build(error.code())) throw TransientFailure(error.what());
    environment.broken = error.what();
    environment.status = RunStatus::unavailable;
  }
  if (stop.stop_requested()) throw Stopped();
  trim();
  ::malloc_trim(0);  // lists of 15,000 files are gone; the agent stays small while it measures
  environment.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return environment;
}

void Environments::make_once(const std::string& name, const EnvironmentSpec& spec,
                             std::stop_token stop, const Fill& fill) {
  const fs::path folder = folder_of(name);
  if (read_marker(folder) && is_intact(name, spec)) return touch_marker(folder);
  const TemporaryFolder work(config_.cache / "tmp");
  const fs::path made = work.path() / "made";
  const Marker marker = fill(work.path(), made / "site-packages");
  if (stop.stop_requested()) throw Stopped();
  complete(made, marker, folder);
  verified_.insert(name);
  log::info("environment made key={} base={} bytes={}", name.substr(0, 12),
            marker.base.substr(0, 12), marker.bytes);
}

bool Environments::is_intact(const std::string& name, const EnvironmentSpec& spec) {
  if (verified_.contains(name)) return true;
  try {
    verify_installed(folder_of(name) / "site-packages", distribution_of(spec), is_of_ci(spec));
  } catch (const BrokenArchive& damage) {
    log::warn("environment damaged key={} cause=\"{}\"", name.substr(0, 12), damage.what());
    if (drop(name)) return false;
    throw TransientFailure("cannot remove the damaged environment " + folder_of(name).string());
  }
  verified_.insert(name);
  return true;
}

void Environments::fetch_wheel(const EnvironmentSpec& spec, const fs::path& to,
                               std::stop_token stop) {
  if (!copy_of(config_.wheels, spec, to))
    downloader_.fetch(spec.wheel_url, spec.wheel_sha256, to, std::move(stop));
}

void Environments::make_wheel(const EnvironmentSpec& spec, std::stop_token stop) {
  make_once(spec.wheel_sha256.str(), spec, stop,
            [&](const fs::path& work, const fs::path& site_packages) {
              const fs::path wheel = work / fs::path(spec.wheel_file).filename();
              fetch_wheel(spec, wheel, stop);
              const Contents contents = unpack_wheel(wheel, site_packages);
              fs::remove(wheel);
              const std::string distribution = distribution_of(spec);
              const fs::path record = find_record(site_packages, distribution);
              if (record.empty())
                throw BrokenArchive(spec.wheel_file + " has no RECORD of " + distribution);
              verify(read_record(record), contents, is_of_ci(spec));
              const fs::path neighbour = newest_wheel(config_.cache / "env");
              const std::size_t shared =
                  neighbour.empty() ? 0 : share_files(neighbour, site_packages, contents);
              const std::int64_t byte_code = translate(site_packages, {}, stop);
              log::info("wheel unpacked wheel={} files={} shared={}", spec.wheel_file,
                        contents.size(), shared);
              return Marker{bytes_of(contents) + byte_code, "", ""};
            });
}

void Environments::make_overlay(const EnvironmentSpec& spec, std::stop_token stop) {
  make_once(
      folder_name(spec), spec, stop, [&](const fs::path& work, const fs::path& site_packages) {
        const fs::path tar = work / "overlay.tar";
        downloader_.fetch(spec.overlay->url, spec.overlay->sha256, tar, stop);
        link_tree(folder_of(spec.wheel_sha256.str()) / "site-packages", site_packages);
        const auto& removed = spec.overlay->removed;
        const Contents contents = lay_over(tar, {removed.begin(), removed.end()}, site_packages);
        record_overlay(site_packages, distribution_of(spec), contents, removed);
        const std::int64_t byte_code = translate(site_packages, names_of(contents), stop);
        return Marker{bytes_of(contents) + byte_code, spec.wheel_sha256.str(), ""};
      });
}

std::int64_t Environments::translate(const fs::path& folder, const std::set<std::string>& files,
                                     std::stop_token stop) {
  if (!config_.rights) return 0;
  const std::string problem = compile_byte_code(config_.python, folder, files, *config_.rights,
                                                config_.byte_code, std::move(stop));
  if (!problem.empty()) throw BrokenArchive(problem);
  return byte_code_of(folder);
}

// Makes the wheel, or its overlay, once more, with the packages of the lock in it. If a package
// cannot be downloaded, the build is not to blame.
void Environments::install_packages(const EnvironmentSpec& spec, std::stop_token stop) {
  make_once(folder_name(spec), spec, stop,
            [&](const fs::path& work, const fs::path& site_packages) {
              const fs::path lock = work / "requirements.txt", packages = work / "packages";
              downloader_.fetch(spec.lock->url, spec.lock->sha256, lock, stop);
              install_locked({config_.uv, config_.python, packages_folder(), config_.internal},
                             lock, packages, stop);
              const std::string base = folder_name(without_lock(spec));
              require_apart(packages, folder_of(base) / "site-packages");
              drop_byte_code(packages);
              translate(packages, {}, stop);
              link_tree(folder_of(base) / "site-packages", site_packages);
              return Marker{move_tree(packages, site_packages), base, ""};
            });
}

// Success is remembered with the Python it was had with; failure is not, since the cause may be
// there.
void Environments::import_once(const EnvironmentSpec& spec, Environment& environment,
                               std::stop_token stop) {
  const fs::path folder = folder_of(folder_name(spec));
  Marker marker = read_marker(folder).value_or(Marker{});
  const std::string with = config_.python.string() + " " + spec.version + " " + spec.git_version +
                           (spec.module == "torch" ? "" : " " + spec.module);
  if (marker.imports == with) return;
  const ExpectedTorch expected{environment.site_packages, spec.version, spec.git_version,
                               spec.module};
  const ImportCheck check =
      check_import(config_.python, environment.site_packages, expected, *config_.rights, stop);
  if (check.machine_failed) throw TransientFailure(check.broken);
  environment.broken = check.broken;
  if (!environment.broken.empty()) return;
  marker.imports = with;
  write_marker(folder, marker);
}

void Environments::download_only(const EnvironmentSpec& spec, std::stop_token stop) {
  const TemporaryFolder work(config_.cache / "tmp");
  fetch_wheel(spec, work.path() / "wheel", stop);
  if (spec.overlay)
    downloader_.fetch(spec.overlay->url, spec.overlay->sha256, work.path() / "overlay", stop);
  if (spec.lock) downloader_.fetch(spec.lock->url, spec.lock->sha256, work.path() / "lock", stop);
}

bool Environments::drop(const std::string& name) {
  // Renamed first: a half-removed environment must not look like one.
  const TemporaryFolder grave(config_.cache / "tmp");
  std::error_code error;
  fs::rename(folder_of(name), grave.path() / "dropped", error);
  return !error;
}

void Environments::trim() {
  const auto cached = cached_environments(config_.cache / "env");
  std::int64_t bytes = 0;
  for (const auto& one : cached) bytes += one.marker.bytes;
  // They go as a whole, since only uv knows which of its files belong together. They go first: what
  // an environment has of them stays there, as hard links.
  if (const auto kept = bytes_only_in(packages_folder());
      kept > 0 && bytes + kept > config_.limit_bytes) {
    const TemporaryFolder grave(config_.cache / "tmp");
    fs::rename(packages_folder(), grave.path() / "uv");
    log::info("packages kept for later environments dropped bytes={}", kept);
  }
  for (const auto& one : cached) {
    if (bytes <= config_.limit_bytes) return;
    if (in_use_.contains(one.key)) continue;
    if (drop(one.key)) bytes -= one.marker.bytes;
    log::info("environment dropped key={} bytes={}", one.key.substr(0, 12), one.marker.bytes);
  }
}

}  // namespace nightjar::runner
