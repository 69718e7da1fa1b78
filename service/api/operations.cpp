// What operators ask: is it alive, can it work, how much is there to do. And the artifacts.
#include <algorithm>
#include <map>

#include "service/api/metrics.hpp"
#include "service/api/routes.hpp"
#include "service/builds/artifacts.hpp"
#include "service/engine/trust/measured.hpp"
#include "storage/base/foreign_number.hpp"
#include "storage/calibration.hpp"
#include "storage/jobs.hpp"
#include "storage/locks.hpp"
#include "storage/nights.hpp"
#include "storage/outbox.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/trouble.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

std::string engine_check(const Context& context) {
  const double age = context.heartbeat.age_seconds(std::chrono::steady_clock::now());
  const double allowed = 60 + 10 * static_cast<double>(context.config.queue.tick.count());
  if (age < 0) return "has not ticked yet";
  return age <= allowed ? "ok"
                        : "has not ticked for " + std::to_string(clamped_integer<long>(age)) + " s";
}

using Checks = std::map<std::string, std::string>;

struct Readiness {
  Checks checks;
  std::vector<Obstacle> obstacles;
  // Each check that is not "ok", in a sentence.
  std::string failures() const {
    std::string all;
    for (const auto& [name, outcome] : checks)
      if (outcome != "ok") all += (all.empty() ? "" : "; ") + name + ": " + outcome;
    return all;
  }
};

const Described<Obstacle>& obstacle_row() {
  static const Described<Obstacle> made(
      "Obstacle", "One thing that stops nights now, or reports that nobody got.",
      {{"kind", &Obstacle::kind}, {"reason", &Obstacle::reason, "What is wrong, and what to do."}});
  return made;
}

Described<Readiness>::Fields readiness_fields(Described<Readiness>::Fields first) {
  first.emplace_back("ready", [](const Readiness& found) { return found.failures().empty(); });
  first.emplace_back("checks", &Readiness::checks, "",
                     named("Checks", schema_of<Checks>().with(
                                         {{"description", "By name: ok, or what is wrong."}})));
  first.emplace_back("obstacles", &Readiness::obstacles, obstacle_row());
  return first;
}

const Described<Readiness>& ready_row() {
  const auto status = [](const Readiness&) { return "ready"; };
  static const Described<Readiness> made(
      "Readiness", "Work can be done; and what stops nights or reports, which a person must mend.",
      readiness_fields({{"status", status, "", one_of({"ready"})}}));
  return made;
}

const Described<Readiness>& not_ready_row() {
  static const Described<Readiness> made(
      "NotReady", "RFC 9457, and the same as when it is ready.",
      readiness_fields(
          {{"type", [](const Readiness&) { return "about:blank"; }},
           {"title", [](const Readiness&) { return "Not ready"; }},
           {"status", [](const Readiness&) { return 503; }},
           {"detail", &Readiness::failures, "Each check that is not ok, and what to do."}}));
  return made;
}

// Not ready is what this service cannot work with. What a person must mend before there is a night,
// such as a wrong address or no runner, is listed either way.
web::Response readiness_answer(const Readiness& found) {
  if (found.failures().empty()) return json_answer(ready_row().write(found));
  web::Response response = json_answer(not_ready_row().write(found), 503);
  response.content_type = "application/problem+json";
  return response;
}

// On the writer's executor: that it gets there at all says that the writer is not stuck.
web::Response readiness(storage::Database& db, const Context& context) {
  Checks checks;
  try {
    checks["migrations"] = db.schema_version() > 0 ? "ok" : "the database has no schema";
    const storage::Transaction locks_and_rolls_back(db);
    checks["writer"] = "ok";
  } catch (const std::exception& error) {
    checks["writer"] = error.what();
  }
  checks["database"] = database_check(context);
  checks["disk"] = disk_check(context);
  checks["engine"] = engine_check(context);
  return readiness_answer({std::move(checks), context.obstacles.get()});
}

void obstacle_metrics(Metrics& metrics, const Context& context) {
  const auto obstacles = context.obstacles.get();
  metrics.describe("nightjar_obstacles", "gauge",
                   "What stops nights or reports now, by kind; /readyz says more.");
  for (const ObstacleKind kind : all_of<ObstacleKind>())
    metrics.value("nightjar_obstacles",
                  std::count_if(obstacles.begin(), obstacles.end(),
                                [&](const Obstacle& one) { return one.kind == kind; }),
                  "kind", name_of(kind));
}

