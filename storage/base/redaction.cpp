#include "storage/base/redaction.hpp"

#include <algorithm>
#include <atomic>
#include <bitset>
#include <charconv>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "storage/base/digest.hpp"

namespace nightjar {
namespace {

constexpr std::string_view after_scheme = "://", hidden = "***";
constexpr std::size_t shortest = 8;  // characters

struct Secrets {
  std::atomic<bool> any = false;
  std::shared_mutex mutex;       // of what follows
  std::vector<std::string> all;  // in each form but those that spelled() knows
  std::bitset<256> begins;       // the bytes that one can begin with
};

Secrets& secrets() {
  static Secrets of_this_process;
  return of_this_process;
}

void add(Secrets& to, std::string form) {
  if (form.size() < shortest || std::find(to.all.begin(), to.all.end(), form) != to.all.end())
    return;
  for (const char first : {form[0], '%', '\\'}) to.begins.set(static_cast<unsigned char>(first));
  to.all.push_back(std::move(form));
}

void add_base64(Secrets& to, const std::string& secret) {
  const std::string form = base64url_of(secret);
  add(to, form);
  add(to, standard_base64(form));
}

// How many characters at the begin of `text` spell the secret, each by itself, after a backslash,
// or as %2F; 0 if they do not.
std::size_t spelled(std::string_view text, std::string_view secret) {
  std::size_t at = 0;
  for (const char c : secret) {
    const std::string_view rest = text.substr(at);
    unsigned byte = 0;
    if (rest.starts_with(c))
      at += 1;
    else if (rest.size() > 1 && rest[0] == '\\' && rest[1] == c)
      at += 2;
    else if (rest.size() > 2 && rest[0] == '%' &&
             std::from_chars(rest.data() + 1, rest.data() + 3, byte, 16).ptr == rest.data() + 3 &&
             byte == static_cast<unsigned char>(c))
      at += 3;
    else
      return 0;
  }
  return at;
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

// User, password and host of a URL whose scheme is cut off.
std::string_view authority_of(std::string_view rest) {
  return rest.substr(0, rest.find_first_of("/?# \t\r\n'\"<>"));
}

}  // namespace

void keep_secret(const std::string& secret) {
  if (secret.size() < shortest) return;
  Secrets& known = secrets();
  const std::unique_lock lock(known.mutex);
  add(known, secret);
  add_base64(known, secret);
  known.any = true;
}

void keep_login(const std::string& user, const std::string& password) {
  keep_secret(password.empty() ? user : password);
  Secrets& known = secrets();
  const std::unique_lock lock(known.mutex);
  add_base64(known, user + ":" + password);
  known.any = !known.all.empty();
}

void keep_login_in(std::string_view url) {
  const auto scheme = url.find(after_scheme);
  url.remove_prefix(scheme == url.npos ? 0 : scheme + after_scheme.size());
  const std::string_view authority = authority_of(url);
  const auto user_ends = authority.rfind('@');
  if (user_ends == authority.npos) return;
  const std::string_view both = authority.substr(0, user_ends);
  const auto colon = std::min(both.find(':'), both.size());
  keep_login(percent_decoded(both.substr(0, colon)),
             percent_decoded(both.substr(std::min(colon + 1, both.size()))));
}

std::string without_secrets(std::string text) {
  Secrets& known = secrets();
  if (!known.any) return text;
  const std::shared_lock lock(known.mutex);
  const std::string_view all = text;
  std::string out;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!known.begins.test(static_cast<unsigned char>(all[i]))) continue;
    std::size_t longest = 0;
    for (const std::string& secret : known.all)
      longest = std::max(longest, spelled(all.substr(i), secret));
    if (longest == 0) continue;
    out.append(all.substr(copied, i - copied)).append(hidden);
    copied = i + longest;
    i = copied - 1;
  }
  return copied == 0 ? text : out.append(all.substr(copied));
}

std::string without_credentials(std::string_view text) {
  std::string out;
  for (auto at = text.find(after_scheme); at != text.npos; at = text.find(after_scheme)) {
    out += text.substr(0, at + after_scheme.size());
    text.remove_prefix(at + after_scheme.size());
    const auto user_ends = authority_of(text).rfind('@');
    if (user_ends != text.npos) text.remove_prefix(user_ends + 1);
  }
  return out.append(text);
}

}  // namespace nightjar
