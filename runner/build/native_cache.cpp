#include "runner/build/native_cache.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "runner/process/cpu_quota.hpp"
#include "runner/process/failure.hpp"
#include "runner/process/process.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"
#include "storage/base/log.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {
constexpr std::size_t kept_programs = 32;  // some megabytes each
constexpr const char* program_name = "nightjar-native";
constexpr const char* library = "libnightjar-profiled.so";

ProcessSpec tool(std::vector<std::string> command, const fs::path& home) {
  ProcessSpec spec;
  spec.command = std::move(command);
  spec.environment = clean_environment(home);
  spec.timeout_seconds = 3600;
  spec.output_bytes = 64 << 20;
  spec.nice = 5;
  return spec;
}

// Keeps what compilers made in CCACHE_DIR if that is set, for another checkout of the same
// LibTorch. Otherwise a cache would only cost time, since each build has a LibTorch of its own and
// the headers are read once more. A confined compiler must not write where others read.
void choose_cache(ProcessSpec& spec, bool confined) {
  const char* kept = std::getenv("CCACHE_DIR");
  if (kept && !confined)
    spec.environment["CCACHE_DIR"] = kept;
  else
    spec.environment["CCACHE_DISABLE"] = "1";
}

std::string compiler_version() {
  ProcessSpec spec = tool({"c++", "--version"}, "/tmp");
  spec.timeout_seconds = 30;
  const ProcessResult result = run_trusted(spec);
  return result.fine() ? result.output.substr(0, result.output.find('\n')) : "";
}

// The first line of what a program printed that has `word`; empty if none has.
std::string first_line_with(const std::string& output, std::string_view word) {
  const auto at = output.find(word);
  if (at == std::string::npos) return {};
  const auto begin = output.rfind('\n', at) + 1;
  return output.substr(begin, std::min<std::size_t>(output.find('\n', at) - begin, 400));
}

// The first line that says "error", which tells more than the last one.
std::string error_line(const ProcessResult& result) {
  std::string line;
  if (result.start_error.empty()) line = first_line_with(result.output, "error");
  return line.empty() ? result.describe() : line;
}

// The file called `name` somewhere below `folder`; empty: none. Ignores symbolic links, since their
// targets would be shown to the runs of the build.
fs::path made_below(const fs::path& folder, const char* name) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error))
    if (at->path().filename() == name && fs::is_regular_file(at->symlink_status(error)))
      return at->path();
  return {};
}

}  // namespace

std::string NativeCache::key(const LibTorch& libtorch) {
  Digest digest;
  digest.add(hashes_of(libtorch));
  digest.add(hashes_of_sources(sources_));
  digest.add(
      sources_.string());  // the program reads workloads.json there: another checkout's has its own
  digest.add(compiler_version());
  return digest.hex().str();
}

NativeProgram NativeCache::make(const LibTorch& libtorch, std::stop_token stop) {
  if (!fs::exists(sources_ / "CMakeLists.txt"))
    return {{}, {}, true, "there is no project in " + sources_.string()};
  if (!fs::exists(libtorch.prefix / "include"))
    return {{},
            {},
            true,
            "this build has no headers to compile against: no folder " +
                (libtorch.prefix / "include").string()};
  const std::string name = key(libtorch);
  const fs::path folder = cache_ / "native" / name;
  NativeProgram target{folder / program_name, folder / library, false, {}};
  std::error_code ignored;
  if (fs::exists(target.path)) {
    fs::last_write_time(folder, fs::file_time_type::clock::now(), ignored);
    return target;
  }
  if (const auto found = failed_.find(name); found != failed_.end()) return found->second;
  NativeProgram program = compile(libtorch, target, std::move(stop));
  if (program.path.empty()) failed_[name] = program;
  trim();
  return program;
}

NativeProgram NativeCache::compile(const LibTorch& libtorch, const NativeProgram& target,
                                   std::stop_token stop) {
  log::info("compiling native workloads against={}", libtorch.root.string());
  const TemporaryFolder work(cache_ / "tmp");
  const fs::path build = work.path() / "build";
  // Without run path: LD_LIBRARY_PATH says which environment's LibTorch a run loads, since
  // environments with the same LibTorch share the program.
  ProcessSpec configure = tool({"cmake", "-S", sources_.string(), "-B", build.string(), "-G",
                                "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_SKIP_RPATH=ON",
                                "-DLIBTORCH=" + libtorch.prefix.string()},
                               work.path());
  configure.grows = work.path();
  BuildRights rights = rights_;
  auto* const confinement = std::get_if<Confinement>(&rights);
  if (confinement) {
    confinement->written.push_back(work.path());
    confinement->shown.insert(confinement->shown.end(), {sources_, libtorch.prefix});
  }
  const ProcessResult configured = run_untrusted(configure, rights, stop);
  if (stop.stop_requested()) throw Stopped();
  if (!configured.start_error.empty())
    return {{}, {}, true, "cannot compile native workloads: " + configured.start_error};
  if (!configured.fine())
    return {{}, {}, false, "cmake for native workloads: " + error_line(configured)};
  const auto jobs = std::to_string(usable_cpus());
  ProcessSpec compile = tool({"cmake", "--build", build.string(), "-j", jobs}, work.path());
  compile.grows = work.path();
  choose_cache(compile, confinement != nullptr);
  const ProcessResult built = run_untrusted(compile, rights, stop);
  if (stop.stop_requested()) throw Stopped();
  if (!built.fine())
    return {{},
            {},
            built.cannot_tell() || built.timed_out || !built.flooded.empty(),
            "compiling native workloads: " + error_line(built)};
  if (const auto line = first_line_with(built.output, "warning:"); !line.empty())
    log::warn("compiling native workloads: {}", line);
  const fs::path made = work.path() / "made", folder = target.path.parent_path();
  fs::create_directories(made);
  for (const char* name : {program_name, library}) {
    const fs::path file = made_below(build, name);
    if (file.empty()) return {{}, {}, false, std::string("the native project made no ") + name};
    fs::rename(file, made / name);
  }
  fs::create_directories(folder.parent_path());
  sync_file_system(made);  // or a power cut leaves an empty program, which would fail each build
  move_durably(made, folder);
  return target;
}

void NativeCache::trim() {
  std::vector<std::pair<fs::file_time_type, fs::path>> programs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(cache_ / "native", error))
    programs.emplace_back(entry.last_write_time(error), entry.path());
  std::sort(programs.begin(), programs.end());
  for (std::size_t i = 0; i + kept_programs < programs.size(); ++i)
    fs::remove_all(programs[i].second, error);
}

}  // namespace nightjar::runner
