// What GitHub posts: a line with the event's name, then the payload.
#include "service/api/respond.hpp"
#include "service/api/webhook_event.hpp"
#include "storage/model/json.hpp"
#include "tests/fuzz/targets.hpp"

namespace nightjar::fuzz {
namespace api = service::api;

void webhook_payload(std::string_view input) {
  service::Config::Webhook config;
  config.repository = "pytorch/pytorch";
  config.branch = "nightly";
  const std::string event(take_line(input));
  web::Request request;
  request.path = "/webhooks/github";
  request.body = input;
  try {
    const auto payload = api::parse_object(request);
    const auto reason = api::why_ignored(event, payload, config);
    if (reason.empty())
      require(payload.at("repository").at("full_name").is_string(),
              "a night is started for no repository");
  } catch (const api::Refused&) {
  }
}

}  // namespace nightjar::fuzz
