// What suites came to on each night. A night is summed up once it is over, and again if an import
// adds values to it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/domain.hpp"
#include "storage/model/job.hpp"
#include "storage/model/suite.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

// Nights that are done and not summed up, in the order in which they began, at most `limit`.
std::vector<NightId> nights_to_sum_up(const Database& db, int limit);

// One screening run of the night's build, in a session that counts, and its value in each series
// that a suite is made of, by metric.
struct SuiteRun {
  MachineId machine;
  WorkloadId workload;
  std::string name;  // of the workload
  int version = 1;
  RunStatus status = RunStatus::measured;
  std::optional<Accuracy> accuracy = {};
  std::map<std::string, double> values = {};
};
std::vector<SuiteRun> suite_runs(const Database& db, NightId night);

struct SummedSuite {
  SuiteSummary summary;
  std::vector<SuiteMember> members;
};
// Returns the suite's summaries of nights that began before this one, newest first, at most
// `limit`.
std::vector<SummedSuite> suites_before(const Database& db, const SuiteKey& key, Time at,
                                       NightId night, int limit);
// Stores the night's suites in place of those of the same key, and that the night is summed up.
void store_suites(Transaction& transaction, NightId night, const std::vector<SummedSuite>& suites);
// The imported nights of this machine class from `since` on got other values, or an earlier night
// to be held against.
void sum_up_again(Transaction& transaction, MachineId machine, Time since);

struct SuiteFilter {
  std::optional<NightId> night = {};
  std::optional<MachineId> machine = {};
  std::optional<Time> since = {};  // the night began then or later
  std::optional<std::string> suite = {}, task = {}, device = {}, precision = {}, backend = {};
  std::optional<SuiteVerdict> verdict = {};  // of one of its means
  template <class Where>
  void conditions(Where where) const {
    where("suite_summary.night = ?", night);
    where("suite_summary.machine = ?", machine);
    where("suite_summary.at_us >= ?", since);
    where("suite_summary.suite = ?", suite);
    where("suite_summary.task = ?", task);
    where("suite_summary.device = ?", device);
    where("suite_summary.precision = ?", precision);
    where("suite_summary.backend = ?", backend);
    where(
        "EXISTS (SELECT 1 FROM suite_mean WHERE suite_mean.summary = suite_summary.id "
        "AND suite_mean.verdict = ?)",
        verdict);
  }
};
Page<SuiteSummary> list_suites(const Database& db, const SuiteFilter& filter,
                               const PageRequest& page);
std::optional<SuiteSummary> find_suite(const Database& db, SuiteId id);

struct MemberFilter {
  std::optional<SuiteId> summary = {};
  std::optional<NightId> night = {};
  WorkloadFilter workload = {};
  template <class Where>
  void conditions(Where where) const {
    where("suite_member.summary = ?", summary);
    where("suite_summary.night = ?", night);
    where(IS_AMONG("suite_member.workload"), workload);
  }
};
Page<SuiteMember> list_members(const Database& db, const MemberFilter& filter,
                               const PageRequest& page);

}  // namespace nightjar::storage
