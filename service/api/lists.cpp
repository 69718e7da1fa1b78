// GET of every resource: lists in pages, and single items.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "bisect/git/commit_graph.hpp"
#include "service/api/query.hpp"
#include "service/api/routes.hpp"
#include "service/api/rows.hpp"

namespace nightjar::service::api {
using nlohmann::json;
using storage::Database;
using web::Request;
namespace {

// Items of a page as `row` writes them, a member of Rows.
template <class T, class Row>
web::Response page_answer(Database& db, const storage::Page<T>& page, Row row,
                          const git::CommitGraph* commits = nullptr) {
  Rows rows(db, commits);
  json items = json::array();
  for (const T& item : page.items) items.push_back((rows.*row)(item));
  return json_answer(page_of(std::move(items), page.next));
}

// A page of what storage gives as a whole.
template <class T>
storage::Page<T> cut(std::vector<T> all, const storage::PageRequest& request) {
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

template <class Id, class Find, class Row>
Work one(const char* what, Find find, Row row, const git::CommitGraph* commits = nullptr) {
  return [=](Database& db, const Request& request) {
    const auto id = path_id<Id>(request);
    const auto item = find(db, id);
    if (!item) refuse_unknown(what, id.value);
    Rows rows(db, commits);
    return json_answer((rows.*row)(*item));
  };
}

web::Response list_series(Database& db, const Request& request) {
  storage::SeriesFilter filter;
  filter.metric = query_metric(request);
  filter.workload_glob = query_glob(request, "workload");
  filter.machine = query_id<MachineId>(request, "machine");
  return page_answer(db, storage::list_series(db, filter, query_page(request)), &Rows::series);
}

web::Response list_runs(Database& db, const Request& request) {
  storage::RunFilter filter;
  filter.job = query_id<JobId>(request, "job");
  filter.build = query_id<BuildId>(request, "build");
  filter.workload = query_id<WorkloadId>(request, "workload");
  return page_answer(db, storage::list_runs(db, filter, query_page(request)), &Rows::run);
}

web::Response list_regressions(Database& db, const Request& request,
                               const git::CommitGraph& commits) {
  storage::RegressionFilter filter;
  filter.state = query_enum<RegressionState>(request, "state");
  filter.metric = query_metric(request);
  filter.workload_glob = query_glob(request, "workload");
  filter.since = query_time(request, "since");
  filter.commit = query_commit(request, "commit");
  return page_answer(db, storage::list_regressions(db, filter, query_page(request)),
                     &Rows::regression, &commits);
}

web::Response one_commit(Database& db, const Request& request, const git::CommitGraph& commits) {
  const auto& text = request.parameters.at("sha");
  const auto sha = CommitSha::parse(text);
  if (!sha)
    throw Refused(404, "Not found",
                  "'" + text + "' is no commit: 40 hexadecimal digits are wanted.");
  const json row = Rows(db, &commits).commit_detail(*sha);
  if (row["subject"].is_null() && row["builds"].empty() && row["measured"].empty())
    throw Refused(404, "Not found", "Nothing is known of commit " + text + ".");
  return json_answer(row);
}

web::Response list_reports(Database& db, const Request& request) {
  const auto regression = query_id<RegressionId>(request, "regression");
  const auto page = query_page(request);
  return page_answer(db,
                     regression ? cut(storage::messages_of(db, *regression), page)
                                : storage::list_messages(db, page),
                     &Rows::report);
}

web::Response list_jobs(Database& db, const Request& request) {
  const auto state = query_enum<JobState>(request, "state");
  return page_answer(db, storage::list_jobs(db, state, query_page(request)), &Rows::job);
}

// `list` is a function of storage that takes a page's request.
template <class List, class Row>
Work simple(List list, Row row) {
  return [=](Database& db, const Request& request) {
    return page_answer(db, list(db, query_page(request)), row);
  };
}

void add_runner_routes(web::Server& server, Context& context) {
  const auto row = [&context](Rows& rows, const Runner& runner) {
    return rows.runner(runner, context.clock.now(), context.config.queue.runner_silent);
  };
  // `live` changes with the clock, so these are never kept.
  add_read(
      server, context, "/api/v1/runners", {"limit", "cursor"},
      [row](Database& db, const Request& request) {
        const auto page = cut(storage::all_runners(db), query_page(request));
        Rows rows(db);
        json items = json::array();
        for (const Runner& runner : page.items) items.push_back(row(rows, runner));
        return json_answer(page_of(std::move(items), page.next));
      },
      Kept::never);
  add_read(
      server, context, "/api/v1/runners/{id}", {},
      [row](Database& db, const Request& request) {
        const auto id = path_id<RunnerId>(request);
        const auto runner = storage::find_runner(db, id);
        if (!runner) refuse_unknown("runner", id.value);
        Rows rows(db);
        return json_answer(row(rows, *runner));
      },
      Kept::never);
}

template <class Id, class T>
auto finder(std::optional<T> (*find)(const Database&, Id)) {
  return find;
}

}  // namespace

void add_list_routes(web::Server& server, Context& context) {
  const auto list = [&](const std::string& name, std::vector<std::string> query, Work work) {
    query.insert(query.end(), {"limit", "cursor"});
    add_read(server, context, "/api/v1/" + name, std::move(query), std::move(work));
  };
  const auto single = [&](const std::string& name, Work work) {
    add_read(server, context, "/api/v1/" + name + "/{id}", {}, std::move(work));
  };
  list("builds", {}, simple(storage::list_builds, &Rows::build));
  single("builds",
         one<BuildId>("build", finder<BuildId, Build>(storage::find_build), &Rows::build));
  list("workloads", {}, [](Database& db, const Request& request) {
    return page_answer(db, cut(storage::all_workloads(db), query_page(request)), &Rows::workload);
  });
  single("workloads",
         one<WorkloadId>("workload", finder<WorkloadId, Workload>(storage::find_workload),
                         &Rows::workload));
  list("series", {"metric", "workload", "machine"}, list_series);
  single("series",
         one<SeriesId>("series", finder<SeriesId, Series>(storage::find_series), &Rows::series));
  list("runs", {"job", "build", "workload"}, list_runs);
  single("runs", one<RunId>("run", finder<RunId, storage::StoredRun>(storage::find_run),
                            &Rows::run_detail));
  list("regressions", {"state", "metric", "workload", "since", "commit"},
       [&context](Database& db, const Request& request) {
         return list_regressions(db, request, context.commits);
       });
  single("regressions",
         one<RegressionId>("regression", finder<RegressionId, Regression>(storage::find_regression),
                           &Rows::regression_detail, &context.commits));
  list("bisections", {}, simple(storage::list_bisections, &Rows::bisection));
  single("bisections",
         one<BisectionId>("bisection", finder<BisectionId, Bisection>(storage::find_bisection),
                          &Rows::bisection_detail, &context.commits));
  add_read(server, context, "/api/v1/commits/{sha}", {},
           [&context](Database& db, const Request& request) {
             return one_commit(db, request, context.commits);
           });
  list("reports", {"regression"}, list_reports);
  list("jobs", {"state"}, list_jobs);
  single("jobs", one<JobId>("job", finder<JobId, Job>(storage::find_job), &Rows::job_detail));
  list("nights", {}, simple(storage::list_nights, &Rows::night));
  list("marks", {}, simple(storage::list_marks, &Rows::mark));
  list("improvements", {}, simple(storage::list_improvements, &Rows::improvement));
  single("nights",
         one<NightId>("night", finder<NightId, Night>(storage::find_night), &Rows::night_detail));
  add_runner_routes(server, context);
  add_read(server, context, "/api/v1/audit", {"limit", "cursor"},
           simple(storage::list_audit, &Rows::audit), Kept::until_change, web::Role::admin);
}

}  // namespace nightjar::service::api
