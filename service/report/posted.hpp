// What became of a message that was posted to a receiver of an operator's choice. Used for the chat
// and for the export.
#pragma once

#include <string>
#include <variant>

#include "service/report/tracker.hpp"
#include "web/client.hpp"

namespace nightjar::service {

// Posts once. `receiver`: "the chat". No answer, 5xx and 429 are Transient, other refusals
// Permanent. A redirect is not followed: whoever configured the address must name the new one.
Outcome<std::monostate> post_to(const std::string& receiver, const web::ClientRequest& request);

// Keeps out of errors what the client and the server may repeat of a secret address: all of it
// without its query, its path, its query and the token that a path ends with.
void keep_parts_secret(const std::string& url);

// Scheme, host and port of an address, "https://chat.example.org:8443".
std::string host_of(const std::string& url);

}  // namespace nightjar::service
