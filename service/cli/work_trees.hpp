// A work tree and a build for each commit that is asked for, made once, removed at the end.
#pragma once

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "service/cli/bisect_run.hpp"
#include "service/cli/measured_values.hpp"
#include "service/cli/tree_maker.hpp"

namespace nightjar::cli {

struct CommitMeasurement {
  std::vector<MeasuredValue> values;  // of a search for failures: 1, or 0 if it passed
  std::string untestable = {};        // why the commit has no work tree or does not build
  std::string lost = {};              // why this run gave no number; others may
  bool is_broken = false;             // if all are lost, the measure is to blame, not the commit
  std::string advice = {};            // what to do then
};

class WorkTrees {
 public:
  // Makes a folder below the system's one for temporary files; the destructor removes it.
  WorkTrees(const SourceRepository& repository, const BisectOptions& options, std::stop_token stop);
  ~WorkTrees();
  WorkTrees(const WorkTrees&) = delete;
  WorkTrees& operator=(const WorkTrees&) = delete;

  // Checks out and builds those commits that are not yet, `jobs` at once. Throws as measure() does.
  void prepare(const std::vector<std::string>& commits);
  // Empty if the commit is built, or why it cannot be tested; only after prepare().
  const std::string& problem(const std::string& commit) const { return built_.at(commit); }
  // Checks out and builds the commit if that was not done yet, then measures once. Throws Broken if
  // no work tree can be made at all, runner::Stopped after a stop.
  CommitMeasurement measure(const std::string& commit);
  int builds() const { return static_cast<int>(built_.size()); }

 private:
  // Empty, or why the commit cannot be tested.
  std::string build(const std::string& commit);
  CommitMeasurement numbers_of(const std::string& commit, const std::string& output);
  void build_at_once(const std::vector<std::string>& commits);

  const BisectOptions& options_;
  std::stop_token stop_;
  const std::filesystem::path folder_;
  TreeMaker maker_;
  std::map<std::string, std::string> built_;  // by commit: empty, or why it is untestable
};

}  // namespace nightjar::cli