// Over all series; /api/v1/calibration has them one by one.
void calibration_metrics(Metrics& metrics, storage::Database& db) {
  const CalibrationTotals totals = storage::calibration_totals(db, std::nullopt);
  metrics.describe("nightjar_calibration_cases_total", "counter",
                   "Cases of known truth that were judged.");
  metrics.value("nightjar_calibration_cases_total", totals.same_build, "case", "same_build");
  metrics.value("nightjar_calibration_cases_total", totals.planted, "case", "planted");
  metrics.describe(
      "nightjar_calibration_worse_total", "counter",
      "Those that were judged worse: false alarms, and planted slow-downs that were seen.");
  metrics.value("nightjar_calibration_worse_total", totals.false_alarms, "case", "same_build");
  metrics.value("nightjar_calibration_worse_total", totals.seen, "case", "planted");
  metrics.describe("nightjar_replayed_searches_total", "counter",
                   "Searches over recorded runs with a planted step, by what they named.");
  metrics.value("nightjar_replayed_searches_total", totals.exact, "named", "culprit");
  metrics.value("nightjar_replayed_searches_total", totals.innocent, "named", "innocent");
  metrics.value("nightjar_replayed_searches_total",
                totals.searches - totals.exact - totals.innocent, "named", "nobody");
}

template <class State>
void add_by_state(Metrics& metrics, const char* name, const std::map<State, int>& counts) {
  for (const State state : all_of<State>()) {
    const auto found = counts.find(state);
    metrics.value(name, found == counts.end() ? 0 : found->second, "state", name_of(state));
  }
}

void work_metrics(Metrics& metrics, storage::Database& db, const Context& context) {
  metrics.describe("nightjar_jobs", "gauge", "Jobs by state.");
  add_by_state(metrics, "nightjar_jobs", storage::count_jobs(db));
  metrics.describe("nightjar_regressions", "gauge", "Regressions by state.");
  add_by_state(metrics, "nightjar_regressions", storage::count_regressions(db));
  storage::PageRequest newest;
  newest.limit = 1;
  const auto nights = storage::list_nights(db, newest).items;
  metrics.one("nightjar_nights_total", "counter", "Nights that were ever started.",
              nights.empty() ? 0 : nights.front().id.value);
  metrics.one("nightjar_nights_open", "gauge", "Nights whose verdicts are not all in.",
              storage::open_nights(db).size());
  metrics.describe("nightjar_runner_last_seen_seconds", "gauge",
                   "Seconds since a runner was seen.");
  for (const Runner& runner : storage::all_runners(db))
    metrics.value("nightjar_runner_last_seen_seconds",
                  std::chrono::duration<double>(context.clock.now() - runner.seen_at).count(),
                  "runner", std::to_string(runner.id.value));
  calibration_metrics(metrics, db);
  trust_metrics(metrics, measure(load_trust(db, context.config)));
  metrics.describe("nightjar_outbox_messages", "gauge",
                   "Messages to the issue tracker, the chat and the export, by state.");
  auto messages = storage::count_messages(db);
  add_by_state(metrics, "nightjar_outbox_messages", messages);
  metrics.one("nightjar_outbox_pending", "gauge",
              "Messages to the issue tracker, the chat and the export not yet sent.",
              messages[OutboxState::pending]);
}

web::Response metrics_text(storage::Database& db, const Context& context,
                           const web::Server::Counters& counters) {
  Metrics metrics;
  work_metrics(metrics, db, context);
  obstacle_metrics(metrics, context);
  metrics.one("nightjar_http_requests_total", "counter", "HTTP requests.", counters.requests);
  metrics.describe("nightjar_http_errors_total", "counter", "HTTP answers that were errors.");
  metrics.value("nightjar_http_errors_total", counters.errors_4xx, "class", "4xx");
  metrics.value("nightjar_http_errors_total", counters.errors_5xx, "class", "5xx");
  metrics.one("nightjar_http_connections", "gauge", "Open connections.", counters.connections);
  metrics.one("nightjar_artifact_bytes", "gauge", "Size of wheels and overlays kept.",
              context.artifacts.size_bytes());
  metrics.one("nightjar_engine_tick_age_seconds", "gauge",
              "Seconds since the engine ticked; below 0 before it did.",
              context.heartbeat.age_seconds(std::chrono::steady_clock::now()));
  web::Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = metrics.text();
  return response;
}

