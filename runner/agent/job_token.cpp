#include "runner/agent/job_token.hpp"

#include <cstdlib>
#include <stdexcept>

#include "storage/base/redaction.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "web/access.hpp"
#include "web/client.hpp"
#include "web/text.hpp"

namespace nightjar::runner {
namespace {

constexpr const char* address = "ACTIONS_ID_TOKEN_REQUEST_URL";
constexpr const char* secret_variable = "ACTIONS_ID_TOKEN_REQUEST_TOKEN";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value)
    throw std::runtime_error(std::string("--oidc github: ") + name +
                             " is not set; the job needs \"permissions: id-token: write\"");
  return value;
}

}  // namespace

std::string job_token(const std::string& from, const std::string& audience) {
  if (from != "github") return web::token_in(from);
  const std::string secret = variable(secret_variable);
  keep_secret(secret);
  web::ClientRequest request;
  request.url = variable(address);
  request.url += (request.url.find('?') == std::string::npos ? "?" : "&");
  request.url += "audience=" + web::percent_encode(audience);
  request.headers = {{"Authorization", "Bearer " + secret}, {"Accept", "application/json"}};
  web::Client client;
  const auto result = client.send(request);
  if (!result) throw std::runtime_error("--oidc github: " + result.failure.what);
  const auto answer = parse_foreign(result.response->body);
  const auto value = answer.is_object() ? answer.find("value") : answer.end();
  if (result.response->status != 200 || !answer.is_object() || value == answer.end() ||
      !value->is_string())
    throw std::runtime_error("--oidc github: GitHub answered with " +
                             std::to_string(result.response->status) + " and no token");
  keep_secret(value->get<std::string>());
  return value->get<std::string>();
}

}  // namespace nightjar::runner
