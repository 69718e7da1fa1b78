// GET of every resource: lists in pages, and single items.
#include <algorithm>

#include "service/api/references.hpp"
#include "service/api/routes.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/filtered.hpp"
#include "storage/jobs.hpp"

namespace nightjar::service::api {
using storage::Database;
using storage::PageRequest;
using web::Request;
namespace {

// A page of what storage gives as a whole.
template <class T>
storage::Page<T> cut(std::vector<T> all, const PageRequest& request) {
  std::sort(all.begin(), all.end(), [](const T& a, const T& b) { return a.id > b.id; });
  if (request.before)
    std::erase_if(all, [&](const T& item) { return item.id.value >= *request.before; });
  storage::Page<T> page;
  if (std::cmp_greater(all.size(), request.limit)) {
    all.erase(all.begin() + request.limit, all.end());
    page.next = all.back().id.value;
  }
  page.items = std::move(all);
  return page;
}

// `list` is a function of storage that takes a page's request.
template <class T>
auto simple(storage::Page<T> (*list)(const Database&, const PageRequest&)) {
  return [list](Database& db, const Request&, const PageRequest& page) { return list(db, page); };
}
template <class T>
auto whole(std::vector<T> (*all)(const Database&)) {
  return
      [all](Database& db, const Request&, const PageRequest& page) { return cut(all(db), page); };
}

void add_series_and_runs(Routes& routes) {
  const auto metric = metric_query();
  const auto workload = workload_queries();
  const auto machine = id_query<MachineId>("machine", "A machine class.");
  const auto variant = word_query("variant", "Only those of builds of this variant, e.g. cpu.");
  const auto series = [=](Database& db, const Request& request, const PageRequest& page) {
    storage::SeriesFilter filter;
    filter.metric = metric(request);
    filter.workload = workload(request);
    filter.machine = machine(request);
    filter.variant = variant(request);
    return storage::list_series(db, filter, page);
  };
  routes.list("series", "Series", series_row(), series, with_workloads({metric, machine, variant}));
  routes.one<Series, SeriesId>("series", "One series", "series", series_row(),
                               storage::find_series);
  const auto job = id_query<JobId>("job", "Only those of this job.");
  const auto build = build_name_query("build", "Only those of this build.");
  const auto of = id_query<WorkloadId>("workload", "Only those of this workload (its id).");
  const auto runs = [=](Database& db, const Request& request, const PageRequest& page) {
    storage::RunFilter filter;
    filter.job = job(request);
    if (const auto given = build(request)) filter.build = build_called(db, *given, build.name);
    filter.workload = of(request);
    return storage::list_runs(db, filter, page);
  };
  routes.list("runs", "Runs", run_row(), runs, {job, build, of});
  routes.one<storage::StoredRun, RunId>("runs", "One run with all raw samples", "run", run_detail(),
                                        storage::find_run);
}

// Nothing if neither is asked for.
std::optional<std::vector<RegressionState>> states_asked_for(std::optional<bool> counted,
                                                             std::optional<Progress> progress) {
  if (!counted && !progress) return std::nullopt;
  std::vector<RegressionState> states;
  for (const LifecycleRow& row : lifecycle())
    if (row.is_counted == counted.value_or(row.is_counted) &&
        row.progress == progress.value_or(row.progress))
      states.push_back(row.state);
  return states;
}

Query<bool> counted_query() {
  const auto parse = [](const std::string& given) {
    return given == "true" || given == "false" ? std::optional(given == "true") : std::nullopt;
  };
  return {"counted",
          "Only those that are counted as regressions, or only the others.",
          {{"type", "boolean"}},
          "true or false",
          parse};
}

// Which commits that are blamed for something are this author's: they are few, and the copy of the
// repository has the names.
std::vector<CommitSha> blamed_commits_of(const Database& db, const git::CommitGraph& commits,
                                         const std::string& author) {
  auto blamed = storage::blamed_commits(db);
  std::erase_if(blamed, [&](const CommitSha& sha) {
    const auto found = commits.find(sha);
    return !found || found->author_name != author;
  });
  return blamed;
}

void add_regressions(Routes& routes) {
  const auto state = enum_query<RegressionState>("state", "In this state.");
  const auto metric = metric_query();
  const auto workload = workload_queries();
  const auto since = time_query("since", "Opened at or after this time.");
  const Query<std::int64_t> issue{"issue",
                                  "Whose issue has this number.",
                                  {{"type", "integer"}, {"minimum", 1}},
                                  "a positive number",
                                  [](const std::string& given) { return parse_id(given); }};
  const auto changed = time_query("changed_since", "Changed at or after this time.");
  const auto commit = commit_name_query("commit", "Among the culprit's commits.");
  const auto machine = id_query<MachineId>("machine", "Seen on this machine class.");
  const auto series = id_query<SeriesId>("series", "Shown by this series.");
  const auto counted = counted_query();
  const auto progress = enum_query<Progress>(
      "progress", "Whose state says so: `waiting` is for a person or the outbox.");
  const auto author =
      text_query("author", "With a culprit by this author, as the commits have the name.",
                 "the name of an author");
  const auto regressions = [=, &commits = routes.context.commits](
                               Database& db, const Request& request, const PageRequest& page) {
    storage::RegressionFilter filter;
    filter.state = state(request);
    filter.metric = metric(request);
    filter.workload = workload(request);
    filter.since = since(request);
    filter.changed_since = changed(request);
    filter.issue = issue(request);
    if (const auto given = commit(request))
      filter.commit = commit_called(db, commits, *given, commit.name);
    filter.machine = machine(request);
    filter.series = series(request);
    filter.states = states_asked_for(counted(request), progress(request));
    if (const auto name = author(request)) filter.commits = blamed_commits_of(db, commits, *name);
    return storage::list_regressions(db, filter, page);
  };
  routes.list("regressions", "Regressions", regression_row(), regressions,
              with_workloads({state, metric, since, changed, issue, commit, machine, series,
                              counted, progress, author}));
  routes.one<Regression, RegressionId>("regressions", "One regression with its history",
                                       "regression", regression_detail(), storage::find_regression);
  const auto regression =
      id_query<RegressionId>("regression", "Only those of this regression; then all on one page.");
  const auto sending = enum_query<OutboxState>("state", "In this state.");
  const auto reports = [=](Database& db, const Request& request, const PageRequest& page) {
    const auto of = regression(request);
    const auto in_state = sending(request);
    if (!of) return storage::list_messages(db, page, in_state);
    auto messages = storage::messages_of(db, *of);
    std::erase_if(messages,
                  [&](const OutboxMessage& one) { return in_state && one.state != *in_state; });
    return cut(std::move(messages), page);
  };
  routes.list("reports", "Messages to the issue tracker and the chat", report_row(), reports,
              {regression, sending});
}

web::Response one_commit(Database& db, const Context& context, const Request& request) {
  const auto& text = request.parameters.at("sha");
  const auto sha = commit_called(db, context.commits, text);
  Rows rows(db, &context);
  const auto row = commit_detail().write(sha, rows);
  if (row["subject"].is_null() && row["builds"].empty() && row["measured"].empty())
    throw Refused(404, "Not found", "Nothing is known of commit " + text + ".");
  return json_answer(row);
}

void add_bisections(Routes& routes) {
  const auto state = enum_query<BisectionState>("state", "In this state.");
  const auto workload = workload_queries();
  const auto bisections = [=](Database& db, const Request& request, const PageRequest& page) {
    return storage::list_bisections(db, {state(request), workload(request)}, page);
  };
  routes.list("bisections", "Bisections", bisection_row(), bisections, with_workloads({state}));
  routes.one<Bisection, BisectionId>("bisections", "One bisection with commits and sessions",
                                     "bisection", bisection_detail(), storage::find_bisection);
  routes.read({.path = "/api/v1/commits/{sha}",
               .id = "get_commit",
               .summary = "One commit: its name, its builds, and what searches measured of it",
               .answers = {{.schema = commit_detail().schema()}},
               .problems = {no_such_id}},
              [&context = routes.context](Database& db, const Request& request) {
                return one_commit(db, context, request);
              });
}

void add_nights_and_improvements(Routes& routes) {
  const auto state = enum_query<NightState>("state", "In this state.");
  const auto build = build_name_query("build", "Only those of this build.");
  const auto since = time_query("since", "Begun at or after this time.");
  const auto nights = [=](Database& db, const Request& request, const PageRequest& page) {
    storage::NightFilter filter{state(request), {}, since(request)};
    if (const auto given = build(request)) filter.build = build_called(db, *given, build.name);
    return storage::list_nights(db, filter, page);
  };
  routes.list("nights", "Nights", night_row(), nights, {state, build, since});
  const auto metric = metric_query();
  const auto workload = workload_queries();
  const auto machine = id_query<MachineId>("machine", "A machine class.");
  const auto found_since = time_query("since", "Found at or after this time.");
  const auto commit = commit_name_query(
      "commit", "Among the commits that a search named for it, a range's left out.");
  const auto improvements = [=, &commits = routes.context.commits](
                                Database& db, const Request& request, const PageRequest& page) {
    storage::ImprovementFilter filter;
    filter.since = found_since(request);
    filter.metric = metric(request);
    filter.workload = workload(request);
    filter.machine = machine(request);
    if (const auto given = commit(request))
      filter.commit = commit_called(db, commits, *given, commit.name);
    return storage::list_improvements(db, filter, page);
  };
  routes.list("improvements", "Series that got better", improvement_row(), improvements,
              with_workloads({found_since, metric, machine, commit}));
}

}  // namespace

void add_list_routes(Routes& routes) {
  using enum Routes::Kept;
  const auto kind = enum_query<BuildKind>("kind", "Only those of this kind.");
  const auto build_state = enum_query<BuildState>("state", "In this state.");
  const auto date = date_query("date", "Only those of this day.");
  const auto begins = commit_prefix_query("commit", "Whose commit begins with these digits.");
  const auto builds = [=](Database& db, const Request& request, const PageRequest& page) {
    const storage::BuildFilter filter{kind(request), build_state(request), date(request),
                                      begins(request)};
    return storage::list_builds(db, filter, page);
  };
  routes.list("builds", "Builds", build_row(), builds, {kind, build_state, date, begins});
  routes.read({.path = "/api/v1/builds/{build}",
               .id = "get_builds",
               .summary = "One build, by its id, its version, or how that or its commit begins",
               .answers = {{.schema = build_row().schema()}},
               .problems = {no_such_build}},
              [&context = routes.context](Database& db, const Request& request) {
                const auto id = build_called(db, request.parameters.at("build"));
                const auto build = storage::find_build(db, id);
                if (!build) refuse_unknown("build", id.value);
                Rows rows(db, &context);
                return json_answer(build_row().write(*build, rows));
              });
  routes.list("lookups", "Wheels of CI that were looked for", ci_lookup_row(),
              simple(storage::list_ci_lookups));
  const auto chosen = workload_queries();
  const auto workloads = [=](Database& db, const Request& request, const PageRequest& page) {
    auto all = storage::all_workloads(db);
    std::erase_if(all, [filter = chosen(request)](const Workload& one) {
      return !matches(filter, one.name);
    });
    return cut(std::move(all), page);
  };
  routes.list("workloads", "Workloads", workload_row(), workloads, with_workloads({}));
  routes.one<Workload, WorkloadId>("workloads", "One workload", "workload", workload_row(),
                                   storage::find_workload);
  add_series_and_runs(routes);
  add_regressions(routes);
  add_bisections(routes);
  const auto state = enum_query<JobState>("state", "In this state.");
  const auto of_night = id_query<NightId>("night", "Only those of this night.");
  const auto machine = id_query<MachineId>("machine", "Only those of this machine class.");
  const auto variant = word_query("variant", "Only those of builds of this variant, e.g. cpu.");
  const auto facts = id_query<FactsId>("facts", "Measured while these were its machine's facts.");
  const auto jobs = [=](Database& db, const Request& request, const PageRequest& page) {
    return storage::listed_jobs(
        db, {state(request), of_night(request), machine(request), variant(request), facts(request)},
        page);
  };
  routes.list("jobs", "Jobs", job_row(), jobs, {state, of_night, machine, variant, facts});
  routes.one<storage::ListedJob, JobId>("jobs", "One job with specification and session", "job",
                                        job_detail(), storage::find_listed_job);
  add_nights_and_improvements(routes);
  routes.one<Night, NightId>("nights", "One night with jobs and regressions", "night",
                             night_detail(), storage::find_night);
  routes.list("marks", "Shifts of level that were marked", mark_row(), simple(storage::list_marks));
  // `live` changes with the clock, so these are never kept.
  routes.list("runners", "Runners", runner_row(), whole(storage::all_runners), {}, never);
  routes.one<Runner, RunnerId>("runners", "One runner", "runner", runner_row(),
                               storage::find_runner, never);
  routes.list("audit", "Who started what", audit_row(), simple(storage::list_audit), {},
              until_change, web::Role::admin);
}

}  // namespace nightjar::service::api
