#include "bisect/git/nightly.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace nightjar::git {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<int> number(std::string_view digits) {
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto year = number(text.substr(0, 4));
  const auto month = number(text.substr(5, 2));
  const auto day = number(text.substr(8, 2));
  if (!year || !month || !day) return false;
  using namespace std::chrono;
  return year_month_day{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                        std::chrono::day{static_cast<unsigned>(*day)}}
      .ok();
}

}  // namespace

std::optional<NightlyRelease> parse_nightly_release(std::string_view message) {
  constexpr std::string_view middle = " nightly release (";
  std::string_view line = message.substr(0, message.find('\n'));
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  if (line.size() != 10 + middle.size() + 40 + 1 || line.back() != ')') return std::nullopt;
  const auto date = line.substr(0, 10);
  if (!is_date(date) || line.substr(10, middle.size()) != middle) return std::nullopt;
  const auto commit = CommitSha::parse(line.substr(10 + middle.size(), 40));
  if (!commit) return std::nullopt;
  return NightlyRelease{std::string(date), *commit};
}

}  // namespace nightjar::git
