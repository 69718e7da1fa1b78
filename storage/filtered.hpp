// Lists by the columns that people filter by. Used by the REST interface.
#pragma once

#include <optional>
#include <string>

#include "storage/database.hpp"
#include "storage/jobs.hpp"
#include "storage/marks.hpp"
#include "storage/model/build.hpp"
#include "storage/model/domain.hpp"
#include "storage/model/night.hpp"
#include "storage/model/regression.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

struct BuildFilter {
  std::optional<BuildKind> kind;
  std::optional<BuildState> state;
  std::optional<std::string> date;    // "2026-08-20"
  std::optional<std::string> commit;  // its first hexadecimal digits
  template <class Where>
  void conditions(Where where) const {
    where("kind = ?", kind);
    where("state = ?", state);
    where("date = ?", date);
    where("commit_sha GLOB ? || '*'", commit);
  }
};
Page<Build> list_builds(const Database& db, const BuildFilter& filter, const PageRequest& page);

struct NightFilter {
  std::optional<NightState> state;
  std::optional<BuildId> build;
  std::optional<Time> since;  // begun then or later
  template <class Where>
  void conditions(Where where) const {
    where("state = ?", state);
    where("build = ?", build);
    where("started_at_us >= ?", since);
  }
};
Page<Night> list_nights(const Database& db, const NightFilter& filter, const PageRequest& page);

struct ListedJob : Job {
  // The variant of its builds. nullopt if none of them is stored, or if the job ended before
  // variants were kept.
  std::optional<std::string> variant = {};
};
Page<ListedJob> listed_jobs(const Database& db, const JobFilter& filter, const PageRequest& page);
std::optional<ListedJob> find_listed_job(const Database& db, JobId id);

struct ImprovementFilter {
  std::optional<Time> since;
  std::optional<std::string> metric;
  WorkloadFilter workload;
  std::optional<MachineId> machine;
  std::optional<CommitSha> commit;  // that a search named for it, not one of a range
  template <class Where>
  void conditions(Where where) const {
    where("at_us >= ?", since);
    where("(SELECT metric FROM series WHERE series.id = improvement.series) = ?", metric);
    where("(SELECT " IS_AMONG("series.workload") " FROM series "
          "WHERE series.id = improvement.series)", workload);
    where("(SELECT machine FROM series WHERE series.id = improvement.series) = ?", machine);
    where(
        "(build, (SELECT machine FROM series WHERE series.id = improvement.series)) IN "
        "(SELECT build, machine FROM fix_search "
        "JOIN fix_cause ON fix_cause.fix_search = fix_search.id AND is_range = 0 "
        "JOIN fix_cause_commit ON fix_cause_commit.fix_cause = fix_cause.id "
        "WHERE commit_sha = ?)",
        commit);
  }
};
Page<Improvement> list_improvements(const Database& db, const ImprovementFilter& filter,
                                    const PageRequest& page);

struct BisectionFilter {
  std::optional<BisectionState> state;
  WorkloadFilter workload = {};  // of the series that it measures
  template <class Where>
  void conditions(Where where) const {
    where("state = ?", state);
    where("(SELECT " IS_AMONG("series.workload") " FROM series WHERE series.id = bisection.series)",
          workload);
  }
};
Page<Bisection> list_bisections(const Database& db, const BisectionFilter& filter,
                                const PageRequest& page);

}  // namespace nightjar::storage
