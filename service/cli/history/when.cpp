// The date and the commit that a path tells. Reads them without regular expressions, so that the
// program of one file needs no library for that.
#include <algorithm>
#include <cctype>

#include "service/cli/digits.hpp"
#include "service/cli/history/reading.hpp"

namespace nightjar::cli {
namespace {

bool is_hex_digit(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

// Reads a text from left to right. A function that finds nothing leaves its place where it was.
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  // The next `count` digits; empty if there are fewer.
  std::string digits(std::size_t count) {
    const std::string_view found = text_.substr(at_, count);
    if (found.size() < count) return "";
    for (const char c : found)
      if (!is_digit(c)) return "";
    at_ += count;
    return std::string(found);
  }
  // Skips one of these characters, if it comes next.
  bool skip(std::string_view any) {
    const bool found = at_ < text_.size() && any.find(text_[at_]) != any.npos;
    at_ += found ? 1 : 0;
    return found;
  }
  bool at_end() const { return at_ == text_.size(); }
  bool before_hex_digit() const { return !at_end() && is_hex_digit(text_[at_]); }
  bool before_digit() const { return !at_end() && is_digit(text_[at_]); }

 private:
  std::string_view text_;
  std::size_t at_;
};

struct Parts {
  std::string year, month, day, hour = "00", minute = "00", second = "00";
};

std::optional<Time> time_from(const Parts& parts) {
  return parse_rfc3339(parts.year + "-" + parts.month + "-" + parts.day + "T" + parts.hour + ":" +
                       parts.minute + ":" + parts.second + "Z");
}

bool begins_year(std::string_view text, std::size_t at) {
  return text.substr(at, 2) == "20";
}

// A time of day after a date with dashes: 07:30, 07-30-00, 073000.
bool take_dashed_time(Scanner from, Parts& parts) {
  if (!from.skip("T_ -")) return false;
  const std::string hour = from.digits(2);
  if (hour.empty()) return false;
  from.skip(":.-");
  const std::string minute = from.digits(2);
  if (minute.empty()) return false;
  Scanner with_second = from;
  with_second.skip(":.-");
  const std::string second = with_second.digits(2);
  const bool has_second = !second.empty() && !with_second.before_hex_digit();
  if (!has_second && from.before_hex_digit()) return false;
  parts.hour = hour, parts.minute = minute;
  if (has_second) parts.second = second;
  return true;
}

// 2026-08-20, perhaps with a time of day. No digit may stand before it, nor after it.
std::optional<Parts> dashed_date(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!begins_year(text, at) || (at > 0 && is_digit(text[at - 1]))) continue;
    Scanner scanner(text, at);
    Parts parts;
    parts.year = scanner.digits(4);
    if (parts.year.empty() || !scanner.skip("-")) continue;
    parts.month = scanner.digits(2);
    if (parts.month.empty() || !scanner.skip("-")) continue;
    parts.day = scanner.digits(2);
    if (parts.day.empty()) continue;
    if (take_dashed_time(scanner, parts) || !scanner.before_digit()) return parts;
  }
  return std::nullopt;
}

// 20260820 or 20260820073000. A hexadecimal digit beside it makes it a part of a commit.
std::optional<Parts> bare_date(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!begins_year(text, at) || (at > 0 && is_hex_digit(text[at - 1]))) continue;
    Scanner scanner(text, at);
    Parts parts;
    parts.year = scanner.digits(4), parts.month = scanner.digits(2), parts.day = scanner.digits(2);
    if (parts.year.empty() || parts.month.empty() || parts.day.empty()) continue;
    Scanner timed = scanner;
    timed.skip("T_-");
    const std::string time = timed.digits(6);
    if (!time.empty() && !timed.before_hex_digit()) {
      parts.hour = time.substr(0, 2), parts.minute = time.substr(2, 2);
      parts.second = time.substr(4);
      return parts;
    }
    if (!scanner.before_hex_digit()) return parts;
  }
  return std::nullopt;
}

std::optional<Time> time_in(std::string_view part) {
  for (const auto& found : {dashed_date(part), bare_date(part)})
    if (found)
      if (const auto time = time_from(*found)) return time;
  return std::nullopt;
}

// The first 40 hexadecimal digits in lower case between others.
std::optional<CommitSha> commit_in(std::string_view part) {
  constexpr std::string_view digits_of_hex = "0123456789abcdef";
  constexpr std::size_t length = 40;
  for (std::size_t at = 0; at < part.size();) {
    const std::size_t begin = std::min(part.find_first_of(digits_of_hex, at), part.size());
    const std::size_t end = std::min(part.find_first_not_of(digits_of_hex, begin), part.size());
    if (end - begin == length) return CommitSha::parse(part.substr(begin, length));
    at = end;
  }
  return std::nullopt;
}

}  // namespace

When when_of(std::string_view place) {
  When when;
  while (!place.empty()) {
    const auto slash = place.rfind('/');
    const auto part = slash == place.npos ? place : place.substr(slash + 1);
    if (!when.time) when.time = time_in(part);
    if (!when.commit) when.commit = commit_in(part);
    place = place.substr(0, slash == place.npos ? 0 : slash);
  }
  return when;
}

}  // namespace nightjar::cli
