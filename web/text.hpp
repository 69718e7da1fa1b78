// The text of HTTP: percent-decoding, targets, query strings, byte ranges. Pure; used by the
// server, and by whoever reads the URLs of an index.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nightjar::web {

// nullopt for a bad escape, or for one that hides a zero byte.
std::optional<std::string> percent_decode(std::string_view text);
// All but RFC 3986's unreserved characters escaped, as a value in a query string needs it.
std::string percent_encode(std::string_view text);

// A request target, decoded. `segments` of "/a/b%2Fc" are "a" and "b/c"; of "/" there is one, "".
struct Target {
  std::string path;
  std::vector<std::string> segments;
  std::map<std::string, std::string> query;
};
// nullopt unless `text` is an absolute path, or the URL of a host without user and password, by RFC
// 3986, and without zero bytes.
std::optional<Target> parse_target(std::string_view text);

// What a header Host names, in lower case, without port and final dot; an address of IPv6 keeps its
// brackets. nullopt unless it is well-formed.
std::optional<std::string> host_in(std::string_view header);
// The same for a URL.
std::optional<std::string> host_of(std::string_view url);

// Bytes first to last of a file, both inclusive.
struct ByteRange {
  std::uint64_t first = 0, last = 0;
};
struct WholeFile {};
struct NoSuchRange {};  // 416
// What a Range header asks of `size` bytes. More than one range, or another unit, is the whole
// file.
std::variant<WholeFile, ByteRange, NoSuchRange> parse_range(std::string_view header,
                                                            std::uint64_t size);

// The value of a cookie in a header Cookie; nullopt if it is not there. Of two the first.
std::optional<std::string_view> cookie_in(std::string_view header, std::string_view name);

std::string lower_case(std::string_view text);
// "Sat, 21 Nov 2026 11:30:17 GMT"
std::string http_date(std::int64_t unix_seconds);

}  // namespace nightjar::web
