#include "service/api/document.hpp"

#include "storage/model/json.hpp"
#include "web/text.hpp"

namespace nightjar::service::api {
using nlohmann::json;
using web::Role;
namespace {

constexpr const char* description =
    "Roots are objects; every field is always present (null for none); ids are 64-bit numbers; "
    "times are RFC 3339 in UTC. Lists come newest first in pages. Errors are "
    "application/problem+json. Fields may be added, none is removed or renamed. Reads carry an "
    "ETag and honour If-None-Match. Lists also come as CSV, and reads compressed by gzip. Any "
    "operation may also be answered by 404 (no such path), 405, "
    "431 (the head is too large), 500, 503 (too many connections) or 504. 400: the request does "
    "not fit this document; 422: it fits, and yet cannot be done. The roles are read, import, "
    "runner, builder and admin: import and runner also read, builder does what runner does, and "
    "admin does everything. Reads need no token where the configuration leaves them open (x-role "
    "names the role of each operation).";

json tags() {
  return {{{"name", "read"}, {"description", "What is known"}},
          {{"name", "act"}, {"description", "What starts something"}},
          {{"name", "runner"}, {"description", "The protocol of the runner agent"}},
          {{"name", "operate"}, {"description", "For operators"}}};
}

const char* tag_of(const Operation& operation) {
  if (operation.role == Role::runner || operation.role == Role::builder) return "runner";
  if (operation.method != web::Method::get) return "act";
  return operation.path.starts_with("/api/") ? "read" : "operate";
}

json security_of(Role role) {
  const json token{{"bearer", json::array()}};
  if (role == Role::none) return json::array();
  return role == Role::read ? json::array({token, json::object()}) : json::array({token});
}

Schema problem_schema() {
  return named("Problem",
               {{"type", "object"},
                {"description", "RFC 9457: what was attempted, on what, and what to do."},
                {"required", {"type", "title", "status", "detail"}},
                {"properties",
                 {{"type", {{"type", "string"}}},
                  {"title", {{"type", "string"}}},
                  {"status", {{"type", "integer"}}},
                  {"detail", {{"type", "string"}}},
                  {"errors",
                   {{"type", "array"},
                    {"description",
                     "What is refused: fields of a body, each with a JSON pointer to it, or a "
                     "query parameter by its name."},
                    {"items",
                     {{"type", "object"},
                      {"required", {"detail"}},
                      {"properties",
                       {{"pointer", {{"type", "string"}}},
                        {"parameter", {{"type", "string"}}},
                        {"detail", {{"type", "string"}}}}}}}}}}}});
}

Schema path_schema(const std::string& name) {
  if (name == "id") return {{"type", "integer"}, {"format", "int64"}, {"minimum", 1}};
  return {{"type", "string"},
          {"pattern", name == "sha"     ? "^([0-9a-f]{4,40}|[0-9a-fA-F]{40})$"
                      : name == "build" ? "^[0-9A-Za-z][0-9A-Za-z.+_!-]{0,199}$"
                                        : "^[0-9a-fA-F]{64}$"}};
}

class Document {
 public:
  void add(const Operation& operation) {
    json made{{"operationId", operation.id},
              {"summary", operation.summary},
              {"tags", {tag_of(operation)}},
              {"x-role", name_of(operation.role)},
              {"security", security_of(operation.role)}};
    if (const auto open = operation.path.find('{'); open != std::string::npos) {
      const auto name = operation.path.substr(open + 1, operation.path.find('}') - open - 1);
      add_parameter(made, {name, "", path_schema(name), true, "path"});
    }
    for (const Parameter& parameter : operation.parameters) add_parameter(made, parameter);
    if (operation.body)
      made["requestBody"] = {
          {"required", operation.body->required},
          {"content",
           {{operation.body->type, content(operation.body->schema, operation.body->example)}}}};
    for (const Answer& answer : operation.answers) add_answer(made, answer);
    for (const Problem& problem : operation.problems) {
      made["responses"][std::to_string(problem.status)] = {
          {"$ref", std::string("#/components/responses/") + problem.name}};
      json& response = responses_[problem.name];
      response["description"] = problem.text;
      if (problem.status >= 400)
        response["content"]["application/problem+json"] = content(problem_schema(), nullptr);
    }
    paths_[operation.path][web::lower_case(web::method_text(operation.method))] = std::move(made);
  }

  json text() const {
    return {{"openapi", "3.1.0"},
            {"info",
             {{"title", "Nightjar"},
              {"version", "1"},
              {"summary", "Watches PyTorch nightlies for regressions and names their commits."},
              {"description", description},
              {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
            {"servers", {{{"url", "/"}}}},
            {"tags", tags()},
            {"paths", paths_},
            {"components",
             {{"securitySchemes", {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}}}},
              {"responses", responses_},
              {"schemas", schemas_}}}};
  }

 private:
  json used(const Schema& schema) {
    schemas_.insert(schema.named.begin(), schema.named.end());
    return schema.text;
  }
  json content(const Schema& schema, const json& example) {
    json made{{"schema", used(schema)}};
    if (!example.is_null()) made["example"] = example;
    return made;
  }
  void add_parameter(json& operation, const Parameter& parameter) {
    json made{{"name", parameter.name}, {"in", parameter.in}, {"schema", used(parameter.schema)}};
    if (!parameter.text.empty()) made["description"] = parameter.text;
    if (parameter.required) made["required"] = true;
    if (parameter.list) made.update({{"style", "form"}, {"explode", false}});
    operation["parameters"].push_back(std::move(made));
  }
  void add_answer(json& operation, const Answer& answer) {
    json& made = operation["responses"][std::to_string(answer.status)];
    made["description"] = answer.text;
    if (!answer.schema.text.empty())
      made["content"][answer.type] = content(answer.schema, answer.example);
    if (*answer.location)
      made["headers"]["Location"] = {{"description", answer.location},
                                     {"schema", {{"type", "string"}}}};
  }

  json paths_, responses_;
  std::map<std::string, json> schemas_;
};

}  // namespace

json openapi(const std::vector<Operation>& operations) {
  Document document;
  for (const Operation& operation : operations) document.add(operation);
  return document.text();
}

}  // namespace nightjar::service::api
