#include "service/api/rows.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::service::api {
using nlohmann::json;

json Rows::culprit(const std::optional<Culprit>& culprit) {
  if (!culprit) return nullptr;
  json shas = json::array(), commits = json::array();
  for (const CommitSha& sha : culprit->commits) {
    shas.push_back(sha);
    commits.push_back(commit(sha));
  }
  json row{{"commits", std::move(shas)},
           {"probability", culprit->probability},
           {"ratio", culprit->ratio},
           {"low", culprit->low},
           {"high", culprit->high}};
  if (commits_) row["commit_details"] = std::move(commits);
  return row;
}

json Rows::regression(const Regression& regression) {
  json affected = json::array();
  for (const AffectedSeries& shown : regression.series) {
    const Series& series = series_of(shown.series);
    affected.push_back(json{{"series", shown.series},
                            {"workload", series.workload_name},
                            {"metric", series.metric},
                            {"machine", series.machine},
                            {"unit", unit_of(series.metric)},
                            {"direction", direction_of(series.metric)},
                            {"before", shown.before},
                            {"after", shown.after},
                            {"ratio", shown.ratio},
                            {"low", shown.low},
                            {"high", shown.high}});
  }
  const auto bisection = storage::search_behind(db_, regression.id);
  return json{{"id", regression.id},
              {"state", regression.state},
              {"night", regression.night},
              {"machine", regression.machine},
              {"good", build_ref(regression.good)},
              {"bad", build_ref(regression.bad)},
              {"series", std::move(affected)},
              {"culprit", culprit(regression.culprit)},
              {"merged_into", regression.merged_into},
              {"unfinished", regression.unfinished},
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
                           {"evidence", parsed_or(change.evidence, json::object())}});
  row["changes"] = std::move(changes);
  return row;
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
