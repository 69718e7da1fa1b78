// Every operation of openapi.json is asked once, and its answer must be what the document promises.
#include <regex>
#include <set>

#include "storage/source_builds.hpp"
#include "tests/service/api/day.hpp"
#include "tests/support/any_state.hpp"
#include "tests/support/source_tree.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

namespace {

// The JSON Schema that openapi.json uses; every complaint names its place.
class Judge {
 public:
  explicit Judge(const json& document) : document_(document) {}
  std::vector<std::string> complaints;

  void judge(const json& schema, const json& value, const std::string& at) {
    if (schema.contains("$ref"))
      return judge(document_.at(json::json_pointer(schema["$ref"].get<std::string>().substr(1))),
                   value, at);
    // The first is what comes where a request leaves nothing out.
    if (schema.contains("anyOf")) return judge(schema["anyOf"].front(), value, at);
    if (schema.contains("oneOf")) return judge_one_of(schema["oneOf"], value, at);
    if (schema.contains("allOf"))
      for (const auto& part : schema["allOf"]) judge(part, value, at);
    if (schema.contains("type") && !has_type(schema["type"], value))
      return complain(at, "is " + value.dump() + ", not " + schema["type"].dump());
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
      complain(at, value.dump() + " is not one of " + schema["enum"].dump());
    for (const auto& name : schema.value("required", json::array()))
      if (!value.contains(name.get<std::string>())) complain(at, "lacks " + name.dump());
    const auto properties = schema.value("properties", json::object());
    for (const auto& [name, property] : properties.items())
      if (value.is_object() && value.contains(name)) judge(property, value[name], at + "/" + name);
    if (schema.contains("items"))
      for (const auto& item : value) judge(schema["items"], item, at + "/*");
  }

