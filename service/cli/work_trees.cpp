#include "service/cli/work_trees.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "runner/process/failure.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/result_file.hpp"
#include "service/cli/shell.hpp"
#include "storage/base/files.hpp"
#include "storage/base/foreign_text.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

constexpr int kUntestable = 125;  // as git bisect run has it
const std::string kBroken = "it does not build: ";

CommitMeasurement lost(const std::string& why, bool is_broken = false) {
  return {{}, {}, one_line(why), is_broken, {}};
}

// Makes a folder for work trees where TMPDIR says, or the system.
fs::path temporary_folder() {
  const char* named = std::getenv("TMPDIR");
  const fs::path place = fs::absolute(named && *named ? named : "/tmp").lexically_normal();
  std::string name = (place / "nightjar-bisect-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    throw Broken("cannot make a folder in " + place.string() +
                 " for work trees: " + std::strerror(errno) + "; TMPDIR names another place");
  return fs::canonical(name);
}

}  // namespace

WorkTrees::WorkTrees(const SourceRepository& repository, const BisectOptions& options,
                     std::stop_token stop)
    : options_(options),
      stop_(stop),
      folder_(temporary_folder()),
      maker_(repository, folder_ / "git", stop) {}

WorkTrees::~WorkTrees() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  if (options_.source.file.is_absolute()) fs::remove_all(options_.source.file, ignored);
}

std::string WorkTrees::build(const std::string& commit) {
  const Ran ran =
      run_command(options_.build, folder_ / commit, commit, options_.timeout_seconds, stop_);
  if (ran.process.stopped) throw runner::Stopped();
  return ran.process.fine() ? "" : kBroken + ran.process.describe();
}

// One guarded family of processes for the whole round, whose members leave a status and the end of
// what they said.
void WorkTrees::build_at_once(const std::vector<std::string>& commits) {
  std::ofstream(folder_ / "build.sh") << options_.build;
  std::string script = "root=$PWD; build=$(cat build.sh); for commit in";
  for (const std::string& commit : commits) script += " " + commit;
  script += R"(; do
  (cd "$root/$commit" && NIGHTJAR_COMMIT=$commit sh -c "$build"; echo $? > "$root/$commit.status") \
    < /dev/null 2>&1 | tail -c 4000 > "$root/$commit.log" &
done; wait)";
  const Ran ran = run_command(script, folder_, commits.front(), options_.timeout_seconds, stop_);
  if (ran.process.stopped) throw runner::Stopped();
  for (const std::string& commit : commits) {
    std::ifstream status(folder_ / (commit + ".status"));
    runner::ProcessResult one;
    one.timed_out = ran.process.timed_out;
    one.seconds = ran.process.seconds;
    if (int code = 0; status >> code) {
      one.timed_out = false;
      one.exit_code = code;
    }
    one.output = read_file(folder_ / (commit + ".log")).value_or("");
    built_[commit] = one.fine() ? "" : kBroken + one.describe();
  }
}

void WorkTrees::prepare(const std::vector<std::string>& commits) {
  std::vector<std::string> waiting;
  for (const std::string& commit : commits) {
    if (built_.contains(commit)) continue;
    const std::string problem = maker_.make(commit, folder_ / commit);
    if (problem.empty())
      waiting.push_back(commit);
    else
      built_[commit] = problem;
  }
  if (options_.build.empty()) {
    for (const std::string& commit : waiting) built_[commit] = "";
    return;
  }
  const auto jobs = static_cast<std::size_t>(options_.jobs);
  for (std::size_t first = 0; first < waiting.size(); first += jobs) {
    const auto begin = waiting.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t count = std::min(jobs, waiting.size() - first);
    if (count == 1)
      built_[*begin] = build(*begin);
    else
      build_at_once({begin, begin + static_cast<std::ptrdiff_t>(count)});
  }
}

CommitMeasurement WorkTrees::numbers_of(const std::string& commit, const std::string& output) {
  Measured measured = measured_values(options_.source, folder_ / commit, output);
  if (!measured.problem.empty()) return lost(measured.problem, true);
  CommitMeasurement out;
  out.values = std::move(measured.values);
  return out;
}

CommitMeasurement WorkTrees::measure(const std::string& commit) {
  prepare({commit});
  if (!problem(commit).empty()) return {{}, problem(commit)};
  if (!options_.source.file.empty()) remove_result(options_.source.file, folder_ / commit);
  const Ran ran =
      run_command(options_.measure, folder_ / commit, commit, options_.timeout_seconds, stop_);
  const auto& process = ran.process;
  if (process.stopped) throw runner::Stopped();
  if (process.exit_code == kUntestable) return lost("says that it is untestable (exit code 125)");
  if (!process.flooded.empty()) return lost("prints too much output");
  if (seeks_failures(options_))
    return {{{"", "", Direction::lower_is_better, process.fine() ? 0.0 : 1.0, ""}}};
  if (process.timed_out) return lost(process.describe());
  if (process.fine()) return numbers_of(commit, ran.output);
  const bool missing =
      process.exit_code == 127 || process.output.find("No such file") != std::string::npos;
  CommitMeasurement broken = lost(process.describe(), true);
  broken.advice = missing ? "; it runs in a work tree of the commit: name a script that is "
                            "elsewhere by its absolute path"
                          : "; exit code 125 says that a commit is untestable";
  return broken;
}

}  // namespace nightjar::cli
