// What no measurement tells: the commits, their wheels, and how fast each commit is on each of
// them.
#pragma once

#include <string>
#include <vector>

#include "service/builds/artifacts.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"
#include "tests/simulation/plan.hpp"
#include "tests/simulation/random.hpp"
#include "tests/support/literal_graph.hpp"

namespace nightjar::simulation {

// A commit, and the wheel that it is laid over.
struct Measured {
  int position = 0;  // on main
  int nightly = -1;  // day of the nightly whose wheel it is; -1: CI's
};
// What a claimed session measures: each of its environments.
struct Positions {
  std::vector<Measured> of_environments;
  int machine_class = 0;
};

class Truth {
 public:
  explicit Truth(const Plan& plan);

  // The day's commits, a nightly of the last one, and CI's wheels. They go to `artifacts`. `now`:
  // when they are found.
  void next_day(int commits, const std::string& date, service::Artifacts& artifacts, Time now);
  // All wheels so far, as discovery stores them once it has judged them.
  const std::vector<Build>& wheels() const { return wheels_; }
  const git::LiteralGraph& graph() const { return graph_; }

  int position(const CommitSha& commit) const;  // on main; -1: not there
  const CommitSha& commit(int position) const {
    return commits_.at(static_cast<std::size_t>(position));
  }
  int head() const { return static_cast<int>(commits_.size()) - 1; }
  int nightly(const Build& wheel) const;  // its day; -1: it is CI's
  // Seconds or bytes, without noise.
  double level(const Measured& what, int machine_class, const std::string& workload,
               const std::string& metric) const;
  bool imports(int position) const { return !plan_.broken.contains(position); }
  // Whether it imports and there is a wheel of its native group.
  bool is_testable(int position) const;

  // What an agent measures in a session that begins now, by its clock.
  SessionResult measure(const JobSpec& spec, const Positions& where, Time now,
                        Random& random) const;

 private:
  RunResult measure_run(const JobSpec& spec, const PlannedRun& planned, const Positions& where,
                        Random& random) const;

  int group(int position) const;  // native groups are numbered from 0
  void add_ci_wheel(int position, service::Artifacts& artifacts, Time now);

  const Plan& plan_;
  git::LiteralGraph graph_;
  std::vector<CommitSha> commits_;
  std::vector<Build> wheels_;
  std::vector<std::string> nightlies_;  // versions
};

}  // namespace nightjar::simulation
