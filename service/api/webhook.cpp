// POST /webhooks/github: a push to the nightly branch, or a finished workflow on it, starts a
// night.
#include <cctype>

#include "service/api/routes.hpp"
#include "service/api/webhook_event.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/nights.hpp"
#include "web/secret.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

constexpr std::size_t longest_delivery = 80;  // characters; GitHub's have 36

NIGHTJAR_ENUM(Action, pong, night_started, ignored);

struct WebhookAnswer {
  Action action;
  std::string reason;
  std::optional<NightId> night;
};
BOOST_DESCRIBE_STRUCT(WebhookAnswer, (), (action, reason, night))

const Described<WebhookAnswer>& webhook_answer() {
  static const auto made = aggregate<WebhookAnswer>("WebhookAnswer", "What was done.");
  return made;
}

web::Response ignored(const std::string& reason) {
  return json_answer(webhook_answer().write({Action::ignored, reason, {}}), 202);
}

std::string required_header(const web::Request& request, const std::string& name) {
  std::string key = name;
  for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto value = request.header(key).value_or("");
  if (value.empty())
    throw Refused(400, "No " + name, name + " is missing; without it nothing is started.");
  return value;
}

json parse_payload(const web::Request& request) {
  try {
    return parse_object(request);
  } catch (const Refused&) {
    throw Refused(
        400, "Bad payload",
        "The payload is no JSON object; set the webhook's content type to application/json.");
  }
}

Refused bad_signature() {
  return {401, "Unauthorized",
          "X-Hub-Signature-256 is missing or does not fit the body and the webhook's secret."};
}

// Refuses a body that cannot have been signed, before up to 4 MB of it are read.
std::optional<web::Response> refuse_unsigned(bool has_secret, const web::Request& request) {
  const auto signature = request.header("x-hub-signature-256").value_or("");
  const bool may_fit = signature.starts_with("sha256=") && signature.size() == 7 + 64;
  if (has_secret && may_fit) return std::nullopt;
  return bad_signature().response();
}

web::Response receive(storage::Database& db, Context& context, const web::Request& request) {
  const auto signature = request.header("x-hub-signature-256").value_or("");
  if (context.webhook_secret.empty() ||
      !web::signature_matches(context.webhook_secret, request.body, signature))
    throw bad_signature();
  const auto payload = parse_payload(request);
  const auto event = required_header(request, "X-GitHub-Event");
  const auto delivery = required_header(request, "X-GitHub-Delivery");
  if (event == "ping") return json_answer(webhook_answer().write({Action::pong, "", {}}));
  if (event != "push" && event != "workflow_run")
    return ignored("event " + in_quotes(event) + " starts nothing");
  if (const auto reason = why_ignored(event, payload, context.config.webhook); !reason.empty())
    return ignored(reason);
  // Whoever saw one could send it again under another id, which is not signed: the body is.
  const auto night =
      start_night(db, context, NightTrigger::webhook,
                  "webhook:" + shortened(delivery, longest_delivery), event, signature);
  if (!night) return ignored("delivery " + in_quotes(delivery) + " was received before");
  return json_answer(webhook_answer().write({Action::night_started, event, night->night.id}), 202);
}

}  // namespace

void add_webhook_routes(Routes& routes) {
  const auto header = [](const char* name, const Schema& schema) {
    return Parameter{name, "", schema, true, "header"};
  };
  const Schema text{{"type", "string"}, {"minLength", 1}};
  routes.write(
      {.path = "/webhooks/github",
       .id = "github_webhook",
       .summary = "GitHub says what happened",
       .method = web::Method::post,
       .role = web::Role::none,
       .parameters = {header("X-GitHub-Event", text), header("X-GitHub-Delivery", text),
                      header("X-Hub-Signature-256",
                             {{"type", "string"}, {"pattern", "^sha256=[0-9a-f]{64}$"}})},
       .body = Body{{{"type", "object"}}},
       .answers = {{.status = 202,
                    .text = "Accepted: a night was started, or the event was ignored.",
                    .schema = webhook_answer().schema()},
                   {.text = "A ping.", .schema = webhook_answer().schema()}},
       .problems = {{401, "InvalidSignature",
                     "The signature is missing or wrong, or no secret is configured."}}},
      [&context = routes.context](storage::Database& db, const web::Request& request) {
        return receive(db, context, request);
      },
      4'000'000,  // what is counted of them all together leaves room for one
      [has_secret = !routes.context.webhook_secret.empty()](const web::Request& request) {
        return refuse_unsigned(has_secret, request);
      });
}

}  // namespace nightjar::service::api
