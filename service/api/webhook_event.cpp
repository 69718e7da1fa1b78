#include "service/api/webhook_event.hpp"

#include <algorithm>
#include <cctype>

#include "storage/base/foreign_text.hpp"
#include "storage/model/json.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

std::string text_at(const json& payload, const json::json_pointer& where) {
  return payload.contains(where) && payload[where].is_string() ? payload[where].get<std::string>()
                                                               : "";
}

bool same_name(std::string_view a, std::string_view b) {  // GitHub's names ignore case
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

}  // namespace

std::string why_ignored(const std::string& event, const json& payload,
                        const Config::Webhook& config) {
  using Pointer = json::json_pointer;
  const auto repository = text_at(payload, Pointer("/repository/full_name"));
  if (config.repository.empty() || !same_name(repository, config.repository))
    return "repository " + in_quotes(repository) + " is not the watched one";
  if (event == "push") {
    const auto ref = text_at(payload, Pointer("/ref"));
    if (ref != "refs/heads/" + config.branch) return in_quotes(ref) + " is not the nightly branch";
    return payload.value("/deleted"_json_pointer, false) ? "the branch was deleted" : "";
  }
  if (text_at(payload, Pointer("/action")) != "completed") return "the workflow run goes on";
  const auto branch = text_at(payload, Pointer("/workflow_run/head_branch"));
  return branch == config.branch ? "" : in_quotes(branch) + " is not the nightly branch";
}

}  // namespace nightjar::service::api