web::Response artifact(Context& context, const web::Request& request) {
  const auto& name = request.parameters.at("sha256");
  const auto sha256 = Sha256::parse(name);
  const auto path = sha256 ? context.artifacts.path(*sha256) : std::nullopt;
  if (!path) return web::problem(404, "Not found", "There is no artifact '" + name + "' here.");
  web::Response response;
  response.content_type = "application/octet-stream";
  response.file = *path;
  response.headers.emplace_back("ETag", "\"" + sha256->str() + "\"");
  response.headers.emplace_back("Cache-Control", "private, immutable, max-age=31536000");
  return response;
}

web::Response lock(const storage::Database& db, const web::Request& request) {
  const std::string& name = request.parameters.at("sha256");
  const auto sha256 = Sha256::parse(name);
  const auto found = sha256 ? storage::find_lock(db, *sha256) : std::nullopt;
  if (!found) return web::problem(404, "Not found", "There is no lock '" + name + "' here.");
  // Earlier versions wrote the addresses of indexes as they were configured, with passwords.
  if (found->text.find('@') != std::string::npos)
    return web::problem(404, "Not found",
                        "This lock is not shown: an address in it tells a secret.");
  web::Response response;
  response.content_type = "text/plain; charset=utf-8";
  response.body = found->text;
  return response;
}

}  // namespace

std::string disk_check(const Context& context) {
  std::error_code error;
  const auto space = std::filesystem::space(context.config.service.data, error);
  if (error) return "cannot tell: " + error.message();
  if (space.available >= context.min_free_bytes) return "ok";
  return std::to_string(space.available >> 20) + " MiB left, " +
         std::to_string(context.min_free_bytes >> 20) + " MiB are needed";
}

std::string database_check(const Context& context) {
  if (const auto trouble = storage::trouble_of(context.writer)) return trouble->what;
  return context.complaints.find(damage_seen).value_or("ok");
}

void add_artifact_routes(Routes& routes) {
  const Schema bytes{{"type", "string"}, {"format", "binary"}};
  const std::string type = "application/octet-stream";
  routes.add_reading(
      {.path = "/api/v1/artifacts/{sha256}",
       .id = "get_artifact",
       .summary = "A wheel or overlay archive; Range is honoured",
       .role = web::Role::runner,
       .answers = {{.text = "The bytes.", .schema = bytes, .type = type},
                   {.status = 206, .text = "A part of the bytes.", .schema = bytes, .type = type}},
       .problems = {{404, "ArtifactNotFound", "There is no such artifact."},
                    {416, "RangeNotSatisfiable", "The range is not in the file."}}},
      [&context = routes.context](const web::Request& request, web::Respond respond) {
        respond(artifact(context, request));
      });
  routes.read({.path = "/api/v1/locks/{sha256}",
               .id = "get_lock",
               .summary = "The packages that builds are installed with, as a requirements file",
               .answers = {{.text = "Each package with its version and its hashes.",
                            .schema = {{"type", "string"}},
                            .type = "text/plain"}},
               .problems = {{404, "LockNotFound", "There is no such lock."}}},
              [](storage::Database& db, const web::Request& request) { return lock(db, request); });
}

void add_operation_routes(Routes& routes) {
  struct Health {};
  static const Described<Health> health(
      "Health", "The process answers.",
      {{"status", [](const Health&) { return "ok"; }, "", one_of({"ok"})},
       {"version", [](const Health&) { return NIGHTJAR_VERSION; }}});
  Context& context = routes.context;
  routes.add({.path = "/healthz",
              .id = "healthz",
              .summary = "The process answers",
              .role = web::Role::none,
              .answers = {{.schema = health.schema()}}},
             [alive = json_answer(health.write({}))](const web::Request&, web::Respond respond) {
               respond(alive);
             });
  routes.add(
      {.path = "/readyz",
       .id = "readyz",
       .summary = "Work can be done",
       .role = web::Role::none,
       .answers = {{.schema = ready_row().schema()},
                   {.status = 503,
                    .text = "The service cannot work: its database, its disk or its engine.",
                    .schema = not_ready_row().schema(),
                    .type = "application/problem+json"}}},
      [&context](const web::Request&, web::Respond respond) {
        respond(readiness(context.writer, context));
      },
      context.write);
  routes.read(
      {.path = "/metrics",
       .id = "metrics",
       .summary = "Prometheus text",
       .answers = {{.schema = schema_of<std::string>(), .type = "text/plain"}}},
      [&context, &server = routes.server](storage::Database& db, const web::Request&) {
        return metrics_text(db, context, server.counters());
      },
      Routes::Kept::never);
}

}  // namespace nightjar::service::api
