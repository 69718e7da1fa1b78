#include <algorithm>

#include "bisect/against_first.hpp"
#include "bisect/git/commit_graph.hpp"
#include "service/api/rows.hpp"
#include "service/engine/search/search_log.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

constexpr int most_searches = 20;  // on the page of a commit

}  // namespace

// What a search measured so far, by position of the commit.
struct Rows::Searched {
  GatheredLog log;
  std::vector<std::vector<double>> values;
  std::vector<std::optional<bisect::Ratio>> changes;  // against the good end
  std::map<int, std::string> untestable;
};

Rows::Searched Rows::searched(const Bisection& bisection) {
  const auto regression = storage::find_regression(db_, bisection.regression);
  if (!regression) throw std::runtime_error("a bisection without its regression");
  Searched out;
  out.log = read_log(db_, bisection, *regression, series_of(bisection.series));
  out.values.resize(bisection.commits.size());
  for (const bisect::SearchRun& run : out.log.log.runs)
    out.values[static_cast<std::size_t>(run.commit)].push_back(run.value);
  out.changes = bisect::against_first(out.values, .95);
  for (const Untestable& commit : storage::untestable_of(db_, bisection.id))
    out.untestable[commit.commit] = commit.reason;
  return out;
}

json Rows::commit(const CommitSha& sha) {
  const auto known = commits_ ? commits_->find(sha) : std::nullopt;
  return json{{"sha", sha},
              {"subject", known ? json(known->subject()) : json(nullptr)},
              {"author", known ? json(known->author_name) : json(nullptr)}};
}

json Rows::measured_commit(const Searched& searched, std::size_t index) {
  const auto& values = searched.values[index];
  const auto& change = searched.changes[index];
  const auto reason = searched.untestable.find(static_cast<int>(index));
  return json{
      {"index", index},
      {"untestable", reason == searched.untestable.end() ? json(nullptr) : json(reason->second)},
      {"runs", values.size()},
      {"level", values.empty() ? json(nullptr) : json(bisect::hodges_lehmann(values))},
      {"change", change
                     ? json{{"ratio", change->ratio}, {"low", change->low}, {"high", change->high}}
                     : json(nullptr)}};
}

json Rows::bisection_row(const Bisection& bisection, const Searched& searched) {
  const Series& series = series_of(bisection.series);
  const auto tested = std::count_if(searched.values.begin(), searched.values.end(),
                                    [](const auto& values) { return !values.empty(); });
  int own_runs = 0;
  for (const LogPart& part : searched.log.parts) own_runs += part.own ? part.runs : 0;
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
              {"tested_commits", tested},
              {"untestable_commits", searched.untestable.size()},
              {"session_count", bisection.sessions},
              {"runs", bisection.runs},
              {"own_runs", own_runs},
              {"posterior", parsed_or(bisection.posterior, json::array())},
              {"spent_seconds", bisection.spent_seconds},
              {"expected_runs", bisection.expected_runs},
              {"started_at", bisection.started_at},
              {"finished_at", bisection.finished_at}};
}

json Rows::bisection(const Bisection& bisection) {
  return bisection_row(bisection, searched(bisection));
}

json Rows::bisection_detail(const Bisection& bisection) {
  const Searched found = searched(bisection);
  json row = bisection_row(bisection, found);
  json commits = json::array(), sessions = json::array();
  for (std::size_t i = 0; i < bisection.commits.size(); ++i) {
    commits.push_back(commit(bisection.commits[i]));
    commits.back().update(measured_commit(found, i));
  }
  std::map<int, json> jobs;
  for (const LogPart& part : found.log.parts)
    jobs[part.session].push_back(json{{"job", part.job.id},
                                      {"kind", part.job.spec.kind},
                                      {"state", part.job.state},
                                      {"runner", part.job.runner},
                                      {"runs", part.runs}});
  for (auto& [number, list] : jobs)
    sessions.push_back(json{{"session", number}, {"jobs", std::move(list)}});
  row["commits"] = std::move(commits);
  row["sessions"] = std::move(sessions);
  return row;
}

json Rows::commit_detail(const CommitSha& sha) {
  json row = commit(sha);
  const auto known = commits_ ? commits_->find(sha) : std::nullopt;
  row["committed_at"] = known ? json(known->committed_at) : json(nullptr);
  row["builds"] = row["measured"] = json::array();
  for (const Build& build : storage::builds_of_commit(db_, sha))
    row["builds"].push_back(this->build(build));
  for (const Bisection& bisection : storage::bisections_of_commit(db_, sha, most_searches)) {
    const auto at = std::find(bisection.commits.begin(), bisection.commits.end(), sha);
    const auto index = static_cast<std::size_t>(at - bisection.commits.begin());
    const Series& series = series_of(bisection.series);
    json one{{"bisection", bisection.id},        {"series", bisection.series},
             {"workload", series.workload_name}, {"metric", series.metric},
             {"unit", unit_of(series.metric)},   {"commit_count", bisection.commits.size()}};
    one.update(measured_commit(searched(bisection), index));
    row["measured"].push_back(std::move(one));
  }
  return row;
}

}  // namespace nightjar::service::api
