// What a route says of itself, and openapi.json, which is made of that. Internal to the API.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/model/schema.hpp"
#include "web/server/message.hpp"

namespace nightjar::service::api {

// A refusal; `name` is unique and names it in the document's components.
struct Problem {
  unsigned status = 0;
  const char* name = "";
  const char* text = "";
};
inline constexpr Problem no_such_id{404, "NotFound", "There is none with this id."};
inline constexpr Problem no_such_build{404, "BuildNotFound", "There is no such build."};
inline constexpr Problem no_such_commit{404, "CommitNotFound", "There is no such commit."};

struct Parameter {
  std::string name, text;
  Schema schema;
  bool required = false;
  std::string in = "query";
  bool list = false;                    // an array, written with commas: a,b
  std::optional<Problem> unknown = {};  // where the value is a name that nothing has
};

struct Body {
  Schema schema;
  bool required = true;
  nlohmann::json example = nullptr;
  std::string type = "application/json";
};

// A good answer.
struct Answer {
  unsigned status = 200;
  std::string text = "OK";
  Schema schema = {};  // empty: there is no body
  nlohmann::json example = nullptr;
  std::string type = "application/json";  // of the body
  const char* location = "";              // what the header Location names
};

// Path parameters are declared by the path: {id}, {sha}, {build} or {sha256}. Refusals that follow
// from the role, the body and the query are added by Routes.
struct Operation {
  std::string path, id, summary;
  web::Method method = web::Method::get;
  web::Role role = web::Role::read;
  std::vector<Parameter> parameters = {};
  std::optional<Body> body = {};
  std::vector<Answer> answers = {};
  std::vector<Problem> problems = {};
};

nlohmann::json openapi(const std::vector<Operation>& operations);

}  // namespace nightjar::service::api
