#include "web/text.hpp"

#include <algorithm>
#include <boost/url/encode.hpp>
#include <boost/url/ipv6_address.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <boost/url/url_view.hpp>
#include <charconv>
#include <ctime>

namespace nightjar::web {
namespace urls = boost::urls;
namespace {

bool has_zero_byte(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool in_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
}

bool is_port(std::string_view text) {
  return text.size() <= 5 && std::all_of(text.begin(), text.end(), is_digit);
}

}  // namespace

std::string percent_encode(std::string_view text) {
  return urls::encode(text, urls::unreserved_chars);
}

std::optional<std::string> percent_decode(std::string_view text) {
  const auto encoded = urls::make_pct_string_view(text);
  if (!encoded) return std::nullopt;
  auto decoded = encoded->decode();
  return has_zero_byte(decoded) ? std::nullopt : std::optional(std::move(decoded));
}

std::optional<Target> parse_target(std::string_view text) {
  const auto url =
      text.starts_with('/') ? urls::parse_origin_form(text) : urls::parse_absolute_uri(text);
  if (!url) return std::nullopt;
  const bool is_web =
      url->scheme_id() == urls::scheme::http || url->scheme_id() == urls::scheme::https;
  if (!text.starts_with('/') && (!is_web || url->has_userinfo() || !host_of(text)))
    return std::nullopt;
  Target target;
  for (const std::string segment : url->segments()) target.segments.push_back(segment);
  if (target.segments.empty()) target.segments.emplace_back();
  for (const auto& segment : target.segments) target.path += "/" + segment;
  bool well_formed = !has_zero_byte(target.path);
  for (const auto& [name, value, has_value] : url->params()) {
    well_formed = well_formed && !has_zero_byte(name) && !has_zero_byte(value);
    if (!name.empty() || has_value) target.query[name] = value;
  }
  return well_formed ? std::optional(std::move(target)) : std::nullopt;
}

std::optional<std::string> host_in(std::string_view header) {
  std::string host = lower_case(header);
  const auto bracket = host.starts_with('[') ? host.find(']') : 0;
  if (bracket == std::string::npos) return std::nullopt;
  if (const auto colon = host.find(':', bracket); colon != std::string::npos) {
    if (!is_port(std::string_view(host).substr(colon + 1))) return std::nullopt;
    host.resize(colon);
  }
  if (bracket > 0) {
    const bool address =
        urls::parse_ipv6_address(std::string_view(host).substr(1, bracket - 1)).has_value();
    return address && host.size() == bracket + 1 ? std::optional(host) : std::nullopt;
  }
  if (host.ends_with('.')) host.pop_back();
  if (host.empty() || !std::all_of(host.begin(), host.end(), in_name)) return std::nullopt;
  return host;
}

std::optional<std::string> host_of(std::string_view url) {
  const auto parsed = urls::parse_uri(url);
  return parsed ? host_in(std::string_view(parsed->encoded_host_and_port())) : std::nullopt;
}

std::variant<WholeFile, ByteRange, NoSuchRange> parse_range(std::string_view header,
                                                            std::uint64_t size) {
  if (!header.starts_with("bytes=")) return WholeFile{};
  header.remove_prefix(6);
  const auto dash = header.find('-');
  if (dash == std::string_view::npos || header.find(',') != std::string_view::npos)
    return WholeFile{};
  const auto first = number(header.substr(0, dash)), last = number(header.substr(dash + 1));
  const bool open_end = dash + 1 == header.size();
  if (dash == 0) {  // the last bytes, as many as stand there
    if (!last) return WholeFile{};
    if (*last == 0 || size == 0) return NoSuchRange{};
    return ByteRange{size - std::min(*last, size), size - 1};
  }
  if (!first || (!last && !open_end) || (last && *last < *first)) return WholeFile{};
  if (*first >= size) return NoSuchRange{};
  return ByteRange{*first, last ? std::min(*last, size - 1) : size - 1};
}

std::optional<std::string_view> cookie_in(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const auto end = std::min(header.find(';'), header.size());
    std::string_view one = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return one.substr(name.size() + 1);
  }
  return std::nullopt;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string http_date(std::int64_t unix_seconds) {
  const std::time_t time = static_cast<std::time_t>(unix_seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[64];
  const auto length = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return std::string(text, length);
}

}  // namespace nightjar::web
