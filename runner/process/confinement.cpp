#include "runner/process/confinement.hpp"

#include <algorithm>

#include "runner/process/process.hpp"
#include "storage/base/foreign_text.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

constexpr const char* program_name = "nightjar-confine";
constexpr const char* prefix = "nightjar-confine: ";
constexpr int exit_failed = 125;  // its exit code where the command never ran, and of nothing else
constexpr int threads_each =
    4;  // of a process on average: a pool of a hundred, beside many small ones

fs::path confiner() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path() / program_name;
}

}  // namespace

std::vector<std::string> confined_command(const ProcessSpec& spec, const Confinement& confinement) {
  std::vector<std::string> words{confiner().string()};
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  const auto add_all = [&](const char* option, const std::vector<fs::path>& paths) {
    for (const fs::path& path : paths)
      if (path.is_absolute() && path.has_relative_path()) add(option, path.string());
  };
  add_all("--show", confinement.shown);
  add_all("--write", confinement.written);
  add_all("--scratch", confinement.scratch);
  add_all("--hide", confinement.hidden);
  add("--scratch-bytes", std::to_string(confinement.scratch_bytes));
  add("--threads", std::to_string(spec.processes * threads_each));
  if (!spec.folder.empty()) add("--folder", spec.folder.string());
  for (const auto& [name, value] : spec.environment) add("--set", name + "=" + value);
  words.push_back("--");
  words.insert(words.end(), spec.command.begin(), spec.command.end());
  return words;
}

void note_confinement_failure(ProcessResult& result) {
  if (result.exit_code != exit_failed) return;
  const auto begin = result.output.find(prefix);
  if (begin == std::string::npos) {
    result.start_error = "cannot confine the process: nightjar-confine ended without a word";
    return;
  }
  const std::string said = result.output.substr(begin + std::string_view(prefix).size());
  result.start_error = one_line(said.substr(0, said.find('\n')));
}

std::string confinement_problem() {
  std::error_code error;
  if (!fs::exists(confiner(), error))
    return "there is no program " + confiner().string() + " beside this one";
  ProcessSpec spec;
  spec.command = {"true"};
  spec.environment = clean_environment("/tmp");
  spec.timeout_seconds = 30;
  const ProcessResult result = run_untrusted(spec, Confinement{});
  return result.fine() ? "" : result.describe();
}

}  // namespace nightjar::runner
