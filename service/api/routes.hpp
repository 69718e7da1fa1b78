// Routes, each declared once: its Operation is what answers a path and what openapi.json says of
// it. And the groups of routes that make up the interface. Internal to the API.
#pragma once

#include <optional>
#include <string>

#include "service/api/api.hpp"
#include "service/api/document.hpp"
#include "service/api/query.hpp"
#include "service/api/representation.hpp"
#include "service/api/respond.hpp"
#include "service/api/rows.hpp"
#include "storage/model/night.hpp"

namespace nightjar::service {

class SignIn;

}  // namespace nightjar::service

namespace nightjar::service::api {

class Routes {
 public:
  Routes(web::Server& with_server, Context& with_context);

  enum class Kept { until_change, never };
  // A GET that queries a reader. What is kept until the database changes has an ETag. Other query
  // parameters than the operation's are refused.
  void read(Operation operation, Work work, Kept kept = Kept::until_change);
  // A POST, or another method, that works on the writer. `refuse`: as web::Route has it.
  using Refuse = std::function<std::optional<web::Response>(const web::Request&)>;
  void write(Operation operation, Work work, std::size_t body_limit = 1 << 20, Refuse refuse = {});
  // Judges a request by its head, before a byte of its body is read. nullopt lets the body come.
  using Judge =
      std::function<std::optional<web::Response>(storage::Database&, const web::Request&)>;
  // A POST whose body may be large. `read` makes something of it on the thread for bodies, one at a
  // time; what it returns only stores that, on the writer, and is called again while it returns
  // nullopt: others' work comes in between. `judge` runs on the writer, too.
  using Store = std::function<std::optional<web::Response>(storage::Database&)>;
  using ReadBody = std::function<Store(const web::Request&)>;
  void take(Operation operation, Judge judge, ReadBody read, std::size_t body_limit);
  // Anything else: `handler` does what it is to do and answers. nullopt: on the I/O thread.
  // `judge` is given a reader.
  void add(Operation operation, web::Handler handler,
           std::optional<boost::asio::any_io_executor> executor = std::nullopt,
           std::size_t body_limit = 1 << 20, Refuse refuse = {}, Judge judge = {});
  // The same, but `handler` runs where the queries run, when it is the turn of the request's token.
  void add_reading(Operation operation, web::Handler handler, std::size_t body_limit = 1 << 20,
                   Judge judge = {});
  // Documents a route that something else answers.
  void describe(Operation operation);

  // GET of a list in pages; `find(db, request, page)` gives one page of it.
  template <class T, class Find>
  void list(const std::string& name, const char* summary, const Row<T>& row, Find find,
            std::vector<Parameter> query = {}, Kept kept = Kept::until_change,
            web::Role role = web::Role::read) {
    const auto page = std::make_shared<const Row<storage::Page<T>>>(page_row(row));
    for (Parameter& parameter : paging()) query.push_back(std::move(parameter));
    for (Parameter& parameter : representation(row.schema())) query.push_back(std::move(parameter));
    read(
        {.path = "/api/v1/" + name,
         .id = "list_" + name,
         .summary = summary,
         .role = role,
         .parameters = std::move(query),
         .answers = list_answers(page->schema())},
        [&context = context, page, schema = row.schema(), find](storage::Database& db,
                                                                const web::Request& request) {
          Rows rows(db, &context);
          return list_answer(request, page->write(find(db, request, page_request(request)), rows),
                             schema);
        },
        kept);
  }
  // GET of one of them; `find(db, id)` gives an optional.
  template <class T, class Id>
  void one(const std::string& name, const char* summary, const char* what, const Row<T>& row,
           std::optional<T> (*find)(const storage::Database&, Id), Kept kept = Kept::until_change) {
    read(
        {.path = "/api/v1/" + name + "/{id}",
         .id = "get_" + name,
         .summary = summary,
         .answers = {{.schema = row.schema()}},
         .problems = {no_such_id}},
        [&context = context, what, &row, find](storage::Database& db, const web::Request& request) {
          const auto id = path_id<Id>(request);
          const auto item = find(db, id);
          if (!item) refuse_unknown(what, id.value);
          Rows rows(db, &context);
          return json_answer(row.write(*item, rows));
        },
        kept);
  }

  const std::vector<Operation>& operations() const { return operations_; }

  web::Server& server;
  Context& context;

 private:
  void serve(Operation operation, web::Route route);
  std::vector<Operation> operations_;
};

void add_list_routes(Routes& routes);        // builds to audit
void add_evidence_routes(Routes& routes);    // of a verdict, to judge again
void add_comparison_routes(Routes& routes);  // /compare, /series/{id}/points
void add_beside_routes(Routes& routes);      // machine classes, and a release beside a nightly
void add_series_history_routes(Routes& routes);
void add_calibration_routes(Routes& routes);
void add_trust_routes(Routes& routes);
void add_cost_routes(Routes& routes);  // of nights, in machine time
void add_suite_routes(Routes& routes);
void add_profile_routes(Routes& routes);
void add_extent_routes(Routes& routes);
void add_about_routes(Routes& routes);
void add_author_routes(Routes& routes);  // and who repaired what
void add_triage_routes(Routes& routes);  // POST /regressions/{id}/dismiss and others
void add_report_routes(Routes& routes);  // POST /reports/{id}/retry
void add_night_routes(Routes& routes);   // POST /nights, /nights/{id}/cancel
void add_job_routes(Routes& routes);     // POST /jobs/{id}/cancel
void add_mark_routes(Routes& routes);    // POST /marks, DELETE /marks/{id}
void add_import_routes(Routes& routes);
void add_webhook_routes(Routes& routes);
void add_agent_routes(Routes& routes);
// How a person signs in, out, and is known; nullptr: with a token only.
void add_sign_in_routes(Routes& routes, SignIn* sign_in);
void add_source_build_routes(Routes& routes);  // of builders, and the logs of their builds
void add_artifact_routes(Routes& routes);
void add_demand_routes(Routes& routes);
void add_operation_routes(Routes& routes);  // health, readiness, metrics
void add_page_routes(Routes& routes);
void add_document_route(Routes& routes);  // openapi.json, of the routes that were added before

// Stores a waiting night and who asked for it, in one transaction, then tells engine and watchers.
// One that was asked for before and has not begun is answered instead. nullopt: the webhook's
// delivery (empty: none) was received before.
struct StartedNight {
  Night night;
  bool is_new = true;
};
std::optional<StartedNight> start_night(storage::Database& db, Context& context,
                                        NightTrigger trigger, const std::string& actor,
                                        const std::string& reason,
                                        const std::string& delivery = {});

}  // namespace nightjar::service::api
