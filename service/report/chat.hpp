// Tells a chat of a finding by an outgoing webhook, signed as GitHub signs its own. Used by the
// outbox's sender.
#pragma once

#include <string>
#include <variant>

#include "service/report/chat_config.hpp"
#include "service/report/tracker.hpp"
#include "storage/model/outbox.hpp"

namespace nightjar::service {

// The webhook's address, which is a secret. Throws std::runtime_error with the file if it holds
// none; the message does not repeat what it holds.
std::string chat_url(const ChatConfig& chat);
// Scheme, host and port of that address, "https://chat.example.org:8443". Throws like chat_url().
std::string chat_host(const ChatConfig& chat);

// What is posted for a message of kind chat.
std::string chat_body(ChatFormat format, const OutboxMessage& message);

// Posts it once. Reads both files before, since they may be replaced. No answer, 5xx and 429 are
// Transient, other refusals Permanent. No error has the address or the secret. After no answer the
// chat may have it all the same: the key in X-Nightjar-Delivery tells it so.
Outcome<std::monostate> tell_chat(const ChatConfig& chat, const OutboxMessage& message);

}  // namespace nightjar::service