 private:
  void complain(const std::string& at, const std::string& what) {
    complaints.push_back(at + ": " + what);
  }
  void judge_one_of(const json& choices, const json& value, const std::string& at) {
    std::string why;
    for (const auto& choice : choices) {
      Judge other(document_);
      other.judge(choice, value, at);
      if (other.complaints.empty()) return;
      why += " | " + other.complaints.front();
    }
    complain(at, "fits no choice" + why);
  }
  static bool has_type(const json& type, const json& value) {
    if (type.is_array())
      return std::any_of(type.begin(), type.end(),
                         [&](const json& t) { return has_type(t, value); });
    if (type == "null") return value.is_null();
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    if (type == "boolean") return value.is_boolean();
    return type == "array" ? value.is_array() : value.is_object();
  }
  const json& document_;
};

struct Call {
  std::string target, body;
  std::vector<std::pair<std::string, std::string>> headers;
};

std::string attempt_body(json more = json::object()) {
  more["attempt"] = 1;
  return more.dump();
}

const char* verb_of(const std::string& method) {
  return method == "get" ? "GET" : method == "delete" ? "DELETE" : method == "put" ? "PUT" : "POST";
}

// Two builds under way, since the first one's ends with its outcome.
std::vector<JobId> claim_builds(World& world, const Day& day) {
  return world.on_writer([&] {
    Runner builder = day.runner;
    builder.name = "builder";
    builder.workloads = {};
    builder.labels["build"] = "only";
    builder = storage::register_runner(storage::Autocommit(world.db), builder);
    std::vector<JobId> jobs;
    for (const char* state : {"one", "two"}) {
      storage::request_build(storage::Autocommit(world.db),
                             {web::sha256(state), "cpu",
                              SourceSpec{"https://example.org/x", commit(1), "r", web::sha256("r")},
                              day.night.id, 0, evening});
      const auto job = storage::claim_job(storage::Autocommit(world.db), builder, evening,
                                          evening + std::chrono::hours(1));
      REQUIRE(job);
      jobs.push_back(job->id);
    }
    return jobs;
  });
}

// A regression whose confirmations were cut short for good.
RegressionId add_unconfirmed(World& world, const Day& day) {
  Regression made = day.regression;
  made.id = {};
  made.part = 1;
  made.culprit.reset();
  made.fingerprint.clear();
  made.unfinished = 3;
  return nightjar::test::add_in_any(storage::Autocommit(world.db), made,
                                    {RegressionState::unconfirmed, evening, R"({"reason": "x"})"})
      .id;
}

// A regression whose search has spent its minutes.
RegressionId add_spent(World& world, const Day& day) {
  storage::Transaction transaction(world.db);
  Regression made = day.regression;
  made.id = {};
  made.part = 3;
  made.culprit.reset();
  made.fingerprint.clear();
  made = nightjar::test::add_in_any(transaction, made,
                                    {RegressionState::inconclusive, evening, R"({"reason": "x"})"});
  Bisection search = day.bisection;
  search.id = {};
  search.regression = made.id;
  search.state = BisectionState::inconclusive;
  storage::add_bisection(transaction, search);
  transaction.commit();
  return made.id;
}

// The day's regression was back with the next nightly.
void add_recovered(World& world, const Day& day) {
  const Build good_again = add_nightly(world, 3, "2026-08-21");
  const Night next = add_night(world, good_again, NightState::done);
  storage::set_level(storage::Autocommit(world.db), {day.series, good_again.id, next.id, 1, 3});
  Regression made = day.regression;
  made.id = {};
  made.part = 2;
  made.fingerprint = "f2";
  nightjar::test::add_in_any(storage::Autocommit(world.db), made,
                             {RegressionState::recovered, evening, R"({"reason": "back"})"});
}

// A runner that has enrolled with the token "own", and two one-time tokens that are open.
struct Enrolled {
  std::int64_t token = 0, to_revoke = 0;
  std::string to_use;
};
Enrolled enrol(World& world) {
  const auto one_time = [&] {
    return world.post("/api/v1/enrolments", json::object(), "admin").json;
  };
  const auto first = one_time(), second = one_time(), third = one_time();
  const json body{
      {"enrolment", first.at("token")}, {"name", "own"}, {"sha256", web::sha256("own")}};
  const auto own = world.post("/api/v1/agent/enrol", body, "");
  REQUIRE(own.status == 200);
  return {own.json.at("id"), second.at("id"), third.at("token")};
}

SourceResult failed_build() {
  SourceResult result;
  result.outcome = SourceOutcome::does_not_compile;
  result.reason = "error: x";
  return result;
}

// How each operation is asked on this day.
Call call_for(World& world, const std::string& path, const std::string& operation, const Day& day,
              const std::vector<JobId>& builds, const Enrolled& enrolled) {
  const std::map<std::string, std::int64_t> ids{
      {"list", 0},
      {"get_workloads", day.workload.id.value},
      {"get_series", day.series.value},
      {"get_series_history", day.series.value},
      {"get_series_points", day.series.value},
      {"get_runs", 2},
      {"get_regressions", day.regression.id.value},
      {"get_regressions_evidence", day.regression.id.value},
      {"get_regressions_extent", day.regression.id.value},
      {"get_regressions_profile", day.regression.id.value},
      {"cause_regression", day.regression.id.value},
      {"confirm_regression", day.regression.id.value + 1},
      {"dismiss_regression", day.regression.id.value},
      {"widen_regression", day.regression.id.value + 3},
      {"get_bisections", day.bisection.id.value},
      {"get_bisections_evidence", day.bisection.id.value},
      {"get_runners", day.runner.id.value},
      {"get_jobs", 1},
      {"get_nights", day.night.id.value},
      {"get_suites", 1},
      {"cancel_night", day.night.id.value},
      {"cancel_job", day.leased[3].id.value + 1},  // queued
      {"delete_mark", 1},
      {"retry_report", 1},
      {"fail_job", day.leased[0].id.value},
      {"release_job", day.leased[1].id.value},
      {"renew_lease", day.leased[2].id.value},
      {"send_result", day.leased[3].id.value},
      {"send_log", builds[0].value},
      {"send_outcome", builds[0].value},
      {"get_job_log", builds[0].value},
      {"send_wheel", builds[1].value},
      {"revoke_enrolment", enrolled.to_revoke},
      {"revoke_token", enrolled.token}};
  const auto nonce = [&] {
    const JobId job{ids.at(operation)};
    return world.on_writer([&] { return storage::find_job(world.db, job).value().nonce; });
  };
  Call call{path, "", {}};
  if (const auto at = path.find("{id}"); at != std::string::npos)
    call.target.replace(at, 4, std::to_string(ids.at(operation)));
  if (const auto at = path.find("{build}"); at != std::string::npos)
    call.target.replace(at, 7, day.good.version);
  if (const auto at = path.find("{sha}"); at != std::string::npos)
    call.target.replace(at, 5, day.good.commit->str());
  if (const auto at = path.find("{sha256}"); at != std::string::npos)
    call.target.replace(at, 8, operation == "get_lock" ? day.lock.str() : day.artifact.str());
  if (operation.starts_with("compare"))
    call.target +=
        "?good=" + std::to_string(day.good.id.value) + "&bad=" + std::to_string(day.bad.id.value);
  const std::string machine = std::to_string(day.runner.machine.value);
  if (operation == "machines_beside") call.target += "?first=" + machine + "&other=" + machine;
  if (operation == "get_difference")
    call.target += "?reference=" + std::to_string(day.good.id.value) +
                   "&build=" + std::to_string(day.bad.id.value);
  if (operation == "register_runner")
    call.body =
        R"({"name": "n", "labels": {}, "version": "1", "workloads": [], "facts": {"a": "b"}})";
  if (operation == "get_author") call.target += "?name=somebody";
  if (operation.ends_with("_regression")) call.body = R"({"reason": "new inputs"})";
  if (operation == "add_mark") call.body = R"({"reason": "new pin", "metric": "latency"})";
  if (operation == "import_history")
    call.body = world.get("/openapi.json")
                    .json
                    .at("/paths/~1api~1v1~1imports/post/requestBody/content/"
                        "application~1json/example"_json_pointer)
                    .dump();
  if (operation == "claim_job")
    call.body = json{{"runner", day.runner.id.value}, {"wait_seconds", 0}}.dump();
  if (operation == "leave") call.body = json{{"runner", day.runner.id.value}}.dump();
  if (operation == "fail_job")
    call.body = attempt_body({{"nonce", nonce()}, {"reason", "no disk"}});
  if (operation == "release_job" || operation == "renew_lease")
    call.body = attempt_body({{"nonce", nonce()}});
  if (operation == "send_result")
    call.body = attempt_body({{"nonce", nonce()}, {"result", whole_session()}});
  if (operation == "send_log") {
    call.target += "?attempt=1&nonce=" + nonce();
    call.body = "error: x\n";
  }
  if (operation == "send_outcome")
    call.body = attempt_body({{"nonce", nonce()}, {"result", failed_build()}});
  if (operation == "send_wheel")
    call.target +=
        "?attempt=1&nonce=" + nonce() + "&offset=0&size=10&sha256=" + web::sha256("w").str();
  if (operation == "make_enrolment") call.body = R"({"runner": "lab-7", "seconds": 60})";
  if (operation == "enrol")
    call.body =
        json{{"enrolment", enrolled.to_use}, {"name", "n2"}, {"sha256", web::sha256("n2")}}.dump();
  if (operation == "rotate_token") call.body = json{{"sha256", web::sha256("next")}}.dump();
  if (operation == "github_webhook") {
    call.body = R"({"zen": "x"})";
    // HMAC-SHA-256 of that body with the secret "hush".
    call.headers = {{"X-GitHub-Event", "watch"},
                    {"X-GitHub-Delivery", "d"},
                    {"X-Hub-Signature-256",
                     "sha256=e230eff4de7f9976d429a39f36537a29bfff68331684f84618aa27171a2517b8"}};
  }
  return call;
}

}  // namespace

