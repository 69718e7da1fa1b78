#include <algorithm>
#include <cctype>
#include <charconv>

#include "service/report/report.hpp"
#include "web/secret.hpp"

namespace nightjar::service {
namespace {

// The same repository by any of its URLs: https or ssh, with or without ".git", in any case.
std::string canonical_repository(std::string_view url) {
  std::string name(url);
  if (const auto scheme = name.find("://"); scheme != std::string::npos) name.erase(0, scheme + 3);
  if (const auto user = name.find('@'); user != std::string::npos && user < name.find('/')) {
    name.erase(0, user + 1);
    std::replace(name.begin(),
                 name.begin() + static_cast<std::ptrdiff_t>(std::min(name.find('/'), name.size())),
                 ':', '/');
  }
  while (name.ends_with('/')) name.pop_back();
  if (name.ends_with(".git")) name.resize(name.size() - 4);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

// Only what may stand in an HTML comment: no "--", no '>', nothing that needs quoting.
std::string safe_key(std::string_view key) {
  std::string out;
  for (const char c : key) {
    const bool word = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                      std::string_view(":._+").find(c) != std::string_view::npos;
    const bool dash = c == '-' && !out.ends_with('-');
    out += word || dash ? c : '_';
  }
  return out;
}

std::string hashed(const std::string& kind, std::string_view repository, const std::string& what) {
  const std::string text = kind + "\n" + canonical_repository(repository) + "\n" + what;
  return web::sha256(text).str().substr(0, 32);
}

}  // namespace

std::string fingerprint_of(std::string_view repository, std::span<const CommitSha> culprits) {
  std::vector<CommitSha> commits(culprits.begin(), culprits.end());
  std::sort(commits.begin(), commits.end());
  // The empty line stood for a metric once. It stays: issues filed then are found by this text.
  std::string text = "\n";
  for (const CommitSha& commit : commits) text += commit.str() + "\n";
  return hashed("nightjar regression 1", repository, text);
}

std::string unattributed_fingerprint(std::string_view repository, std::string_view good,
                                     std::string_view bad) {
  return hashed("nightjar unattributed 1", repository,
                std::string(good) + "\n" + std::string(bad) + "\n");
}

std::string digest_fingerprint(std::string_view repository, std::string_view monday) {
  return hashed("nightjar digest 1", repository, std::string(monday) + "\n");
}

std::string issue_key(std::string_view fingerprint) {
  return "regression:" + std::string(fingerprint);
}

std::string night_key(std::string_view fingerprint, std::string_view version) {
  return "night:" + std::string(fingerprint) + ":" + std::string(version);
}

std::string recovered_key(std::string_view fingerprint, std::string_view version) {
  return "recovered:" + std::string(fingerprint) + ":" + std::string(version);
}

std::string chat_key(std::string_view fingerprint) {
  return "chat:" + std::string(fingerprint);
}

std::string verdict_key(std::string_view fingerprint, RegressionId regression, int times) {
  return "verdict:" + std::string(fingerprint) + ":" + std::to_string(regression.value) + ":" +
         std::to_string(times);
}

std::string taken_back_key(std::string_view verdict_key) {
  return "taken-back:" + std::string(verdict_key.substr(verdict_key.find(':') + 1));
}

std::string digest_key(std::string_view repository, Time first_night, Time until) {
  return "digest:" + hashed("nightjar digest of a period 1", repository,
                            to_rfc3339(first_night) + "\n" + to_rfc3339(until) + "\n");
}

std::string fix_key(std::string_view repository, Time first_night, std::string_view version) {
  return "fix:" + hashed("nightjar fix 1", repository,
                         to_rfc3339(first_night) + "\n" + std::string(version) + "\n");
}

std::string marker_of(std::string_view key) {
  return "<!-- nightjar:" + safe_key(key) + " -->";
}

std::optional<std::int64_t> pull_request_of(std::string_view subject) {
  while (subject.ends_with(' ')) subject.remove_suffix(1);
  const auto open = subject.rfind("(#");
  if (open == std::string_view::npos || !subject.ends_with(')')) return std::nullopt;
  const std::string_view digits = subject.substr(open + 2, subject.size() - open - 3);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || number <= 0)
    return std::nullopt;
  return number;
}

}  // namespace nightjar::service
