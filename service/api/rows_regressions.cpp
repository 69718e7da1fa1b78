#include <algorithm>
#include <set>

#include "bisect/statistics.hpp"
#include "service/api/rows.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

json parsed(const std::string& text, json otherwise) {
  auto value = json::parse(text, nullptr, false);
  return value.type() == otherwise.type() ? value : otherwise;
}

json culprit_row(const std::optional<Culprit>& culprit) {
  if (!culprit) return nullptr;
  json commits = json::array();
  for (const CommitSha& commit : culprit->commits) commits.push_back(commit);
  return json{{"commits", std::move(commits)},
              {"probability", culprit->probability},
              {"ratio", culprit->ratio},
              {"low", culprit->low},
              {"high", culprit->high}};
}

// What was measured for one bisection, by commit and by session.
struct Measured {
  std::map<CommitSha, std::vector<double>> values;
  std::map<int, json> sessions;
  int runs = 0;
};

Measured measured(storage::Database& db, Rows& rows, const Bisection& bisection) {
  Measured out;
  for (const BisectionJob& part : storage::jobs_of_bisection(db, bisection.id)) {
    const auto job = storage::find_job(db, part.job);
    const auto runs = storage::runs_of_job(db, bisection.series, part.job);
    for (const SeriesRun& run : runs)
      if (const Build* build = rows.build_of(run.build); build && build->commit)
        out.values[*build->commit].push_back(run.value);
    out.runs += static_cast<int>(runs.size());
    auto& jobs = out.sessions.emplace(part.session, json::array()).first->second;
    jobs.push_back(json{{"job", part.job},
                        {"state", job ? job->state : JobState::cancelled},
                        {"runner", job ? json(job->runner) : json(nullptr)},
                        {"runs", runs.size()}});
  }
  return out;
}

}  // namespace

json Rows::regression(const Regression& regression) {
  json affected = json::array();
  for (const AffectedSeries& shown : regression.series) {
    const Series& series = series_of(shown.series);
    affected.push_back(json{{"series", shown.series},
                            {"workload", series.workload_name},
                            {"metric", series.metric},
                            {"unit", unit_of(series.metric)},
                            {"before", shown.before},
                            {"after", shown.after},
                            {"ratio", shown.ratio},
                            {"low", shown.low},
                            {"high", shown.high}});
  }
  const auto bisection = storage::bisection_of(db_, regression.id);
  return json{{"id", regression.id},
              {"state", regression.state},
              {"night", regression.night},
              {"machine", regression.machine},
              {"good", build_ref(regression.good)},
              {"bad", build_ref(regression.bad)},
              {"series", std::move(affected)},
              {"culprit", culprit_row(regression.culprit)},
              {"merged_into", regression.merged_into},
              {"bisection", bisection ? json(bisection->id) : json(nullptr)},
              {"fingerprint", text_or_null(regression.fingerprint)},
              {"issue_number", regression.issue_number},
              {"issue_url", text_or_null(regression.issue_url)},
              {"opened_at", regression.opened_at},
              {"updated_at", regression.updated_at}};
}

json Rows::regression_detail(const Regression& stored) {
  json row = regression(stored);
  json changes = json::array();
  for (const RegressionChange& change : storage::changes_of(db_, stored.id))
    changes.push_back(json{{"state", change.state},
                           {"at", change.at},
                           {"evidence", parsed(change.evidence, json::object())}});
  row["changes"] = std::move(changes);
  return row;
}

json Rows::bisection(const Bisection& bisection) {
  json row = bisection_detail(bisection);
  row.erase("commits");
  row.erase("sessions");
  return row;
}

json Rows::bisection_detail(const Bisection& bisection) {
  const Series& series = series_of(bisection.series);
  const Measured log = measured(db_, *this, bisection);
  std::map<int, std::string> untestable;
  for (const Untestable& commit : storage::untestable_of(db_, bisection.id))
    untestable[commit.commit] = commit.reason;
  json commits = json::array(), sessions = json::array();
  for (std::size_t i = 0; i < bisection.commits.size(); ++i) {
    const auto values = log.values.find(bisection.commits[i]);
    const auto reason = untestable.find(static_cast<int>(i));
    const bool tested = values != log.values.end();
    commits.push_back(
        json{{"index", i},
             {"sha", bisection.commits[i]},
             {"untestable", reason == untestable.end() ? json(nullptr) : json(reason->second)},
             {"runs", tested ? values->second.size() : 0},
             {"level", tested ? json(bisect::hodges_lehmann(values->second)) : json(nullptr)}});
  }
  for (const auto& [number, jobs] : log.sessions)
    sessions.push_back(json{{"session", number}, {"jobs", jobs}});
  return json{{"id", bisection.id},
              {"regression", bisection.regression},
              {"series", bisection.series},
              {"workload", series.workload_name},
              {"metric", series.metric},
              {"unit", unit_of(series.metric)},
              {"state", bisection.state},
              {"good", build_ref(bisection.good)},
              {"bad", build_ref(bisection.bad)},
              {"commit_count", bisection.commits.size()},
              {"tested_commits", log.values.size()},
              {"untestable_commits", untestable.size()},
              {"session_count", log.sessions.size()},
              {"runs", log.runs},
              {"posterior", parsed(bisection.posterior, json::array())},
              {"spent_seconds", bisection.spent_seconds},
              {"expected_runs", bisection.expected_runs},
              {"started_at", bisection.started_at},
              {"finished_at", bisection.finished_at},
              {"commits", std::move(commits)},
              {"sessions", std::move(sessions)}};
}

json Rows::report(const OutboxMessage& message) {
  return json{{"id", message.id},
              {"key", message.key},
              {"regression", message.regression},
              {"kind", message.kind},
              {"title", text_or_null(message.title)},
              {"body", message.body},
              {"state", message.state},
              {"attempts", message.attempts},
              {"not_before", message.not_before},
              {"error", text_or_null(message.error)},
              {"url", text_or_null(message.url)},
              {"created_at", message.created_at}};
}

}  // namespace nightjar::service::api