TEST_CASE("Every operation of openapi.json answers what the document promises") {
  World world;
  const Day day = fill(world);
  REQUIRE(add_unconfirmed(world, day).value == day.regression.id.value + 1);
  add_recovered(world, day);
  REQUIRE(add_spent(world, day).value == day.regression.id.value + 3);
  add_profiles(world, day);
  refuse_report(world, OutboxId{1});
  const auto builds = claim_builds(world, day);
  const auto enrolled = enrol(world);
  const auto document = world.get("/openapi.json").json;
  const auto& imports = document.at("/paths/~1api~1v1~1imports/post"_json_pointer);
  const auto history = imports.at("/requestBody/content/application~1json/example"_json_pointer);
  REQUIRE(world.post("/api/v1/imports", history, "import").status == 200);
  REQUIRE(document.at("openapi") == "3.1.0");
  std::set<std::string> asked;
  for (const auto& [path, methods] : document.at("paths").items())
    for (const auto& [method, operation] : methods.items()) {
      const auto id = operation.at("operationId").get<std::string>();
      if (id == "events") continue;  // never ends; below
      INFO(method << " " << path);
      const auto call = call_for(world, path, id, day, builds, enrolled);
      const auto* token = id == "rotate_token" ? "own" : "admin";
      const auto reply = world.send(verb_of(method), call.target, token, call.body, call.headers);
      const auto& responses = operation.at("responses");
      const bool begins = id == "github_webhook" || id == "start_night";
      const std::string status = begins                      ? "202"
                                 : responses.contains("200") ? "200"
                                 : responses.contains("201") ? "201"
                                                             : "202";
      INFO(reply.text.substr(0, 500));
      REQUIRE(std::to_string(reply.status) == status);
      const auto& content = operation["responses"][status]["content"];
      const auto type = reply.headers.at("content-type");
      REQUIRE(content.contains(type.substr(0, type.find(';'))));
      const auto& schema = content.begin().value().at("schema");
      Judge judge(document);
      judge.judge(schema, content.contains("application/json") ? reply.json : json(reply.text), id);
      CHECK(judge.complaints == std::vector<std::string>{});
      if (reply.json.is_object() && reply.json.contains("items"))
        CHECK_FALSE(reply.json["items"].empty());
      asked.insert(id);
    }
  CHECK(asked.size() == 86);
  web::RawClient client(world.server.port());
  client.write("GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(client.read_past("\r\n\r\n").find("text/event-stream") != std::string::npos);
}

TEST_CASE("Every operation asks for the role that the document names") {
  World world;
  const auto document = world.get("/openapi.json").json;
  for (const auto& [pattern, methods] : document.at("paths").items())
    for (const auto& [method, operation] : methods.items()) {
      const auto path = std::regex_replace(pattern, std::regex(R"(\{\w+\})"), "1");
      const auto role = operation.at("x-role").get<std::string>();
      if (role == "none" || role == "read") continue;
      INFO(method << " " << path);
      const auto verb = verb_of(method);
      CHECK(world.send(verb, path).status == 401);
      CHECK(world.send(verb, path, "nonsense").status == 401);
      CHECK(world.send(verb, path, "read").status == 403);
      if (role == "admin" || role == "builder")
        CHECK(world.send(verb, path, "runner").status == 403);
    }
}

// A change of the document is a change of what clients were promised: it is made on purpose, here.
TEST_CASE("The document is the one that clients know") {
  World world;
  std::ifstream golden(nightjar::test::source_tree() / "tests/service/api/openapi.golden.json");
  CHECK(json::diff(json::parse(golden), world.get("/openapi.json").json) == json::array());
}
