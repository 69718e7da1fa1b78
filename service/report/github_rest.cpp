#include "service/report/github_rest.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "storage/base/markdown.hpp"
#include "storage/base/pattern.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "web/client.hpp"

namespace nightjar::service {
namespace {

std::optional<std::int64_t> number_in(const std::map<std::string, std::string>& headers,
                                      const std::string& name) {
  const auto it = headers.find(name);
  if (it == headers.end()) return std::nullopt;
  std::int64_t value = 0;
  const std::string& text = it->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// GitHub's own words, one short line; nothing if the body is none of its JSON.
std::string message_in(const std::string& body) {
  const auto json = parse_foreign(body);
  if (!json.is_object()) return {};
  const auto said = json.find("message");
  std::string message = said != json.end() && said->is_string() ? said->get<std::string>() : "";
  const auto errors = json.find("errors");
  if (errors != json.end() && errors->is_array() && !errors->empty()) {
    message += " " + errors->front().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return shortened(message, 300);
}

// When a limited client may come back: at least a minute when GitHub names no time, as it asks.
std::chrono::seconds limit_over_in(const std::map<std::string, std::string>& headers, Time now) {
  if (const auto after = number_in(headers, "retry-after")) {
    return std::chrono::seconds(std::min<std::int64_t>(*after, 86400));
  }
  const auto reset = number_in(headers, "x-ratelimit-reset");
  if (!reset || number_in(headers, "x-ratelimit-remaining").value_or(1) != 0) {
    return std::chrono::seconds(60);
  }
  const std::int64_t wait = *reset - to_us(now) / 1'000'000 + 1;
  return std::chrono::seconds(std::clamp<std::int64_t>(wait, 1, 86400));
}

}  // namespace

std::optional<std::string> next_page(const std::string& link_header) {
  // One of <URL>; rel="next", <URL>; rel="last"
  static const Pattern link(R"re(\s*<([^<>]+)>\s*;\s*(?i:rel)\s*=\s*"?([^";,<>]+)"?\s*(,.*)?)re");
  std::optional<std::string> next;
  for (std::string rest = link_header; !rest.empty();) {
    const auto found = link.match(rest);
    if (!found) return "";
    if ((*found)[2] == "next") next = (*found)[1];
    rest = (*found)[3].empty() ? "" : (*found)[3].substr(1);
  }
  return next;
}

std::variant<Transient, Permanent> failure_of(const std::string& what, unsigned status,
                                              const std::map<std::string, std::string>& headers,
                                              const std::string& body, Time now) {
  const std::string said = message_in(body);
  const std::string text = "GitHub answered " + std::to_string(status) + " to " + what +
                           (said.empty() ? "" : ": " + said);
  std::string lower = said;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool limited =
      status == 429 || (status == 403 && (headers.contains("retry-after") ||
                                          number_in(headers, "x-ratelimit-remaining") == 0 ||
                                          lower.find("rate limit") != std::string::npos));
  if (limited) return Transient{text, limit_over_in(headers, now)};
  if (status == 401) return Transient{text + "; renew the token", std::nullopt};
  if (web::may_pass(status)) {
    const auto after = number_in(headers, "retry-after");
    std::optional<std::chrono::seconds> wait;
    if (after) wait = std::chrono::seconds(std::min<std::int64_t>(*after, 86400));
    return Transient{text, wait};
  }
  return Permanent{text};
}

std::optional<std::string> moved_to(const std::string& api, unsigned status,
                                    const std::map<std::string, std::string>& headers) {
  if (status != 301 && status != 302 && status != 307 && status != 308) return std::nullopt;
  const auto location = headers.find("location");
  if (location == headers.end() || !location->second.starts_with(api + "/")) return std::nullopt;
  return location->second;
}

std::string encoded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("-._~").find(c) != std::string_view::npos) {
      out += c;
    } else {
      constexpr std::string_view digits = "0123456789ABCDEF";
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

}  // namespace nightjar::service
