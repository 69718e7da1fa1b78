#include "runner/make/build_failure.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <system_error>

#include "storage/base/pattern.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {
constexpr std::int64_t full_disk = 64LL << 20;
constexpr std::size_t tail = 64 << 10;  // bytes of the log that are looked at
constexpr std::size_t longest_error_line = 400;

struct Sign {
  std::string_view text;
  const char* meaning;
};

// What compilers, linkers, git, pip and CMake print when the machine is at fault. Each is specific
// enough that no code prints it, whether it compiles or not.
constexpr std::array signs = {
    Sign{"No space left on device", "the disk is full"},
    Sign{"Disk quota exceeded", "the disk quota is used up"},
    Sign{"Read-only file system", "the disk cannot be written"},
    Sign{"Input/output error", "the disk failed"},
    Sign{"Stale file handle", "the disk failed"},
    Sign{"Too many open files", "too many files were open"},
    Sign{"Killed signal terminated program", "a compiler was killed"},
    Sign{"fatal error: Killed", "a compiler was killed"},
    Sign{"Terminated signal terminated program", "a compiler was ended"},
    Sign{"Segmentation fault signal terminated program", "the compiler itself crashed"},
    Sign{"collect2: fatal error: ld terminated with signal 9", "the linker was killed"},
    Sign{"virtual memory exhausted", "memory ran out"},
    Sign{"out of memory allocating", "memory ran out"},
    Sign{"LLVM ERROR: out of memory", "memory ran out"},
    Sign{"Cannot allocate memory", "memory ran out"},
    Sign{"fork: Resource temporarily unavailable", "no more processes could be started"},
    Sign{"Could not resolve host", "the network was away"},
    Sign{"Temporary failure in name resolution", "the network was away"},
    Sign{"Name or service not known", "the network was away"},
    Sign{"Network is unreachable", "the network was away"},
    Sign{"Failed to establish a new connection", "the network was away"},
    Sign{"Connection timed out", "the network was away"},
    Sign{"Connection reset by peer", "the network was away"},
    Sign{"Could not find a version that satisfies the requirement", "a package was not to be had"},
    Sign{"Max retries exceeded with url", "a download failed"},
    Sign{"ReadTimeoutError", "a download failed"},
    Sign{"The requested URL returned error", "a download failed"},
    Sign{"fetch-pack: unexpected disconnect", "a download failed"},
    Sign{"No CMAKE_C_COMPILER could be found", "there is no C compiler"},
    Sign{"No CMAKE_CXX_COMPILER could be found", "there is no C++ compiler"},
    Sign{"No CMAKE_CUDA_COMPILER could be found", "there is no CUDA compiler"},
    Sign{"C++ compiler not found on this system", "there is no C++ compiler"},
    Sign{"sccache: error: ", "sccache failed"},
    Sign{"ccache: error: ", "ccache failed"},
};

std::string line_at(std::string_view text, std::size_t at) {
  const auto begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  return std::string(text.substr(begin, std::min(text.find('\n', at) - begin, longest_error_line)));
}

// "x.cpp:3:14: error: ..." of gcc and clang, "x.cu(3): error: ..." of nvcc: the file, else empty.
std::string file_with_error(const std::string& line) {
  static const Pattern pattern(R"(^\s*([^\s:()][^:()]*)(:\d+(:\d+)?|\(\d+\)): error: )");
  const auto found = pattern.search(line);
  return found ? found->at(1) : std::string();
}

// A header that is missing, or one of a library, may be missing from the machine.
bool is_of_the_tree(const std::string& line, const fs::path& tree) {
  const std::string file = file_with_error(line);
  std::error_code error;
  if (file.empty()) return false;
  const fs::path path =
      fs::weakly_canonical(fs::path(file).is_absolute() ? fs::path(file) : tree / file, error);
  const std::string below = fs::weakly_canonical(tree, error).string() + "/";
  return path.string().starts_with(below) && fs::exists(path, error);
}

bool is_exception(const std::string& line) {
  static const Pattern pattern(R"(^\s*([A-Za-z_]+\.)*[A-Z][A-Za-z]*(Error|Exception): )");
  return pattern.search(line).has_value();
}

// How much a line tells; 0 tells most.
int rank_of(const std::string& line, const fs::path& tree) {
  const auto has = [&](const char* text) { return line.find(text) != std::string::npos; };
  if (is_of_the_tree(line, tree)) return 0;
  if (!file_with_error(line).empty() || has("fatal error: ")) return 1;
  if (has("undefined reference to") || has("CMake Error") || has("ld: cannot find")) return 2;
  if (is_exception(line)) return 3;
  return 4;
}

std::optional<std::string> sign_in(std::string_view log) {
  log.remove_prefix(log.size() - std::min(log.size(), tail));
  for (const Sign& sign : signs)
    if (const auto at = log.find(sign.text); at != std::string_view::npos)
      return std::string(sign.meaning) + ": " + line_at(log, at);
  // "error: command 'g++' failed: No such file or directory" is setuptools without a compiler.
  const auto command = log.find("error: command '");
  if (command != std::string_view::npos) {
    const std::string line = line_at(log, command);
    if (line.ends_with("failed: No such file or directory")) return "there is no compiler: " + line;
  }
  return std::nullopt;
}

}  // namespace

std::string telling_line(std::string_view log, const fs::path& tree) {
  std::string best;
  int best_rank = 4;
  for (std::size_t at = 0; at < log.size() && best_rank > 0;
       at = std::min(log.find('\n', at), log.size()) + 1) {
    std::string line = line_at(log, at);
    if (line.find("error") == std::string::npos && line.find("Error") == std::string::npos &&
        line.find("undefined reference") == std::string::npos)
      continue;
    const int rank = rank_of(line, tree);
    if (rank > best_rank || (rank == best_rank && rank != 3)) continue;
    best_rank = rank;
    best = std::move(line);
  }
  while (!log.empty() && std::isspace(static_cast<unsigned char>(log.back())) != 0)
    log.remove_suffix(1);
  if (best.empty()) best = log.empty() ? "it printed nothing" : line_at(log, log.size() - 1);
  return best.substr(std::min(best.find_first_not_of(" \t"), best.size()));
}

std::optional<std::string> machine_failure(const ProcessResult& process, const BuildFacts& facts) {
  if (!process.start_error.empty() || process.timed_out || process.out_of_memory ||
      !process.flooded.empty() || process.stopped || process.signal != 0)
    return process.describe();
  const std::string telling = telling_line(process.output, facts.tree);
  if (process.exit_code == 126 || process.exit_code == 127)
    return "a command of the recipe cannot be run here: " + telling;
  if (process.oom_kills > 0)
    return "the kernel ran out of memory and ended " + std::to_string(process.oom_kills) +
           " processes meanwhile";
  if (facts.free_bytes < full_disk) return "the disk is full";
  if (auto sign = sign_in(process.output)) return sign;
  if (facts.proven || is_of_the_tree(telling, facts.tree)) return std::nullopt;
  return telling + " (nothing was built here with this recipe yet, so the machine may be at fault)";
}

}  // namespace nightjar::runner
