#include <algorithm>

#include "service/api/rows.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::service::api {
using nlohmann::json;

std::optional<JobId> Rows::job_held_by(RunnerId id) {
  if (!held_) {
    held_.emplace();
    storage::PageRequest page;
    page.limit = 500;
    for (const Job& job : storage::list_jobs(db_, JobState::leased, page).items)
      if (job.runner) held_->emplace(*job.runner, job.id);
  }
  const auto found = held_->find(id);
  return found == held_->end() ? std::nullopt : std::optional(found->second);
}

json Rows::runner(const Runner& runner, Time now, std::chrono::seconds silent) {
  json machine_row = nullptr;
  if (const auto machine = storage::find_machine(db_, runner.machine))
    machine_row =
        json{{"id", machine->id}, {"fingerprint", machine->fingerprint}, {"facts", machine->facts}};
  return json{{"id", runner.id},
              {"name", runner.name},
              {"machine", std::move(machine_row)},
              {"labels", runner.labels},
              {"workloads", runner.workloads},
              {"version", runner.version},
              {"seen_at", runner.seen_at},
              {"live", now - runner.seen_at <= silent},
              {"job", job_held_by(runner.id)}};
}

json Rows::job(const Job& job) {
  json environments = json::array(), workloads = json::array();
  for (const EnvironmentSpec& environment : job.spec.environments)
    environments.push_back(json{{"build", environment.build}, {"version", environment.version}});
  for (const Workload& workload : job.spec.workloads) workloads.push_back(workload.name);
  return json{{"id", job.id},
              {"key", job.key},
              {"night", id_or_null(job.night.value)},
              {"machine", job.machine},
              {"kind", job.spec.kind},
              {"state", job.state},
              {"priority", job.priority},
              {"attempt", job.attempt},
              {"runner", job.runner},
              {"affinity", job.affinity},
              {"lease_until", job.lease_until},
              {"reason", text_or_null(job.reason)},
              {"created_at", job.created_at},
              {"environments", std::move(environments)},
              {"workloads", std::move(workloads)},
              {"runs", job.spec.order.size()}};
}

json Rows::job_detail(const Job& stored) {
  json row = job(stored);
  row["spec"] = stored.spec;
  row["session"] = nullptr;
  if (const auto session = storage::session_of(db_, stored.id)) {
    row["session"] = *session;
    row["session"].erase("runs");
  }
  return row;
}

json Rows::night(const Night& night) {
  return json{{"id", night.id},
              {"trigger", night.trigger},
              {"state", night.state},
              {"build", build_ref(night.build.value_or(BuildId{}))},
              {"reason", text_or_null(night.reason)},
              {"started_at", night.started_at},
              {"finished_at", night.finished_at},
              {"cancelled_by", text_or_null(night.cancelled_by)}};
}

json Rows::night_detail(const Night& stored) {
  json row = night(stored);
  json counts{{"queued", 0}, {"leased", 0}, {"done", 0}, {"failed", 0}, {"cancelled", 0}};
  for (const auto& [state, count] : storage::count_jobs_of_night(db_, stored.id))
    counts[std::string(name_of(state))] = count;
  json regressions = json::array();
  for (const Regression& regression : storage::regressions_of_night(db_, stored.id))
    regressions.push_back(regression.id);
  row["jobs"] = std::move(counts);
  row["regressions"] = std::move(regressions);
  return row;
}

json Rows::audit(const storage::AuditEntry& entry) {
  return json{{"id", entry.id},
              {"at", entry.at},
              {"actor", entry.actor},
              {"action", entry.action},
              {"subject", entry.subject}};
}

json Rows::mark(const storage::Mark& mark) {
  return json{{"id", mark.id},           {"at", mark.at},
              {"actor", mark.actor},     {"after_night", id_or_null(mark.after_night.value)},
              {"machine", mark.machine}, {"workload", mark.workload},
              {"metric", mark.metric},   {"reason", mark.reason}};
}

json Rows::improvement(const storage::Improvement& improvement) {
  const Series& series = series_of(improvement.series);
  return json{{"id", improvement.id},
              {"night", improvement.night},
              {"series", improvement.series},
              {"workload", series.workload_name},
              {"metric", series.metric},
              {"unit", unit_of(series.metric)},
              {"build", build_ref(improvement.build)},
              {"before", improvement.before},
              {"after", improvement.after},
              {"ratio", improvement.after / improvement.before},
              {"at", improvement.at}};
}

}  // namespace nightjar::service::api
