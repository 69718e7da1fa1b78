#include "service/builds/wheel_name.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "storage/base/split.hpp"
#include "web/text.hpp"

namespace nightjar::service {

namespace {

// Decimal digits only, no sign, at most nine of them.
std::optional<int> number(std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || text.size() > 9 || text[0] == '-') return std::nullopt;
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

std::optional<std::string> date_of(std::string_view digits) {
  const auto all = number(digits);
  if (digits.size() != 8 || !all) return std::nullopt;
  const std::chrono::year_month_day day{std::chrono::year(*all / 10000),
                                        std::chrono::month(static_cast<unsigned>(*all / 100 % 100)),
                                        std::chrono::day(static_cast<unsigned>(*all % 100))};
  if (!day.ok()) return std::nullopt;
  return std::string(digits.substr(0, 4)) + "-" + std::string(digits.substr(4, 2)) + "-" +
         std::string(digits.substr(6, 2));
}

bool is_word(std::string_view text, std::string_view also) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.find(c) != std::string_view::npos;
  });
}

}  // namespace

// Only the versions that PyTorch gives its builds: all of PEP 440 is more than a build can have.
std::optional<TorchVersion> parse_version(std::string_view text) {
  TorchVersion version;
  version.text = text;
  if (const auto plus = text.find('+'); plus != std::string_view::npos) {
    version.variant = text.substr(plus + 1);
    text = text.substr(0, plus);
    if (!is_word(version.variant, ".")) return std::nullopt;
  }
  if (const auto dev = text.find(".dev"); dev != std::string_view::npos) {
    const auto date = date_of(text.substr(dev + 4));
    if (!date) return std::nullopt;
    version.date = *date;
    text = text.substr(0, dev);
  }
  if (const auto alpha = text.rfind('a'); alpha != std::string_view::npos) {
    if (!number(text.substr(alpha + 1))) return std::nullopt;
    text = text.substr(0, alpha);
  }
  for (const std::string& part : split_at(text, '.')) {
    const auto value = number(part);
    if (!value) return std::nullopt;
    version.base.push_back(*value);
  }
  return version;
}

bool WheelName::fits(std::string_view python_tag) const {
  const auto is_ours = [](const std::string& platform) {
    return platform == "any" || platform == "linux_x86_64" ||
           (platform.starts_with("manylinux") && platform.ends_with("_x86_64"));
  };
  const auto fits_python = [&](const std::string& tag) {
    return tag == python_tag || tag == "py3";
  };
  return std::any_of(python_tags.begin(), python_tags.end(), fits_python) &&
         std::any_of(platform_tags.begin(), platform_tags.end(), is_ours);
}

std::optional<WheelName> parse_wheel_name(std::string_view file_name) {
  constexpr std::string_view suffix = ".whl";
  if (!file_name.ends_with(suffix)) return std::nullopt;
  file_name.remove_suffix(suffix.size());
  std::vector<std::string> parts = split_at(file_name, '-');
  // name-version[-build]-python-abi-platform; a build number starts with a digit.
  if (parts.size() == 6 && !parts[2].empty() && parts[2][0] >= '0' && parts[2][0] <= '9')
    parts.erase(parts.begin() + 2);
  if (parts.size() != 5) return std::nullopt;
  for (const std::string& part : parts)
    if (!is_word(part, "_.+!")) return std::nullopt;
  const auto version = parse_version(parts[1]);
  if (!version) return std::nullopt;
  for (const std::string& tags : {parts[2], parts[4]})
    for (const std::string& tag : split_at(tags, '.'))
      if (tag.empty()) return std::nullopt;
  WheelName name{parts[0], *version, split_at(parts[2], '.'), split_at(parts[4], '.')};
  // A free-threaded Python has the tag cp313 and the ABI cp313t: it is another Python.
  if (parts[3].ends_with('t') && parts[3].starts_with("cp"))
    for (std::string& tag : name.python_tags)
      if (tag + "t" == parts[3]) tag = parts[3];
  return name;
}

LocalParts local_parts(std::string_view local_version) {
  LocalParts parts;
  if (local_version.empty()) return parts;
  for (const std::string& part : split_at(local_version, '.')) {
    const std::string_view digits = std::string_view(part).substr(part.starts_with("git") ? 3
                                                                  : part.starts_with("g") ? 1
                                                                                          : 0);
    const bool is_commit = digits.size() < part.size() && digits.size() >= 7 &&
                           digits.size() <= 40 &&
                           digits.find_first_not_of("0123456789abcdef") == digits.npos;
    if (is_commit && parts.commit.empty())
      parts.commit = digits;
    else
      parts.variant += (parts.variant.empty() ? "" : ".") + part;
  }
  return parts;
}

bool names_commit(std::string_view local_version, const CommitSha& commit) {
  constexpr std::string_view mark = "git";
  if (!local_version.starts_with(mark)) return false;
  local_version.remove_prefix(mark.size());
  return local_version.size() >= 7 && commit.str().starts_with(local_version);
}

std::string file_name_of(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const auto slash = url.rfind('/');
  if (slash != std::string_view::npos) url.remove_prefix(slash + 1);
  return web::percent_decode(url).value_or("");
}

}  // namespace nightjar::service
