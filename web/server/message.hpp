// Requests and responses of our HTTP server, free of Beast: what a handler sees.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/model/enum.hpp"

namespace nightjar::web {

NIGHTJAR_ENUM(Method, get, head, post, put, patch, del);
std::string method_text(Method method);  // as in a request line: "GET"
// none: open to all. Each of the others may also read, builder may do what runner may, and admin
// may do everything; import and runner have nothing else in common.
NIGHTJAR_ENUM(Role, none, read, import, runner, builder, admin);

class Charge;

struct Principal {
  std::string name;
  Role role = Role::none;
  bool imports = false;  // may act as import, too
};

bool may_act_as(const Principal& principal, Role needed);

struct Request {
  Method method = Method::get;
  std::string path;                               // decoded, without query
  std::map<std::string, std::string> parameters;  // {id} of the route's pattern
  std::map<std::string, std::string> query;       // decoded; the last one of a name wins
  std::map<std::string, std::string> headers;     // names in lower case
  std::string body;
  Principal principal;
  std::shared_ptr<std::atomic<bool>> gone;  // set once the client has hung up; may be null
  std::shared_ptr<Charge> charge;  // of its bytes in memory, while a copy of it lives; may be null

  std::optional<std::string> header(std::string_view lower_case_name) const;
  std::optional<std::string> query_value(std::string_view name) const;
};

struct Response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string page_style;  // the text of the page's own <style>, which its policy lets through
  std::optional<std::filesystem::path>
      file;  // sent instead of body, with its size; Range is honoured
};

Response json_response(std::string body, unsigned status = 200);
// RFC 9457 problem+json. `detail`: what was attempted, on what, what to do.
Response problem(unsigned status, std::string_view title, std::string_view detail);

// Answers once, from any thread; a second call is ignored.
using Respond = std::function<void(Response)>;
// The request lives as long as its Respond or a copy of it.
using Handler = std::function<void(const Request&, Respond)>;
// Runs it. What it throws is logged, and answered with 500.
void answer_by(const Handler& handler, const Request& request, const Respond& respond);

}  // namespace nightjar::web
