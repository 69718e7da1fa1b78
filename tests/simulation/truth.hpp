// What no measurement tells: the commits, their nightlies, and how fast each commit is.
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

// What a claimed session measures: the position on main of each of its environments.
struct Positions {
  std::vector<int> of_environments;
  int machine_class = 0;
};

class Truth {
 public:
  explicit Truth(const Plan& plan);

  // The day's commits, and a nightly of the last one. Its wheel goes to `artifacts`. `now`: when it
  // is found.
  void next_day(int commits, const std::string& date, service::Artifacts& artifacts, Time now);
  // All nightlies so far, as discovery stores them once it has proved them.
  const std::vector<Build>& nightlies() const { return nightlies_; }
  const git::LiteralGraph& graph() const { return graph_; }

  int position(const CommitSha& commit) const;  // on main; -1: not there
  const CommitSha& commit(int position) const {
    return commits_.at(static_cast<std::size_t>(position));
  }
  int head() const { return static_cast<int>(commits_.size()) - 1; }
  // Seconds or bytes, without noise.
  double level(int position, int machine_class, const std::string& workload,
               const std::string& metric) const;
  bool imports(int position) const { return !plan_.broken.contains(position); }

  // What an agent measures in a session that begins now, by its clock.
  SessionResult measure(const JobSpec& spec, const Positions& where, Time now,
                        Random& random) const;

 private:
  RunResult measure_run(const JobSpec& spec, const PlannedRun& planned, const Positions& where,
                        Random& random) const;

  const Plan& plan_;
  git::LiteralGraph graph_;
  std::vector<CommitSha> commits_;
  std::vector<Build> nightlies_;
};

}  // namespace nightjar::simulation
