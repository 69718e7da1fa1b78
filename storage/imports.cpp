#include "storage/imports.hpp"

#include "storage/builds.hpp"
#include "storage/model/json.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/run_value.hpp"
#include "storage/nights.hpp"
#include "storage/paging.hpp"
#include "storage/runners.hpp"
#include "storage/series.hpp"
#include "storage/suites.hpp"

namespace nightjar::storage {
namespace {

// "20260820.073000" of a time in UTC: sorts as the time does.
std::string stamp_of(Time time) {
  std::string stamp;
  for (const char c : to_rfc3339(time).substr(0, 19))
    if (c != '-' && c != ':') stamp += c == 'T' ? '.' : c;
  return stamp;
}

// A version without a date does not say which of two builds of a day came first: the time does.
std::string version_of(const HistoryNight& night) {
  if (time_in_version(night.version)) return night.version;
  std::string version = stamp_of(night.measured_at);
  if (!night.version.empty()) version += "+" + night.version;
  if (night.version.empty() && night.commit) version += "+" + night.commit->brief();
  return version;
}

// The commit is what a build is known by, however its version is written.
Build build_of(Transaction& transaction, const HistoryNight& night, Time now) {
  if (night.commit)
    for (const Build& known : builds_of_commit(transaction, *night.commit))
      if (known.state == BuildState::imported) return known;
  Build build;
  build.version = version_of(night);
  build.variant = imported_variant;
  build.date = to_date(time_in_version(night.version).value_or(night.measured_at));
  build.url = "imported:" + (night.commit ? night.commit->str() : build.version);
  build.commit = night.commit;
  build.state = BuildState::imported;
  build.reason = "known from an imported history only";
  build.found_at = now;
  return add_build(transaction, build);
}

std::optional<NightId> find_imported(const Database& db, MachineId machine, BuildId build,
                                     Time at) {
  Statement find(db,
                 "SELECT night FROM imported_night WHERE machine = ? AND build = ? "
                 "AND measured_at_us = ?");
  return read_one(find.bind(machine, build, at),
                  [](Statement& row) { return row.next<NightId>(); });
}

NightId add_imported(Transaction& transaction, MachineId machine, BuildId build,
                     const HistoryNight& from, Time now) {
  Night night;
  night.trigger = NightTrigger::imported;
  night.state = NightState::done;
  night.build = build;
  night.reason = "imported from " + from.origin;
  night.started_at = from.measured_at;
  night.finished_at = now;
  night = add_night(transaction, night);
  Statement(transaction,
            "INSERT INTO imported_night (night, machine, build, measured_at_us) "
            "VALUES (?, ?, ?, ?)")
      .bind(night.id, machine, build, from.measured_at)
      .run();
  return night.id;
}

constexpr const char* in_parts =
    "only a part of its values was stored so far; import the night again to complete it";

// The one job that stands for the session in which the night was measured.
struct ImportedJob {
  JobId id;
  bool is_new = false;
  bool is_whole = false;
};

ImportedJob job_of(Transaction& transaction, NightId night, MachineId machine, Time measured_at,
                   Time now) {
  const std::string key = "night:" + std::to_string(night.value) + "/imported";
  Statement find(transaction, "SELECT id, state FROM job WHERE key = ?");
  if (find.bind(key).step()) {
    const auto id = find.next<JobId>();
    return {id, false, find.next<JobState>() == JobState::done};
  }
  const std::string spec = nlohmann::json(JobSpec{}).dump();
  Statement insert(transaction,
                   "INSERT INTO job (key, night, machine, kind, spec, state, priority, attempt, "
                   "reason, created_at_us) VALUES (?, ?, ?, ?, ?, ?, 0, 0, '', ?)");
  insert.bind(key, night, machine, JobKind::screen, spec, JobState::done, measured_at).run();
  const JobId job{insert.inserted_id()};
  const std::string frame = nlohmann::json(SessionResult{}).dump();
  Statement(transaction, "INSERT INTO session (job, stored_at_us, frame) VALUES (?, ?, ?)")
      .bind(job, now, frame)
      .run();
  return {job, true, true};
}

void set_whole(Transaction& transaction, JobId job, bool is_whole) {
  Statement(transaction, "UPDATE job SET state = ?, reason = ? WHERE id = ?")
      .bind(is_whole ? JobState::done : JobState::failed, is_whole ? "" : in_parts, job)
      .run();
}

// Past the last value of the part.
std::size_t end_of(const HistoryPart& part, const std::vector<HistoryValue>& values) {
  std::size_t end = part.first, samples = 0;
  while (end < values.size() && end - part.first < part.most_values && samples < part.most_samples)
    samples += values[end++].values.size();
  return end;
}

// Writes the values of one night. A run holds the metrics of a workload; whether it failed is a run
// of its own, since a failed run has no other values.
class HistoryWriter {
 public:
  HistoryWriter(Transaction& transaction, MachineId machine, BuildId build, const ImportedJob& job,
                Time at, KnownSeries& known)
      : transaction_(transaction),
        known_(known),
        machine_(machine),
        build_(build),
        job_(job.id),
        at_(at),
        find_sample_(transaction, "SELECT samples FROM sample WHERE run = ? AND metric = ?"),
        add_run_(transaction,
                 "INSERT INTO run (job, position, build, workload, status, reason, "
                 "warmup_iterations, started_at_us, seconds) VALUES (?, ?, ?, ?, ?, ?, 0, ?, 0)"),
        add_sample_(transaction, "INSERT INTO sample (run, metric, samples) VALUES (?, ?, ?)"),
        add_value_(transaction,
                   "INSERT INTO series_value (series, build, run, screened, value, wait_share) "
                   "VALUES (?, ?, ?, 1, ?, 0)"),
        judge_again_(transaction,
                     "INSERT INTO imported_series (series, machine, judged) VALUES (?, ?, 0) "
                     "ON CONFLICT (series) DO UPDATE SET judged = 0 WHERE judged = 1") {
    if (known_.job == job.id) return;
    known_.job = job.id;
    known_.runs.clear();
    if (!job.is_new) read_runs();
  }

