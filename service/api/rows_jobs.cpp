#include <algorithm>
#include <filesystem>

#include "service/api/rows.hpp"
#include "service/builds/uploads.hpp"
#include "service/engine/jobs/live_runners.hpp"
#include "service/engine/outcome/repairs.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/calibration.hpp"
#include "storage/fixes.hpp"
#include "storage/jobs.hpp"
#include "storage/many_series.hpp"
#include "storage/runners.hpp"
#include "storage/source_builds.hpp"

namespace nightjar::service::api {
using nlohmann::json;
using storage::AuditEntry;
using storage::Improvement;
using storage::ListedJob;
using storage::Mark;
namespace {

using JobCounts = std::map<JobState, int>;

const Row<MachineFacts>& facts_row() {
  static const Row<MachineFacts> made("MachineFacts", "What a machine class was from some time on.",
                                      {{"id", &MachineFacts::id},
                                       {"facts", &MachineFacts::facts},
                                       {"first_seen", &MachineFacts::first_seen}});
  return made;
}

const Row<MachineClass>& machine_row() {
  static const Row<MachineClass> made(
      "Machine", "A machine class.",
      {{"id", &MachineClass::id},
       {"fingerprint", &MachineClass::fingerprint,
        "The fingerprint of the facts that define the class."},
       {"facts", &MachineClass::facts, "As the runner that registered last gave them."},
       {"history",
        [](const MachineClass& machine, Rows& rows) {
          return storage::facts_of_machine(rows.db, machine.id);
        },
        facts_row(), "All that it ever had, the oldest first."}});
  return made;
}

const Row<EnvironmentSpec>& environment_row() {
  static const Row<EnvironmentSpec> made(
      "JobEnvironment", "A build that a job measures.",
      {{"build", &EnvironmentSpec::build}, {"version", &EnvironmentSpec::version}});
  return made;
}

const Row<ControlReading>& control_row() {
  static const Row<ControlReading> made(
      "ControlReading", "How far the machine moved in a session of screening, by one control.",
      {{"gauge", &ControlReading::gauge},
       {"within", &ControlReading::within, "Standard deviation of the logs of its runs."},
       {"moved", &ControlReading::moved,
        "Log of its level over that of the nights before; null: too few of them to know."},
       {"unrest", &ControlReading::unrest,
        "Standard deviation of logs: what its runs differ by beyond nine in ten sessions of the "
        "nights before; null: too few of them to know."}});
  return made;
}

std::vector<ControlReading> controls_of(const Job& job, Rows& rows) {
  return storage::readings_of(rows.db, job.id);
}

const Row<JobCounts>& counts_row() {
  static const Row<JobCounts> made = [] {
    Row<JobCounts>::Fields fields;
    for (const JobState state : all_of<JobState>())
      fields.emplace_back(std::string(name_of(state)).c_str(), [state](const JobCounts& counts) {
        const auto found = counts.find(state);
        return found == counts.end() ? 0 : found->second;
      });
    return Row<JobCounts>("JobCounts", "Jobs by state.", std::move(fields));
  }();
  return made;
}

const Row<storage::SourceBuild>& source_build_row() {
  using storage::SourceBuild;
  static const Row<SourceBuild> made(
      "SourceBuild",
      "A wheel that a builder makes of a commit, for all commits of its native state.",
      {{"native_state", &SourceBuild::native_state},
       {"variant", &SourceBuild::variant},
       {"recipe_sha256", &SourceBuild::recipe_sha256},
       {"commit", &SourceBuild::commit},
       {"state", &SourceBuild::state},
       {"build", &SourceBuild::build, "Once it is built."},
       {"reason", or_null(&SourceBuild::reason), "The reason of the last failure."},
       {"failures", &SourceBuild::failures,
        "Number of failures of the infrastructure; the build is tried again."},
       {"not_before", &SourceBuild::not_before, "Nobody claims it earlier."},
       {"result", &SourceBuild::result, "The result of the last attempt that answered."}});
  return made;
}

bool is_live_now(const Runner& runner, Rows& rows) {
  return is_live(runner, rows.context->clock.now(), rows.context->config);
}

std::optional<Time> quarantine_of(const Runner& runner, Rows& rows) {
  if (runner.quarantined_until <= rows.context->clock.now()) return std::nullopt;
  return runner.quarantined_until;
}

std::optional<std::string> why_void(const Job& job, Rows& rows) {
  const auto check = storage::find_check(rows.db, job.id);
  return check ? or_null(&SessionCheck::reason)(*check) : std::nullopt;
}

std::optional<Time> stored_at(const Job& job, Rows& rows) {
  return storage::result_time(rows.db, job.id);
}

std::optional<MachineFacts> facts_at(const Job& job, Rows& rows) {
  return storage::find_facts(rows.db, storage::facts_of_job(rows.db, job.id));
}

// What an update of the machine had changed since its facts of before.
std::optional<std::string> facts_changed_for(const Job& job, Rows& rows) {
  const auto now = facts_at(job, rows);
  if (!now) return std::nullopt;
  const auto history = storage::facts_of_machine(rows.db, now->machine);
  const auto at = std::find_if(history.begin(), history.end(),
                               [&](const MachineFacts& one) { return one.id == now->id; });
  if (at == history.begin() || at == history.end()) return std::nullopt;
  std::string changed = facts_changed(std::prev(at)->facts, at->facts);
  return changed.empty() ? std::nullopt : std::optional(std::move(changed));
}

std::vector<std::string> workload_names(const Job& job) {
  std::vector<std::string> names;
  for (const Workload& workload : job.spec.workloads) names.push_back(workload.name.str());
  return names;
}

std::optional<std::string> log_of(const Job& job, Rows& rows) {
  return job.spec.kind == JobKind::build ? rows.log_of_build(job.id) : std::nullopt;
}

std::vector<RegressionId> regressions_of(const Night& night, Rows& rows) {
  std::vector<RegressionId> ids;
  for (const Regression& one : storage::regressions_of_night(rows.db, night.id))
    ids.push_back(one.id);
  return ids;
}

}  // namespace

std::optional<std::string> Rows::log_of_build(JobId job) const {
  std::error_code error;
  if (!std::filesystem::exists(log_file(context->config.service.data, job), error))
    return std::nullopt;
  return "/api/v1/jobs/" + std::to_string(job.value) + "/log";
}

std::optional<RegressionId> Rows::repaired_by(const Improvement& improvement) {
  if (!findings_) {
    const auto states = states_where([](const LifecycleRow& row) {
      return row.is_real && row.state != RegressionState::merged;
    });
    findings_ = storage::regressions_by_series(db, states);
  }
  const auto found = findings_->find(improvement.series);
  if (found == findings_->end()) return std::nullopt;
  const EngineView view{db, context->commits, context->artifacts, context->config, context->clock};
  return service::repaired_by(view, improvement, found->second);
}

const std::optional<FixSearch>& Rows::fix_of(const Improvement& improvement) {
  const std::pair key(improvement.build, series_of(improvement.series).machine);
  auto known = fixes_.find(key);
  if (known == fixes_.end())
    known = fixes_.emplace(key, storage::fix_search_of(db, key.first, key.second)).first;
  return known->second;
}

std::optional<BisectionId> Rows::bisection_of(FixId fix) const {
  const auto search = storage::bisection_of(db, fix);
  return search ? std::optional(search->id) : std::nullopt;
}

std::optional<JobId> Rows::job_held_by(RunnerId id) {
  if (!held_) {
    held_.emplace();
    storage::PageRequest page;
    page.limit = 500;
    for (const Job& job : storage::list_jobs(db, {JobState::leased}, page).items)
      if (job.runner) held_->emplace(*job.runner, job.id);
  }
  const auto found = held_->find(id);
  return found == held_->end() ? std::nullopt : std::optional(found->second);
}

const Row<Runner>& runner_row() {
  const auto machine = [](const Runner& runner, Rows& rows) {
    return storage::find_machine(rows.db, runner.machine).value();
  };
  static const Row<Runner> made(
      "Runner", "An agent that measures.",
      {{"id", &Runner::id},
       {"name", &Runner::name},
       {"machine", machine, machine_row()},
       {"labels", &Runner::labels},
       {"workloads", [](const Runner& runner) { return runner.workloads.texts(); },
        "<name>@<version>"},
       {"version", &Runner::version},
       {"seen_at", &Runner::seen_at},
       {"live", is_live_now, "Seen lately enough to be planned for."},
       {"quarantined_until", quarantine_of,
        "It has lost several attempts in a row and gets no job before; null: it gets jobs."},
       {"trouble", or_null(&Runner::trouble), "Why its last attempt was lost."},
       {"job", [](const Runner& runner, Rows& rows) { return rows.job_held_by(runner.id); },
        "What it holds now."}});
  return made;
}

const Row<ListedJob>& job_row() {
  static const Row<ListedJob> made(
      "Job", "What a runner is asked to do: a session of interleaved runs.",
      {{"id", &Job::id},
       {"key", &Job::key},
       {"night", or_null(&Job::night)},
       {"machine", or_null(&Job::machine), "Null of a build, which any builder may claim."},
       {"kind", [](const Job& job) { return job.spec.kind; }},
       {"state", &Job::state},
       {"priority", &Job::priority},
       {"attempt", &Job::attempt},
       {"runner", &Job::runner},
       {"affinity", &Job::affinity},
       {"lease_until", &Job::lease_until},
       {"reason", or_null(&Job::reason)},
       {"void", why_void, "Why its session does not count: the machine was not itself."},
       {"created_at", &Job::created_at},
       {"stored_at", stored_at, "When its session's result came."},
       {"variant", &ListedJob::variant,
        "The variant of its builds; null: a build from source, or a session from before variants "
        "were kept."},
       {"machine_facts",
        [](const Job& job, Rows& rows) {
          const FactsId id = storage::facts_of_job(rows.db, job.id);
          return id ? std::optional(id) : std::nullopt;
        },
        "Id of what the machine was for its session, in the history of its class; null: nobody "
        "has claimed it."},
       {"environments", [](const Job& job) { return job.spec.environments; }, environment_row()},
       {"workloads", workload_names, "Names."},
       {"runs", [](const Job& job) { return job.spec.order.size(); },
        "Planned runs, controls included."},
       {"log", log_of, "Path of a build's log, once one attempt has ended."}});
  return made;
}

const Row<ListedJob>& job_detail() {
  static const auto session = described(Parsed<SessionResult>{})
                                  .without("runs", "Session",
                                           "How a job's session went; its runs are listed by "
                                           "/runs?job=.");
  static const Row<ListedJob> made(
      "JobDetail", "A job with its specification and session.", job_row(),
      {{"spec", &Job::spec},
       {"session", [](const Job& job, Rows& rows) { return storage::session_of(rows.db, job.id); },
        session},
       {"controls", controls_of, control_row()},
       {"facts", facts_at, facts_row(),
        "What the machine was, as the runner registered it that claimed the job last."},
       {"facts_changed", facts_changed_for,
        "What differs from the facts that were new before these; null: they are the class's "
        "first, or only more facts were read."},
       {"source_build",
        [](const Job& job, Rows& rows) { return storage::find_source_build(rows.db, job.id); },
        source_build_row()}});
  return made;
}

const Row<Night>& night_row() {
  const auto build = [](const Night& night, Rows& rows) {
    return rows.build_of(night.build.value_or(BuildId{}));
  };
  static const Row<Night> made(
      "Night", "The measuring of one new build, from planning to verdicts.",
      {{"id", &Night::id},
       {"trigger", &Night::trigger},
       {"state", &Night::state},
       {"build", build, build_ref()},
       {"reason", or_null(&Night::reason)},
       {"started_at", &Night::started_at},
       {"finished_at", &Night::finished_at},
       {"cancelled_by", or_null(&Night::cancelled_by), "Who cancelled it; null: nobody."}});
  return made;
}

const Row<Night>& night_detail() {
  const auto jobs = [](const Night& night, Rows& rows) {
    return storage::count_jobs_of_night(rows.db, night.id);
  };
  static const Row<Night> made("NightDetail", "A night with its jobs and regressions.", night_row(),
                               {{"jobs", jobs, counts_row()}, {"regressions", regressions_of}});
  return made;
}

const Row<AuditEntry>& audit_row() {
  static const Row<AuditEntry> made("AuditEntry", "Who started what.",
                                    {{"id", &AuditEntry::id, "", id_schema()},
                                     {"at", &AuditEntry::at},
                                     {"actor", &AuditEntry::actor},
                                     {"action", &AuditEntry::action},
                                     {"subject", &AuditEntry::subject}});
  return made;
}

const Row<Mark>& mark_row() {
  static const Row<Mark> made(
      "Mark", "A shift of level that is not PyTorch's doing.",
      {{"id", &Mark::id, "", id_schema()},
       {"at", &Mark::at},
       {"actor", &Mark::actor, "nightjar, where it found out by itself."},
       {"after_night", or_null(&Mark::after_night), "Levels up to this night no longer count."},
       {"machine", &Mark::machine, "Id of a machine class; null: all."},
       {"workload", &Mark::workload, "Glob."},
       {"metric", &Mark::metric, "Or *."},
       {"reason", &Mark::reason}});
  return made;
}

const Row<Improvement>& improvement_row() {
  const auto bisection_of = [](const Improvement& one, Rows& rows) {
    const auto& fix = rows.fix_of(one);
    return fix ? rows.bisection_of(fix->id) : std::nullopt;
  };
  const auto named_by = [](const Improvement& one, Rows& rows) {
    const auto& fix = rows.fix_of(one);
    return fix ? fix->causes : std::vector<NamedCause>();
  };
  static const Row<Improvement> made(
      "Improvement",
      "A series that is better than its level by more than the threshold, as two nights showed.",
      {{"id", &Improvement::id, "", id_schema()},
       {"night", &Improvement::night, "The second night that showed it."},
       {"series", &Improvement::series},
       {"workload", of_series(&Improvement::series, &Series::workload_name)},
       {"metric", of_series(&Improvement::series, &Series::metric)},
       {"unit", of_series(&Improvement::series, unit_of)},
       {"direction", of_series(&Improvement::series, direction_of)},
       {"has_ratio", of_series(&Improvement::series, has_ratio)},
       {"build", build_at(&Improvement::build), build_ref(), "The first build that is better."},
       {"before", &Improvement::before},
       {"after", &Improvement::after},
       {"ratio", [](const Improvement& one) { return one.after / one.before; }, "after / before"},
       {"repairs", [](const Improvement& one, Rows& rows) { return rows.repaired_by(one); },
        "Id of the regression that it repairs: its level of before is back. null: it is a new "
        "level."},
       {"bisection", bisection_of,
        "Id of the search for the commit that made its build better on this machine class; null: "
        "none."},
       {"made_better", named_by, named_cause_row(),
        "What that search named, by the clearest series of the build; empty: nothing, or not yet."},
       {"at", &Improvement::at}});
  return made;
}

}  // namespace nightjar::service::api
