#include "storage/base/redaction.hpp"

#include <charconv>
#include <openssl/evp.h>

namespace nightjar {
namespace {

constexpr std::string_view kAfterScheme = "://", kHidden = "***";
constexpr std::size_t kShortest = 4;  // characters; a shorter secret would hide half of each text

// User, password and host of a URL whose scheme is cut off.
std::string_view authority_of(std::string_view rest) {
  return rest.substr(0, rest.find_first_of("/?# \t\r\n'\"<>"));
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    unsigned byte = 0;
    const bool escaped =
        text[0] == '%' && text.size() > 2 &&
        std::from_chars(text.data() + 1, text.data() + 3, byte, 16).ptr == text.data() + 3;
    out += escaped ? static_cast<char>(byte) : text[0];
    text.remove_prefix(escaped ? 3 : 1);
  }
  return out;
}

std::string base64_of(const std::string& text) {
  std::string out(4 * (text.size() / 3 + 1) + 1, '\0');
  const int size = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

// The text with the user name and password of each URL in it left out.
std::string without_credentials(std::string_view text) {
  std::string out;
  for (auto at = text.find(kAfterScheme); at != text.npos; at = text.find(kAfterScheme)) {
    out += text.substr(0, at + kAfterScheme.size());
    text.remove_prefix(at + kAfterScheme.size());
    const auto user_ends = authority_of(text).rfind('@');
    if (user_ends != text.npos) text.remove_prefix(user_ends + 1);
  }
  return out.append(text);
}

}  // namespace

Redaction::Redaction(const std::string& user, const std::string& password) {
  add(password);
  add(base64_of(user + ":" + password));
}

Redaction Redaction::of_url(std::string_view url) {
  const auto scheme = url.find(kAfterScheme);
  if (scheme == url.npos) return {};
  const std::string_view authority = authority_of(url.substr(scheme + kAfterScheme.size()));
  const auto user_ends = authority.rfind('@');
  if (user_ends == authority.npos) return {};
  const std::string_view both = authority.substr(0, user_ends);
  const auto colon = both.find(':');
  const std::string user = percent_decoded(both.substr(0, colon));
  if (colon == both.npos) {
    // A token may stand in the place of the user. One that logs in by a key is no secret.
    if (url.starts_with("ssh") || url.starts_with("git+ssh")) return {};
    Redaction token(user, "");
    token.add(user);
    token.add(std::string(both));
    return token;
  }
  const std::string_view password = both.substr(colon + 1);
  Redaction login(user, percent_decoded(password));
  login.add(std::string(password));
  return login;
}

void Redaction::add(std::string secret) {
  if (secret.size() >= kShortest) secrets_.push_back(std::move(secret));
}

std::string Redaction::operator()(std::string_view text) const {
  std::string out = without_credentials(text);
  for (const std::string& secret : secrets_)
    for (auto at = out.find(secret); at != out.npos; at = out.find(secret, at + kHidden.size()))
      out.replace(at, secret.size(), kHidden);
  return out;
}

}  // namespace nightjar
