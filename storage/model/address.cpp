#include "storage/model/address.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace nightjar {
namespace {

constexpr std::size_t longest_address = 2000;

char lower_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// "user@host:80" of "http://user@host:80/path"; empty if there is no "://".
std::string_view authority_of(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == url.npos) return {};
  url.remove_prefix(scheme + 3);
  return url.substr(0, url.find_first_of("/?#"));
}

// Whether every client reads the same host from it. Some take a backslash for a slash, decode what
// is escaped, look for the user before another '@', or leave control characters out.
bool has_one_reading(std::string_view url, std::string_view authority) {
  return std::all_of(url.begin(), url.end(),
                     [](char c) { return c != '\\' && c != '\x7F' && !(c >= 0 && c <= ' '); }) &&
         std::all_of(authority.begin(), authority.end(), [](char c) {
           const char lower = lower_letter(c);
           return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
                  std::string_view(".-_:[]").find(c) != std::string_view::npos;
         });
}

bool may_stand_in_url(char c) {
  return c > ' ' && c < '\x7F' &&
         std::string_view("\"'<>\\^`{|}").find(c) == std::string_view::npos;
}

}  // namespace

std::optional<Address> Address::parse(std::string_view text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  const auto origin = origin_of(text);
  const bool is_plain = text.size() <= longest_address &&
                        std::all_of(text.begin(), text.end(), may_stand_in_url) &&
                        text.find_first_of("?#@") == text.npos;
  if (!origin || !is_plain) return std::nullopt;
  Address address;
  address.text_ = text;
  return address;
}

Address::Address(const std::string& text) {
  if (text.empty()) return;
  auto parsed = parse(text);
  if (!parsed) throw std::invalid_argument(shown_url(text) + " is no address");
  *this = *std::move(parsed);
}

Address::Address(const char* text) : Address(std::string(text)) {}

std::optional<Origin> origin_of(std::string_view url) {
  Origin origin;
  origin.is_secure = url.starts_with("https://");
  if (!origin.is_secure && !url.starts_with("http://")) return std::nullopt;
  const std::string_view authority = authority_of(url);
  if (!has_one_reading(url, authority)) return std::nullopt;
  const bool is_ipv6 = authority.starts_with('[');
  const auto end = is_ipv6 ? authority.find(']') : authority.find(':');
  if (is_ipv6 && end == authority.npos) return std::nullopt;
  std::string_view host = authority.substr(0, end), port;
  if (is_ipv6) host.remove_prefix(1);
  if (end != authority.npos) port = authority.substr(end + (is_ipv6 ? 1 : 0));
  if (!port.empty() && !port.starts_with(':')) return std::nullopt;
  if (!port.empty()) port.remove_prefix(1);
  origin.port = origin.is_secure ? 443 : 80;
  const char* last = port.data() + port.size();
  if (!port.empty()) {
    const auto read = std::from_chars(port.data(), last, origin.port);
    if (read.ec != std::errc() || read.ptr != last) return std::nullopt;
  }
  for (const char c : host) origin.host += lower_letter(c);
  while (origin.host.ends_with('.')) origin.host.pop_back();  // of a name that is fully qualified
  return origin.host.empty() ? std::nullopt : std::optional(origin);
}

bool tells_secret(std::string_view remote) {
  const std::string_view authority = authority_of(remote);
  const auto at = authority.rfind('@');
  if (!authority.empty() && remote.find_first_of("?#\\") != remote.npos) return true;
  return at != authority.npos &&
         (remote.starts_with("http") || authority.substr(0, at).find(':') != authority.npos);
}

std::string shown_url(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const std::string_view authority = authority_of(url);
  const auto at = authority.rfind('@');
  if (authority.empty() || at == authority.npos) return std::string(url);
  const std::size_t begin = url.find("://") + 3;
  return std::string(url.substr(0, begin)) + std::string(url.substr(begin + at + 1));
}

}  // namespace nightjar
