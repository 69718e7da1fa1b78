// What a search measures: the positions of a line, each made once and measured many times. Used by
// search_loop.hpp; positions are commits (work_trees.hpp) or versions (bisect_versions.cpp).
#pragma once

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "service/cli/bisect_run.hpp"
#include "service/cli/measured_values.hpp"
#include "service/cli/shell.hpp"

namespace nightjar::cli {

struct Measurement {
  std::vector<MeasuredValue> values;  // of a search for failures: 1, or 0 if it passed
  std::string untestable = {};        // why the position cannot be made or does not build
  std::string lost = {};              // why this run gave no number; others may
  bool is_broken = false;             // if all are lost, the measure is to blame, not the position
  std::string advice = {};            // what to do then
};

class Bench {
 public:
  virtual ~Bench() = default;
  // Makes those positions that are not made yet. Throws as measure() does.
  virtual void prepare(const std::vector<std::string>& positions) = 0;
  // Makes the position if that was not done yet, then measures once. Throws Broken if none can be
  // made at all, runner::Stopped after a stop.
  virtual Measurement measure(const std::string& position) = 0;

  // Empty if the position is made, or why it cannot be tested; only after prepare().
  const std::string& problem(const std::string& position) const { return made_.at(position); }
  int builds() const { return static_cast<int>(made_.size()); }

 protected:
  std::map<std::string, std::string> made_;  // by position: empty, or why it is untestable
};

// Runs the measure once. Throws runner::Stopped. `missing`: the advice where the measure did not
// find a file.
Measurement measure_once(const BisectOptions& options, const WorkPlace& work,
                         const std::string& missing, std::stop_token stop);

// A folder where TMPDIR says, or the system; removed with all that is in it.
class TemporaryFolder {
 public:
  // Throws Broken, with what it is `wanted_for`.
  explicit TemporaryFolder(const std::string& wanted_for);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// A commit's id as people shorten it; a version as it is.
std::string short_name(const std::string& position);

}  // namespace nightjar::cli
