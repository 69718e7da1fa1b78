#include "bisect/cli/work_trees.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include "bisect/cli/failure.hpp"
#include "bisect/cli/shell.hpp"
#include "runner/failure.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

constexpr int kUntestable = 125;  // as git bisect run has it

double number_of(const std::string& line, const std::string& what) {
  double value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  const bool whole = error == std::errc() && end == line.data() + line.size();
  if (line.empty()) throw Broken(what + " printed nothing; its last line must be one number");
  if (!whole)
    throw Broken(what + " printed '" + line.substr(0, 80) + "'; its last line must be one number");
  if (!std::isfinite(value) || value <= 0)
    throw Broken(what + " printed " + line.substr(0, 80) + "; the number must be positive and finite");
  return value;
}

}  // namespace

WorkTrees::WorkTrees(const SourceRepository& repository, const BisectOptions& options,
                     std::stop_token stop)
    : repository_(repository), options_(options), stop_(std::move(stop)) {
  std::string name = (fs::temp_directory_path() / "nightjar-bisect-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    throw Broken("cannot make a folder in " + fs::temp_directory_path().string() +
                 " for work trees; TMPDIR names another place");
  folder_ = name;
}

WorkTrees::~WorkTrees() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string WorkTrees::make(const std::string& commit) {
  repository_.check_out(commit, folder_ / commit);
  if (stop_.stop_requested()) throw runner::Stopped();
  if (options_.build.empty()) return "";
  const Ran ran = run_command(options_.build, folder_ / commit, commit, options_.timeout_seconds, stop_);
  if (ran.process.stopped) throw runner::Stopped();
  return ran.process.fine() ? "" : "it does not build: " + ran.process.describe();
}

Measured WorkTrees::measure(const std::string& commit) {
  auto built = built_.find(commit);
  if (built == built_.end()) built = built_.emplace(commit, make(commit)).first;
  if (!built->second.empty()) return {std::nullopt, built->second};
  const Ran ran = run_command(options_.measure, folder_ / commit, commit, options_.timeout_seconds, stop_);
  const auto& process = ran.process;
  if (process.stopped) throw runner::Stopped();
  if (process.exit_code == kUntestable) return {std::nullopt, "its measure says so (exit code 125)"};
  if (!process.flooded.empty()) return {std::nullopt, "its measure prints too much output"};
  if (process.timed_out) return {std::nullopt, "its measure " + process.describe()};
  const std::string what = "the measure of " + commit.substr(0, 12);
  if (!process.fine())
    throw Broken(what + " " + process.describe() + "; exit code 125 says that a commit is untestable");
  return {number_of(ran.last_line(), what), ""};
}

}  // namespace nightjar::cli
