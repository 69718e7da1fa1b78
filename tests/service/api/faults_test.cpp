// What openapi.json says of a body is what the service refuses.
#include "service/api/faults.hpp"

#include "tests/service/api/day.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

namespace {

// The schema of an operation's body, as the document has it.
const Schema& body_of(const std::string& operation_id) {
  static const auto bodies = [] {
    World world;
    const auto document = world.get("/openapi.json").json;
    std::map<std::string, Schema> found;
    const auto content = "/requestBody/content/application~1json/schema"_json_pointer;
    for (const auto& [path, methods] : document.at("paths").items())
      for (const auto& [method, operation] : methods.items()) {
        if (!operation.contains(content)) continue;
        Schema& body = found[operation.at("operationId")];
        body.text = operation.at(content);
        for (const auto& [name, schema] : document["components"]["schemas"].items())
          body.named[name] = schema;
      }
    return found;
  }();
  return bodies.at(operation_id);
}

std::vector<std::string> pointers(const json& body, const std::string& operation) {
  std::vector<std::string> all;
  for (const FieldFault& fault : faults_of(body, body_of(operation))) all.push_back(fault.pointer);
  return all;
}
using Pointers = std::vector<std::string>;

}  // namespace

TEST_CASE("Every field that is wrong is named, each by its place") {
  const json wrong{{"name", ""},
                   {"labels", {{"a/b", "x\n"}, {"fine", "y"}}},
                   {"version", 1},
                   {"workloads", {"a", "\x01"}}};
  CHECK(pointers(wrong, "register_runner") ==
        Pointers{"#/labels/a~1b", "#/name", "#/version", "#/workloads/1", "#/facts"});
  CHECK(pointers({{"attempt", 0}}, "renew_lease") == Pointers{"#/attempt"});
  CHECK(pointers({{"attempt", 2147483648}}, "renew_lease") == Pointers{"#/attempt"});
  CHECK(pointers({{"attempt", 1.5}}, "renew_lease") == Pointers{"#/attempt"});
  CHECK(pointers({{"attempt", 1e300}}, "renew_lease") == Pointers{"#/attempt"});
  CHECK(pointers({{"reason", "x"}, {"build", 1}}, "start_night") == Pointers{"#/build"});
  CHECK(pointers({{"reason", "x"}, {"metric", "beauty"}, {"machine", 0}}, "add_mark") ==
        Pointers{"#/machine", "#/metric"});
  CHECK(pointers(json::array(), "add_mark") == Pointers{"#"});
}

TEST_CASE("A hash has its length and its digits") {
  const auto hash = [](const std::string& text) {
    json body = {{"attempt", 1}, {"result", SourceResult{}}};
    body["result"]["sha256"] = text;
    return pointers(body, "send_outcome");
  };
  CHECK(hash(std::string(64, 'a')).empty());
  for (const std::string& text : {std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'g')})
    CHECK(hash(text) == Pointers{"#/result/sha256"});
}

TEST_CASE("What is well-formed is not refused, in any script") {
  CHECK(
      pointers({{"reason", "a new pin: \u65b0\U0001f426 \u00e9"}, {"metric", "*"}, {"machine", 1}},
               "add_mark")
          .empty());
  CHECK(pointers({{"runner", 1}, {"wait_seconds", 0.5}}, "claim_job").empty());
  CHECK(pointers(json::object(), "start_night").empty());
  CHECK(pointers({{"reason", std::string(1999, 'x') + "\u00e9"}}, "start_night").empty());
  CHECK(pointers({{"reason", std::string(2001, 'x')}}, "start_night") == Pointers{"#/reason"});
}

TEST_CASE("An integer may be written as 2.0, as JavaScript and JSON Schema have it") {
  json body{{"attempt", 2.0}, {"samples", {1.0, 2.0}}, {"seconds", .5}};
  CHECK(pointers(body, "renew_lease").empty());
  make_integers(body);
  CHECK(body["attempt"].is_number_integer());
  CHECK(body["samples"][0].is_number_float());
  CHECK(body["seconds"] == .5);
}

TEST_CASE("At most twenty faults are listed") {
  json many{{"name", "n"}, {"labels", json::object()}, {"version", "1"}, {"facts", json::object()}};
  many["workloads"] = json::array();
  for (int i = 0; i < 100; ++i) many["workloads"].push_back("");
  CHECK(faults_of(many, body_of("register_runner")).size() == most_faults);
}

TEST_CASE("A refusal lists its fields beside the sentence") {
  World world;
  const auto reply = world.post("/api/v1/agent/register", {{"name", "a\u0007"},
                                                           {"labels", json::object()},
                                                           {"version", "1"},
                                                           {"workloads", json::array()},
                                                           {"facts", json::object()}});
  CHECK(reply.status == 400);
  CHECK(reply.headers.at("content-type") == "application/problem+json");
  CHECK(reply.json["errors"] ==
        json::array({{{"pointer", "#/name"}, {"detail", "must have no control characters"}}}));
  CHECK(reply.json["detail"].get<std::string>().find("'/name' must have no control characters") !=
        std::string::npos);
}

TEST_CASE("A body nested absurdly deep is refused, and the service goes on") {
  World world;
  const std::string deep =
      "{\"name\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  for (const auto* path : {"/api/v1/agent/register", "/api/v1/marks", "/api/v1/nights"})
    CHECK(world.send("POST", path, "admin", deep).status == 400);
  const std::string quoted = R"({"name": ")" + std::string(200, '[') +
                             R"(\"[", "labels": {}, "version": "1", "workloads": [], "facts": {}})";
  CHECK(world.send("POST", "/api/v1/agent/register", "runner", quoted).status ==
        400);  // 202 characters
  CHECK(world.get("/healthz").status == 200);
}
