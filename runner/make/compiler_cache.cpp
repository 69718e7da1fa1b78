#include "runner/make/compiler_cache.hpp"

#include <array>
#include <unistd.h>

#include "runner/process/failure.hpp"
#include "storage/base/child.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"
#include "storage/base/foreign_number.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

// Distributions' Pythons name their compiler in full.
constexpr std::array compilers = {"cc",
                                  "c++",
                                  "gcc",
                                  "g++",
                                  "clang",
                                  "clang++",
                                  "x86_64-linux-gnu-gcc",
                                  "x86_64-linux-gnu-g++",
                                  "aarch64-linux-gnu-gcc",
                                  "aarch64-linux-gnu-g++"};

bool is_program(const fs::path& path) {
  return path.is_absolute() && ::access(path.c_str(), X_OK) == 0;
}

// What stands before a compiler's name in the directories that ccache's packages make is ccache
// itself; such a name is not wrapped once more.
bool is_cache(const fs::path& program) {
  std::error_code error;
  const std::string name = fs::weakly_canonical(program, error).filename().string();
  return name == "ccache" || name == "sccache";
}

// "1105088 133..." changes with the compiler. ccache may be called with the wrapper as its compiler
// (PyTorch's extensions do), and then takes the wrapper's content for the compiler's.
std::string identity_of(const fs::path& compiler) {
  std::error_code error;
  const auto size = fs::file_size(compiler, error);
  const auto written = fs::last_write_time(compiler, error).time_since_epoch().count();
  return std::to_string(size) + " " + std::to_string(written);
}

// Wrappers that are right already stay, since a new one is another compiler to ccache.
void write_wrappers(const CompilerCache& cache, const fs::path& folder) {
  fs::create_directories(folder);
  for (const char* name : compilers) {
    const fs::path compiler = find_program(name), wrapper = folder / name;
    if (!is_program(compiler) || is_cache(compiler)) {
      fs::remove(wrapper);
      continue;
    }
    const std::string text = "#!/bin/sh\n# " + identity_of(compiler) + "\nexec '" +
                             cache.path.string() + "' '" + compiler.string() + "' \"$@\"\n";
    if (read_file(wrapper) != text) write_durably(wrapper, text, 0755);
  }
}

// Two builders on one machine have servers of their own.
std::string sccache_port(const fs::path& folder) {
  const std::string digits = digest_of(folder.string()).str().substr(0, 6);
  return std::to_string(20000 + std::stoul(digits, nullptr, 16) % 12000);
}

bool is_cuda(std::string_view unit) {
  return unit.ends_with(".cu");
}

constexpr std::int64_t most_counted = 1'000'000'000'000;  // of one language

std::int64_t counted(const nlohmann::json& stats, const char* what, bool cuda) {
  std::int64_t sum = 0;
  const auto found = stats.find(what);
  if (found == stats.end() || !found->is_object()) return 0;
  const auto counts = found->find("counts");
  if (counts == found->end() || !counts->is_object()) return 0;
  for (const auto& [language, count] : counts->items())
    if ((language.find("CUDA") != std::string::npos) == cuda && count.is_number_integer())
      sum += clamped_integer<std::int64_t>(count.get<double>(), 0, most_counted);
  return sum;
}

}  // namespace

CompilerCache find_compiler_cache(const std::string& wanted, bool in_container) {
  if (in_container) {
    const bool named = wanted == "ccache" || wanted == "sccache";
    return named ? CompilerCache{wanted, wanted} : CompilerCache{};
  }
  for (const char* name : {"ccache", "sccache"}) {
    if (wanted != "auto" && wanted != name) continue;
    const fs::path path = find_program(name);
    if (is_program(path)) return {name, path};
    if (wanted == name)
      throw TransientFailure("the recipe wants " + wanted +
                             ", which is not on this machine's PATH");
  }
  return {};
}

std::map<std::string, std::string> use_cache(const CompilerCache& cache,
                                             const CacheFolders& folders, const std::string& path) {
  if (cache.program.empty()) return {};
  fs::create_directories(folders.cache);
  std::map<std::string, std::string> out{{"CMAKE_CUDA_COMPILER_LAUNCHER", cache.path.string()}};
  if (!cache.path.is_absolute()) {  // in a container
    out["CMAKE_C_COMPILER_LAUNCHER"] = out["CMAKE_CXX_COMPILER_LAUNCHER"] = cache.path.string();
  } else {
    write_wrappers(cache, folders.wrappers);
    out["PATH"] = folders.wrappers.string() + ":" + path;
    if (const fs::path nvcc = find_program("nvcc"); is_program(nvcc))
      out["PYTORCH_NVCC"] = cache.path.string() + " " + nvcc.string();
  }
  if (cache.program == "ccache") {
    out["CCACHE_DIR"] = folders.cache.string();
    out["CCACHE_MAXSIZE"] = std::to_string(folders.bytes);
    out["CCACHE_BASEDIR"] = folders.tree.string();
    out["CCACHE_NOHASHDIR"] = "1";
    out["CCACHE_COMPILERCHECK"] = "content";
    out["CCACHE_STATSLOG"] = folders.log.string();
  } else {
    out["SCCACHE_DIR"] = folders.cache.string();
    out["SCCACHE_CACHE_SIZE"] = std::to_string(folders.bytes);
    out["SCCACHE_SERVER_PORT"] = sccache_port(folders.cache);
  }
  return out;
}

std::string with_cache_server(const CompilerCache& cache, const fs::path& statistics,
                              const std::string& script) {
  if (cache.program != "sccache") return script;
  const std::string program = "'" + cache.path.string() + "'";
  return program + " --stop-server >/dev/null 2>&1\n" + program +
         " --start-server >/dev/null || exit 126\n(\n" + script + ")\nstatus=$?\n" + program +
         " --show-stats --stats-format=json >'" + statistics.string() + "'\n" + program +
         " --stop-server >/dev/null 2>&1\nexit $status\n";
}

CacheStatistics statistics_of(const CompilerCache& cache, const fs::path& log) {
  const std::string text = read_file(log).value_or("");
  if (cache.program == "ccache") return parse_ccache_log(text);
  return cache.program == "sccache" ? parse_sccache_statistics(text) : CacheStatistics();
}

CacheStatistics parse_ccache_log(std::string_view log) {
  CacheStatistics out{"ccache", {}, {}};
  CacheCounts* counts = &out.cxx;
  while (!log.empty()) {
    const auto end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line.starts_with("# ")) counts = is_cuda(line) ? &out.cuda : &out.cxx;
    if (line == "direct_cache_hit" || line == "preprocessed_cache_hit") ++counts->hits;
    if (line == "cache_miss") ++counts->misses;
  }
  return out;
}

CacheStatistics parse_sccache_statistics(std::string_view text) {
  CacheStatistics out{"sccache", {}, {}};
  const auto json = parse_foreign(text);
  if (!json.is_object() || !json.contains("stats") || !json["stats"].is_object()) return out;
  const auto& stats = json["stats"];
  out.cxx = {counted(stats, "cache_hits", false), counted(stats, "cache_misses", false)};
  out.cuda = {counted(stats, "cache_hits", true), counted(stats, "cache_misses", true)};
  return out;
}

}  // namespace nightjar::runner