  // Whether accuracy words came that were not there.
  bool has_new_words() const { return has_new_words_; }

  void write(const HistoryValue& given, StoredHistory& out) {
    const WorkloadId workload = intern(given.workload);
    RunResult result;
    result.samples[given.metric] = given.values;
    if (given.metric == failures_metric && (given.values.empty() || given.values[0] != 1)) {
      result.status = RunStatus::failed;
      result.reason = "its source says that it failed";
    }
    const auto [run, is_new] = run_of(workload, given.metric == failures_metric, result);
    if (given.accuracy) keep_accuracy(run, *given.accuracy);
    if (given.values.empty()) return;
    if (const auto stored = is_new ? std::nullopt : samples_of(run, given.metric)) {
      ++(*stored == given.values ? out.known : out.differing);
      return;
    }
    const auto value = value_of(result, given.metric);
    if (!value) return;
    add_sample_.bind(run, given.metric, given.values).run();
    const SeriesId series = series_of(workload, given.metric);
    add_value_.bind(series, build_, run, *value).run();
    judge_again_.bind(series, machine_).run();
    ++out.added;
  }

 private:
  void read_runs() {
    Statement runs(transaction_,
                   "SELECT run.id, run.workload, run.accuracy IS NOT NULL OR EXISTS (SELECT 1 "
                   "FROM sample WHERE sample.run = run.id AND metric = ?) FROM run WHERE job = ?");
    runs.bind(failures_metric, job_);
    while (runs.step()) {
      const auto run = runs.next<RunId>();
      const auto workload = runs.next<WorkloadId>();
      known_.runs[{workload, runs.next<bool>()}] = run;
    }
  }

  WorkloadId intern(const WorkloadName& name) {
    const auto [found, added] = known_.workloads.try_emplace(name.str());
    if (added) found->second = intern_workload(transaction_, name, 1).id;
    return found->second;
  }

  std::optional<std::vector<double>> samples_of(RunId run, const std::string& metric) {
    auto stored = read_one(find_sample_.bind(run, metric),
                           [](Statement& row) { return row.next<std::vector<double>>(); });
    find_sample_.reset();
    return stored;
  }

  // The one that is there stays.
  void keep_accuracy(RunId run, Accuracy accuracy) {
    Statement keep(transaction_, "UPDATE run SET accuracy = ? WHERE id = ? AND accuracy IS NULL");
    keep.bind(accuracy, run).run();
    has_new_words_ |= keep.changes() > 0;
  }

