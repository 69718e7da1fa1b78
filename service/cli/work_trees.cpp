#include "service/cli/work_trees.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "runner/process/failure.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/result_file.hpp"
#include "service/cli/shell.hpp"
#include "storage/base/files.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

const std::string broken = "it does not build: ";

// Where a build removed its .git, git must not find a repository around the work trees.
std::string ceiling_above(const fs::path& folder) {
  const char* own = std::getenv("GIT_CEILING_DIRECTORIES");
  return folder.string() + (own && *own ? std::string(":") + own : "");
}

}  // namespace

WorkTrees::WorkTrees(const SourceRepository& repository, const BisectOptions& options,
                     std::stop_token stop)
    : options_(options),
      stop_(stop),
      folder_("work trees"),
      ceiling_(ceiling_above(folder_.path())),
      maker_(repository, folder_ / "git", stop) {}

WorkTrees::~WorkTrees() {
  std::error_code ignored;
  if (options_.source.file.is_absolute()) fs::remove_all(options_.source.file, ignored);
}

WorkPlace WorkTrees::work_of(const std::string& commit) const {
  return {folder_ / commit, {{"NIGHTJAR_COMMIT", commit}, {"GIT_CEILING_DIRECTORIES", ceiling_}}};
}

std::string WorkTrees::build(const std::string& commit) {
  const Ran ran = run_command(options_.build, work_of(commit), options_.timeout_seconds, stop_);
  if (ran.process.stopped) throw runner::Stopped();
  return ran.process.fine() ? "" : broken + ran.process.describe();
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
  const Ran ran = run_command(script, {folder_.path(), {{"GIT_CEILING_DIRECTORIES", ceiling_}}},
                              options_.timeout_seconds, stop_);
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
    made_[commit] = one.fine() ? "" : broken + one.describe();
  }
}

void WorkTrees::prepare(const std::vector<std::string>& commits) {
  std::vector<std::string> waiting;
  for (const std::string& commit : commits) {
    if (made_.contains(commit)) continue;
    const std::string problem = maker_.make(commit, folder_ / commit);
    if (problem.empty())
      waiting.push_back(commit);
    else
      made_[commit] = problem;
  }
  if (options_.build.empty()) {
    for (const std::string& commit : waiting) made_[commit] = "";
    return;
  }
  const auto jobs = static_cast<std::size_t>(options_.jobs);
  for (std::size_t first = 0; first < waiting.size(); first += jobs) {
    const auto begin = waiting.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t count = std::min(jobs, waiting.size() - first);
    if (count == 1)
      made_[*begin] = build(*begin);
    else
      build_at_once({begin, begin + static_cast<std::ptrdiff_t>(count)});
  }
}

Measurement WorkTrees::measure(const std::string& commit) {
  prepare({commit});
  if (!problem(commit).empty()) return {{}, problem(commit)};
  const WorkPlace work = work_of(commit);
  if (!options_.source.file.empty()) remove_result(options_.source.file, work.folder);
  return measure_once(
      options_, work,
      "it runs in a work tree of the commit: name a script that is elsewhere by its absolute path",
      stop_);
}

}  // namespace nightjar::cli
