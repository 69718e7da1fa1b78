#include "bisect/git/handle.hpp"

#include <array>
#include <string_view>

namespace nightjar::git {

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

}  // namespace nightjar::git