  // And whether it was not there.
  std::pair<RunId, bool> run_of(WorkloadId workload, bool of_failures, const RunResult& result) {
    const auto [found, added] = known_.runs.try_emplace({workload, of_failures});
    if (!added) return {found->second, false};
    add_run_.bind(job_, known_.runs.size() - 1, build_, workload, result.status, result.reason, at_)
        .run();
    found->second = RunId{add_run_.inserted_id()};
    return {found->second, true};
  }

  // Adds it if it is new.
  SeriesId series_of(WorkloadId workload, const std::string& metric) {
    const auto [known, is_first] = known_.series.try_emplace({workload, metric});
    if (!is_first) return known->second;
    Statement(transaction_,
              "INSERT INTO series (workload, metric, machine, variant) VALUES (?, ?, ?, ?) "
              "ON CONFLICT DO NOTHING")
        .bind(workload, metric, machine_, imported_variant)
        .run();
    return known->second =
               find_series(transaction_, workload, metric, machine_, imported_variant).value().id;
  }

  Transaction& transaction_;
  KnownSeries& known_;
  MachineId machine_;
  BuildId build_;
  JobId job_;
  Time at_;
  Statement find_sample_, add_run_, add_sample_, add_value_, judge_again_;
  bool has_new_words_ = false;
};

}  // namespace

StoredHistory store_history(Transaction& transaction, MachineId machine, const HistoryNight& night,
                            Time now, KnownSeries& known, const HistoryPart& part) {
  StoredHistory out;
  const Build build = build_of(transaction, night, now);
  auto id = find_imported(transaction, machine, build.id, night.measured_at);
  out.is_new = !id;
  if (!id) id = add_imported(transaction, machine, build.id, night, now);
  const ImportedJob job = job_of(transaction, *id, machine, night.measured_at, now);
  HistoryWriter writer(transaction, machine, build.id, job, night.measured_at, known);
  out.next = end_of(part, night.values);
  for (std::size_t i = part.first; i < out.next; ++i) writer.write(night.values[i], out);
  const bool has_more = job.is_new || out.added > 0 || writer.has_new_words();
  const bool is_end = out.next == night.values.size();
  if (!is_end && has_more && job.is_whole) set_whole(transaction, job.id, false);
  if (is_end && !job.is_whole) set_whole(transaction, job.id, true);
  if (is_end && (has_more || !job.is_whole)) sum_up_again(transaction, machine, night.measured_at);
  return out;
}

std::vector<ImportedClass> imported_classes(const Database& db) {
  Statement find(
      db,
      "SELECT machine, count(*), min(measured_at_us), max(measured_at_us), "
      "(SELECT count(*) FROM imported_series AS known "
      "WHERE known.machine = imported_night.machine), "
      "(SELECT count(*) FROM imported_series AS known "
      "WHERE known.machine = imported_night.machine AND known.judged = 0), "
      "(SELECT count(*) FROM regression WHERE regression.found_by = 'history' "
      "AND regression.state = 'historical' AND regression.machine = imported_night.machine) "
      "FROM imported_night GROUP BY machine");
  std::vector<ImportedClass> classes = read_all(find, [](Statement& row) -> ImportedClass {
    return {row.next<MachineId>(), {},
            row.next<int>(),       row.next<Time>(),
            row.next<Time>(),      row.next<int>(),
            row.next<int>(),       row.next<int>()};
  });
  for (ImportedClass& one : classes)
    one.name = find_machine(db, one.id).value().facts.at("imported");
  return classes;
}

std::vector<SeriesId> series_to_judge(const Database& db, int limit,
                                      const std::function<bool(MachineId)>& is_ready) {
  Statement find(db, "SELECT series, machine FROM imported_series WHERE judged = 0");
  std::vector<SeriesId> ready;
  while (static_cast<int>(ready.size()) < limit && find.step()) {
    const auto series = find.next<SeriesId>();
    if (!is_ready || is_ready(find.next<MachineId>())) ready.push_back(series);
  }
  return ready;
}

void note_judged(Transaction& transaction, SeriesId series) {
  Statement(transaction, "UPDATE imported_series SET judged = 1 WHERE series = ?")
      .bind(series)
      .run();
}

std::map<BuildId, NightId> imported_nights(const Database& db, MachineId machine) {
  Statement find(db,
                 "SELECT build, min(night) FROM imported_night WHERE machine = ? GROUP BY build");
  find.bind(machine);
  std::map<BuildId, NightId> nights;
  while (find.step()) {
    const auto build = find.next<BuildId>();
    nights[build] = find.next<NightId>();
  }
  return nights;
}

}  // namespace nightjar::storage
