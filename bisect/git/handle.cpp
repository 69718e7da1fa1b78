#include "bisect/git/handle.hpp"

#include <array>
#include <string_view>

namespace nightjar::git {
namespace {

// Length of the UTF-8 sequence that starts `text`; 0 if there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t length = 0;
  unsigned least = 0x80, most = 0xBF;  // of the second byte
  if (byte(0) < 0x80) return 1;
  if (byte(0) >= 0xC2 && byte(0) <= 0xDF) length = 2;
  if (byte(0) >= 0xE0 && byte(0) <= 0xEF) length = 3;
  if (byte(0) >= 0xF0 && byte(0) <= 0xF4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  if (byte(0) == 0xE0) least = 0xA0;  // overlong
  if (byte(0) == 0xED) most = 0x9F;   // surrogates
  if (byte(0) == 0xF0) least = 0x90;  // overlong
  if (byte(0) == 0xF4) most = 0x8F;   // beyond U+10FFFF
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string last_error() {
  const git_error* error = git_error_last();
  return error && error->message ? error->message : "unknown error";
}

git_oid to_oid(const CommitSha& sha) {
  git_oid oid;
  git_oid_fromstr(&oid, sha.str().c_str());  // cannot fail: a CommitSha is 40 hex digits
  return oid;
}

CommitSha to_sha(const git_oid& oid) {
  std::array<char, GIT_OID_HEXSZ> text{};
  git_oid_fmt(text.data(), &oid);
  return *CommitSha::parse(std::string_view(text.data(), text.size()));
}

std::string to_utf8(const char* text) {
  std::string_view rest = text ? text : "";
  std::string result;
  while (!rest.empty()) {
    const auto length = sequence_length(rest);
    result += length ? rest.substr(0, length) : std::string_view("\xEF\xBF\xBD");
    rest.remove_prefix(length ? length : 1);
  }
  return result;
}

}  // namespace nightjar::git
