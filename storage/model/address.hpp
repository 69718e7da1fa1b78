// Where a service is reached: an http:// or https:// URL that tells no secret, so that it may be
// logged, stored and published. Used for whatever the configuration names, and by locks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nightjar {

class Address {
 public:
  Address() = default;  // none; its text is empty
  // Without the slashes at its end, so that a path can be appended. nullopt if it is no http(s)
  // URL, or has user information, a query, a fragment, or a character that a URL cannot have.
  static std::optional<Address> parse(std::string_view text);
  // For an address that is written in the code. Throws std::invalid_argument where parse() has
  // none.
  Address(const char* text);         // NOLINT(google-explicit-constructor)
  Address(const std::string& text);  // NOLINT(google-explicit-constructor)

  const std::string& text() const { return text_; }
  operator const std::string&() const { return text_; }  // NOLINT(google-explicit-constructor)
  bool empty() const { return text_.empty(); }
  bool operator==(const Address&) const = default;

 private:
  std::string text_;
};

// Scheme, host and port of a URL: the server that gets what is sent to it. Leaves out all else of
// the URL.
struct Origin {
  bool is_secure = false;
  std::string host;  // in lower case, of an IPv6 address without brackets
  std::uint16_t port = 0;
  bool operator==(const Origin&) const = default;
};
// nullopt if it is no http(s) URL with a host, or one whose host others could read in another way:
// with user information, a backslash, a space or a control character, or an escape in its host.
std::optional<Origin> origin_of(std::string_view url);

// Whether the URL of a git remote has a password, a token for http, or a query, which may be one.
// The account of ssh, "ssh://git@host", is no secret.
bool tells_secret(std::string_view remote);

// The URL without user information, query and fragment, which may be secret. For any text, be it a
// URL or not.
std::string shown_url(std::string_view url);

}  // namespace nightjar
