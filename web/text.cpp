#include "web/text.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>

namespace nightjar::web {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool parse_query(std::string_view text, std::map<std::string, std::string>& query) {
  while (!text.empty()) {
    const auto end = text.find('&');
    const auto pair = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (pair.empty()) continue;
    const auto equals = pair.find('=');
    const auto name = percent_decode(pair.substr(0, equals), true);
    const auto value = equals == std::string_view::npos
                           ? std::string()
                           : percent_decode(pair.substr(equals + 1), true);
    if (!name || !value) return false;
    query[*name] = *value;
  }
  return true;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (c == '\0') return std::nullopt;
    out.push_back(c);
  }
  return out;
}

std::optional<Target> parse_target(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (text.starts_with(scheme)) {
      const auto slash = text.find('/', scheme.size());
      text = slash == std::string_view::npos ? "/" : text.substr(slash);
    }
  if (!text.starts_with('/')) return std::nullopt;
  Target target;
  const auto question = text.find('?');
  if (question != std::string_view::npos && !parse_query(text.substr(question + 1), target.query))
    return std::nullopt;
  auto path = text.substr(1, question == std::string_view::npos ? question : question - 1);
  for (;;) {
    const auto slash = path.find('/');
    auto segment = percent_decode(path.substr(0, slash));
    if (!segment) return std::nullopt;
    target.path += "/" + *segment;
    target.segments.push_back(*std::move(segment));
    if (slash == std::string_view::npos) return target;
    path.remove_prefix(slash + 1);
  }
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
  if (dash == 0) {  // the last so many bytes
    if (!last) return WholeFile{};
    if (*last == 0 || size == 0) return NoSuchRange{};
    return ByteRange{size - std::min(*last, size), size - 1};
  }
  if (!first || (!last && !open_end) || (last && *last < *first)) return WholeFile{};
  if (*first >= size) return NoSuchRange{};
  return ByteRange{*first, last ? std::min(*last, size - 1) : size - 1};
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

std::string_view reason_phrase(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 416:
      return "Range Not Satisfiable";
    case 422:
      return "Unprocessable Content";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Status";
  }
}

}  // namespace nightjar::web
