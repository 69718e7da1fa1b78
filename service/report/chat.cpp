#include "service/report/chat.hpp"

#include <stdexcept>

#include "service/config.hpp"
#include "service/report/posted.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/markdown.hpp"
#include "storage/model/address.hpp"
#include "storage/model/json.hpp"
#include "web/client.hpp"
#include "web/secret.hpp"

namespace nightjar::service {
namespace {

using nlohmann::json;

// Slack reads these three as markup, and only these.
std::string slack_text(const std::string& text) {
  return with_entities(one_line(text), "&<>");
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
  return host_of(chat_url(chat));
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
  return post_to("the chat", request);
}

}  // namespace nightjar::service
