#include "service/report/posted.hpp"

#include <algorithm>

#include "storage/base/foreign_text.hpp"
#include "storage/base/redaction.hpp"
#include "storage/model/address.hpp"
#include "web/retry_after.hpp"

namespace nightjar::service {

std::string host_of(const std::string& url) {
  return url.substr(0, std::min(url.find_first_of("/?#", url.find("//") + 2), url.size()));
}

void keep_parts_secret(const std::string& url) {
  constexpr std::size_t least_token = 16;  // a shorter name may be a common word
  const std::string shown = shown_url(url);
  keep_secret(shown);
  keep_secret(shown.substr(host_of(shown).size()));
  if (const auto query = url.find('?'); query != url.npos) keep_secret(url.substr(query + 1));
  const std::string last = shown.substr(shown.rfind('/') + 1);
  if (last.size() >= least_token) keep_secret(last);
}

Outcome<std::monostate> post_to(const std::string& receiver, const web::ClientRequest& request) {
  web::Client client;
  const auto result = client.send(request);
  if (!result) return Transient{result.failure.what, std::nullopt};
  const web::ClientResponse& response = *result.response;
  if (response.status >= 200 && response.status <= 299) return std::monostate();
  const std::string said = shortened(response.body, 200);
  const std::string text = receiver + " answered " + std::to_string(response.status) +
                           " to a message" + (said.empty() ? "" : ": " + said);
  if (web::may_pass(response.status)) return Transient{text, web::retry_after(response.headers)};
  return Permanent{text};
}

}  // namespace nightjar::service
