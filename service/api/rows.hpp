// Rows as JSON: one description each, which writes the row and is its schema in openapi.json.
// Internal to the API.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bisect/git/commit_graph.hpp"
#include "service/api/api.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/ci_lookups.hpp"
#include "storage/filtered.hpp"
#include "storage/jobs.hpp"
#include "storage/marks.hpp"
#include "storage/model/fix.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/protocol.hpp"
#include "storage/nights.hpp"
#include "storage/outbox.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/runs.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"

namespace nightjar::service::api {

struct Searched;

// What rows refer to; each is looked up once a Rows.
class Rows {
 public:
  // Subjects and authors of commits come from `context`; without it they are left out.
  explicit Rows(storage::Database& database, const Context* with = nullptr)
      : db(database), context(with) {}

  const Build* build_of(BuildId id);     // nullptr for 0
  const Series& series_of(SeriesId id);  // throws std::runtime_error if it is not stored
  std::optional<WorkloadName> workload_name(WorkloadId id);
  std::optional<JobId> job_held_by(RunnerId id);
  std::optional<RegressionId> repaired_by(const storage::Improvement& improvement);
  const std::optional<FixSearch>& fix_of(const storage::Improvement& improvement);
  // The bisection of a fix's search; nullopt: it has none yet.
  std::optional<BisectionId> bisection_of(FixId fix) const;
  // Where the log of a build job is served; nullopt: there is none.
  std::optional<std::string> log_of_build(JobId job) const;
  std::optional<git::Commit> commit_of(const CommitSha& sha) const;
  // Throws std::runtime_error if it is not stored.
  SearchedChange searched_change(const Bisection& bisection);
  const Searched& searched(const Bisection& bisection);  // kept until another one is asked for

  storage::Database& db;
  const Context* context;

 private:
  std::map<BuildId, Build> builds_;
  std::map<SeriesId, Series> series_;
  std::map<WorkloadId, Workload> workloads_;
  std::map<std::pair<BuildId, MachineId>, std::optional<FixSearch>> fixes_;
  std::optional<std::map<RunnerId, JobId>> held_;
  std::optional<std::map<SeriesId, std::vector<RegressionId>>> findings_;
  std::shared_ptr<const Searched> searched_;
  BisectionId searched_of_;
};

template <class T>
using Row = Described<T, Rows>;

const Row<Build>& build_ref();
const Row<Build>& build_row();
const Row<CiLookup>& ci_lookup_row();
const Row<Workload>& workload_row();
const Row<Series>& series_row();
const Row<storage::SeriesPoint>& point_row();
const Row<storage::StoredRun>& run_row();
const Row<storage::StoredRun>& run_detail();
const Row<Culprit>& culprit_row();
const Row<NamedCause>& named_cause_row();
const Row<RegressionChange>& change_row();
const Row<Regression>& regression_row();
const Row<Regression>& regression_detail();
const Row<Bisection>& bisection_row();
const Row<Bisection>& bisection_detail();
const Row<CommitSha>& named_commit();
const Row<CommitSha>& commit_detail();
const Row<OutboxMessage>& report_row();
const Row<Runner>& runner_row();
const Row<storage::ListedJob>& job_row();
const Row<storage::ListedJob>& job_detail();
const Row<Night>& night_row();
const Row<Night>& night_detail();
const Row<storage::AuditEntry>& audit_row();
const Row<storage::Mark>& mark_row();
const Row<storage::Improvement>& improvement_row();

// A page of rows: {"items", "next_cursor"}.
template <class T>
Row<storage::Page<T>> page_row(const Row<T>& row) {
  using Page = storage::Page<T>;
  const auto cursor = [](const Page& page) {
    return page.next ? std::optional(std::to_string(*page.next)) : std::nullopt;
  };
  return {row.name() + "Page",
          "A page, newest first.",
          {{"items", &Page::items, row},
           {"next_cursor", cursor, "Pass as cursor for the next page; null: the last."}}};
}

// Getters of what a row's build or series has.
template <class T>
auto build_at(BuildId T::*member) {
  return [member](const T& item, Rows& rows) {
    if (const Build* build = rows.build_of(item.*member)) return *build;
    throw std::runtime_error("a row without its build");
  };
}
template <class T, class Get>
auto of_series(SeriesId T::*member, Get get) {
  return [member, get](const T& item, Rows& rows) {
    return std::decay_t<decltype(std::invoke(get, rows.series_of(item.*member)))>(
        std::invoke(get, rows.series_of(item.*member)));
  };
}
std::string unit_of(const Series& series);
Direction direction_of(const Series& series);
// Whether after / before says how much a change is; if not, before and after do.
bool has_ratio(const Series& series);

// `text` as JSON; `otherwise` if it is not of that one's type.
nlohmann::json parsed_or(const std::string& text, nlohmann::json otherwise);
Schema id_schema();  // of rows whose id has no type of its own

}  // namespace nightjar::service::api
