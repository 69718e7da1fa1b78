// Rows as JSON, as openapi.json describes them. Internal to the API. What a row refers to is looked
// up once a Rows.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/marks.hpp"
#include "storage/model/metric.hpp"
#include "storage/nights.hpp"
#include "storage/outbox.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/runs.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"

namespace nightjar::git {

class CommitGraph;

}  // namespace nightjar::git

namespace nightjar::service::api {

class Rows {
 public:
  // Subjects and authors come from `commits`; they are null without it.
  explicit Rows(storage::Database& db, const git::CommitGraph* commits = nullptr)
      : db_(db), commits_(commits) {}

  nlohmann::json build_ref(BuildId id);  // null for no build
  nlohmann::json build(const Build& build);
  nlohmann::json workload(const Workload& workload);
  nlohmann::json series(const Series& series);
  nlohmann::json point(const storage::SeriesPoint& point);
  nlohmann::json run(const storage::StoredRun& run);
  nlohmann::json run_detail(const storage::StoredRun& run);
  nlohmann::json regression(const Regression& regression);
  nlohmann::json regression_detail(const Regression& regression);
  nlohmann::json bisection(const Bisection& bisection);
  nlohmann::json bisection_detail(const Bisection& bisection);
  nlohmann::json commit_detail(const CommitSha& sha);
  nlohmann::json report(const OutboxMessage& message);
  nlohmann::json runner(const Runner& runner, Time now, std::chrono::seconds silent);
  nlohmann::json job(const Job& job);
  nlohmann::json job_detail(const Job& job);
  nlohmann::json night(const Night& night);
  nlohmann::json night_detail(const Night& night);
  nlohmann::json audit(const storage::AuditEntry& entry);
  nlohmann::json mark(const storage::Mark& mark);
  nlohmann::json improvement(const storage::Improvement& improvement);

  const Series& series_of(SeriesId id);  // throws std::runtime_error if it is not stored
  const Build* build_of(BuildId id);     // nullptr for 0

 private:
  struct Searched;
  Searched searched(const Bisection& bisection);
  nlohmann::json bisection_row(const Bisection& bisection, const Searched& searched);
  nlohmann::json measured_commit(const Searched& searched, std::size_t index);
  nlohmann::json commit(const CommitSha& sha);
  nlohmann::json culprit(const std::optional<Culprit>& culprit);
  nlohmann::json workload_name(WorkloadId id);
  std::optional<JobId> job_held_by(RunnerId id);

  storage::Database& db_;
  const git::CommitGraph* commits_;
  std::map<BuildId, Build> builds_;
  std::map<SeriesId, Series> series_;
  std::map<WorkloadId, Workload> workloads_;
  std::optional<std::map<RunnerId, JobId>> held_;
};

// A list's page: {"items", "next_cursor"}.
nlohmann::json page_of(nlohmann::json items, std::optional<std::int64_t> next);
// null for an id of 0, and for an empty text.
nlohmann::json id_or_null(std::int64_t id);
nlohmann::json text_or_null(const std::string& text);
std::string unit_of(const std::string& metric);
Direction direction_of(const std::string& metric);
// `text` as JSON; `otherwise` if it is not of that one's type.
nlohmann::json parsed_or(const std::string& text, nlohmann::json otherwise);

}  // namespace nightjar::service::api
