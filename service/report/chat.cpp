#include "service/report/chat.hpp"

#include <algorithm>
#include <stdexcept>

#include "service/config.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/markdown.hpp"
#include "storage/base/redaction.hpp"
#include "storage/model/address.hpp"
#include "storage/model/json.hpp"
#include "web/client.hpp"
#include "web/retry_after.hpp"
#include "web/secret.hpp"

namespace nightjar::service {
namespace {

using nlohmann::json;

// Slack reads these three as markup, and only these.
std::string slack_text(const std::string& text) {
  return with_entities(one_line(text), "&<>");
}

std::size_t host_end(const std::string& url) {
  return std::min(url.find_first_of("/?#", url.find("//") + 2), url.size());
}

json payload(ChatFormat format, const OutboxMessage& message) {
  const std::string& url = message.body;
  switch (format) {
    case ChatFormat::slack:
      return {{"text", slack_text(message.title) + (url.empty() ? "" : "\n<" + url + ">")}};
    case ChatFormat::mattermost:
      return {{"text", plain(message.title) + (url.empty() ? "" : "\n<" + url + ">")}};
    case ChatFormat::json:
      break;
  }
  return {{"key", message.key},
          {"regression", message.regression ? json(message.regression->value) : json()},
          {"title", message.title},
          {"url", url.empty() ? json() : json(url)},
          {"reported_at", to_rfc3339(message.created_at)}};
}

// Keeps out of errors what the client and the server may repeat of the address: all of it without
// its query, its path, its query and the token that a path ends with.
void keep_parts_secret(const std::string& url) {
  constexpr std::size_t least_token = 16;  // a shorter name may be a common word
  const std::string shown = shown_url(url);
  keep_secret(shown);
  keep_secret(shown.substr(host_end(shown)));
  if (const auto query = url.find('?'); query != url.npos) keep_secret(url.substr(query + 1));
  const std::string last = shown.substr(shown.rfind('/') + 1);
  if (last.size() >= least_token) keep_secret(last);
}

// An address that has moved is not followed: the file must name the new one.
Outcome<std::monostate> outcome_of(const web::ClientResponse& response) {
  if (response.status >= 200 && response.status <= 299) return std::monostate();
  const std::string said = shortened(response.body, 200);
  const std::string text = "the chat answered " + std::to_string(response.status) +
                           " to a message" + (said.empty() ? "" : ": " + said);
  if (web::may_pass(response.status)) return Transient{text, web::retry_after(response.headers)};
  return Permanent{text};
}

}  // namespace

std::string chat_url(const ChatConfig& chat) {
  const std::string url = read_secret(nullptr, chat.url_file);
  if (!nightjar::origin_of(url))
    throw std::runtime_error("the first line of " + chat.url_file.string() +
                             " must be the address of a chat's webhook, \"https://...\"");
  keep_parts_secret(url);
  return url;
}

std::string chat_host(const ChatConfig& chat) {
  const std::string url = chat_url(chat);
  return url.substr(0, host_end(url));
}

std::string chat_body(ChatFormat format, const OutboxMessage& message) {
  return payload(format, message).dump(-1, ' ', false, json::error_handler_t::replace);
}

Outcome<std::monostate> tell_chat(const ChatConfig& chat, const OutboxMessage& message) {
  if (!chat.is_on()) return Permanent{"[chat] url_file of the configuration is not set any more"};
  web::ClientRequest request;
  request.method = "POST";
  request.body = chat_body(chat.format, message);
  request.headers = {{"Content-Type", "application/json"},
                     {"User-Agent", "nightjar/" NIGHTJAR_VERSION},
                     {"X-Nightjar-Delivery", message.key}};
  request.response_limit = 1 << 20;
  try {
    request.url = chat_url(chat);
    const std::string secret = read_secret(nullptr, chat.secret_file);
    if (!secret.empty())
      request.headers.emplace_back("X-Hub-Signature-256", web::signature_of(secret, request.body));
  } catch (const std::runtime_error& error) {
    return Transient{error.what(), std::nullopt};
  }
  web::Client client;
  const auto result = client.send(request);
  if (!result) return Transient{result.failure.what, std::nullopt};
  return outcome_of(*result.response);
}

}  // namespace nightjar::service
