#include "service/cli/series_order.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <compare>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "service/cli/digits.hpp"
#include "service/cli/failure.hpp"
#include "storage/model/text_shape.hpp"
#include "storage/model/time.hpp"

namespace nightjar::cli {
namespace {

// Long, so that whole numbers of 64 bits (times in ns) keep all their digits.
std::optional<long double> position_number(std::string_view text) {
  // Not std::from_chars, which libc++ has for double only. Neither takes what the other would not.
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != text.npos || text[0] == '+')
    return std::nullopt;
  const std::string copy(text);
  char* end = nullptr;
  errno = 0;
  const long double number = std::strtold(copy.c_str(), &end);
  const bool whole = errno == 0 && end == copy.c_str() + copy.size();
  return whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// The order of PEP 440: development releases before pre-releases, these before the release.
struct VersionKey {
  std::vector<long long> release;  // without zeros at its end: 1.0 is 1
  int stage = 3;                   // 0 alpha, 1 beta, 2 candidate, 3 none; -1: development only
  long long stage_number = 0, post = -1;
  long long development = std::numeric_limits<long long>::max();
  std::string local;
  auto operator<=>(const VersionKey&) const = default;
};

// Takes digits from the front. nullopt: there are none, or too many.
std::optional<long long> take_number(std::string_view& text) {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.empty() || !is_digit(text.front())) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take_prefix(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// "rc1", "-alpha.2", ".dev20260820", ".post1".
bool take_suffix(std::string_view& text, VersionKey& key) {
  constexpr std::string_view stages[][4] = {
      {"alpha", "a", "", ""}, {"beta", "b", "", ""}, {"preview", "rc", "pre", "c"}};
  constexpr std::string_view version_separators = ".-_";
  const auto skip = [&] {
    if (!text.empty() && version_separators.find(text.front()) != std::string_view::npos)
      text.remove_prefix(1);
  };
  const auto number = [&] {
    skip();
    return take_number(text).value_or(0);
  };
  skip();
  if (take_prefix(text, "dev")) {
    key.development = number();
    return true;
  }
  if (take_prefix(text, "post")) {
    key.post = number();
    return true;
  }
  for (int stage = 0; stage < 3; ++stage)
    for (const std::string_view word : stages[stage])
      if (!word.empty() && take_prefix(text, word)) {
        key.stage = stage;
        key.stage_number = number();
        return true;
      }
  return false;
}

// A version has at least two numbers.
std::optional<VersionKey> version_key(std::string_view text) {
  VersionKey key;
  if (!take_prefix(text, "v")) take_prefix(text, "V");
  const auto first = take_number(text);
  if (!first) return std::nullopt;
  key.release.push_back(*first);
  while (text.size() > 1 && text.front() == '.' && is_digit(text[1])) {
    text.remove_prefix(1);
    const auto next = take_number(text);
    if (!next) return std::nullopt;
    key.release.push_back(*next);
  }
  if (key.release.size() < 2) return std::nullopt;
  while (!text.empty() && text.front() != '+')
    if (!take_suffix(text, key)) return std::nullopt;
  if (take_prefix(text, "+")) key.local = text;
  while (key.release.size() > 1 && key.release.back() == 0) key.release.pop_back();
  const bool before_all =
      key.stage == 3 && key.post < 0 && key.development != std::numeric_limits<long long>::max();
  if (before_all) key.stage = -1;
  return key;
}

bool looks_like_date(std::string_view text) {
  return has_shape(text.substr(0, 10), "0000-00-00");
}

// Takes "Z", "+02:00" or " +0200" from the end: what is to be subtracted for UTC. Zero without a
// zone.
std::chrono::minutes take_zone(std::string& text) {
  if (text.ends_with('Z')) text.pop_back();
  const auto sign = text.find_first_of("+-", std::min<std::size_t>(text.size(), 11));
  if (sign == std::string::npos) return {};
  std::string digits = text.substr(sign + 1);
  std::erase(digits, ':');
  if (!has_shape(digits, "0000")) return {};
  const auto of = [&](std::size_t at) { return 10 * (digits[at] - '0') + digits[at + 1] - '0'; };
  const std::chrono::minutes offset = std::chrono::hours(of(0)) + std::chrono::minutes(of(2));
  const bool ahead = text[sign] == '+';
  text.resize(text.find_last_not_of(' ', sign - 1) + 1);
  return ahead ? offset : -offset;
}

}  // namespace

std::optional<Time> date_in(std::string_view text) {
  if (!looks_like_date(text)) return std::nullopt;
  std::string whole(text);
  const std::chrono::minutes offset = take_zone(whole);
  if (whole.size() == 10) whole += "T00:00:00";
  if (whole[10] == ' ') whole[10] = 'T';
  if (has_shape(std::string_view(whole).substr(10), "T00:00")) whole += ":00";
  const auto time = parse_rfc3339(whole + "Z");
  return time ? std::optional(*time - offset) : std::nullopt;
}

namespace {

// 03/04/2026, 3.4.2026: the day may come first, or the month.
bool is_ambiguous_date(std::string_view text) {
  for (const char between : {'/', '.', '-'}) {
    std::string_view rest = text;
    const auto day = take_number(rest);
    if (!day || *day > 31 || rest.empty() || rest.front() != between) continue;
    rest.remove_prefix(1);
    const auto month = take_number(rest);
    if (!month || *month > 31 || rest.empty() || rest.front() != between) continue;
    rest.remove_prefix(1);
    const auto year = take_number(rest);
    if (year && *year >= 1970 && *year < 2200) return true;
  }
  return false;
}

class Order {
 public:
  Order(const std::vector<PositionName>& names, const std::string& attempt)
      : names_(names), attempt_(attempt) {}

  PositionOrder find() const {
    for (const PositionName& name : names_)
      if (is_ambiguous_date(name.text))
        throw refused(name, "the date '" + name.text +
                                "' does not say which number is the month; "
                                "write it as 2026-04-03");
    if (all([](const auto& text) { return looks_like_date(text); }) || some_dates())
      return sorted<Time>(PositionKind::dates, keys<Time>([&](const PositionName& name) {
                            const auto key = date_in(name.text);
                            if (!key) throw no_date(name);
                            return *key;
                          }));
    if (all([](const auto& text) { return position_number(text).has_value(); })) return numbers();
    if (all([](const auto& text) { return version_key(text).has_value(); })) return versions();
    return as_listed();
  }

 private:
  BadInput refused(const PositionName& name, const std::string& why) const {
    return BadInput(attempt_ + ", line " + std::to_string(name.line) + ": " + why);
  }
  BadInput no_date(const PositionName& name) const {
    return refused(name, "'" + name.text.substr(0, 60) + "' is no date such as 2026-11-23 or " +
                             "2026-11-23T08:00:00Z, as other positions are");
  }

  template <class Is>
  bool all(Is is) const {
    return std::all_of(names_.begin(), names_.end(),
                       [&](const PositionName& name) { return is(name.text); });
  }
  bool some_dates() const {
    return std::any_of(names_.begin(), names_.end(),
                       [](const PositionName& name) { return looks_like_date(name.text); });
  }

  template <class Key>
  std::vector<Key> keys(const std::function<Key(const PositionName&)>& of) const {
    std::vector<Key> keys;
    for (const PositionName& name : names_) keys.push_back(of(name));
    return keys;
  }
  std::vector<VersionKey> version_keys() const {
    return keys<VersionKey>([](const PositionName& name) { return *version_key(name.text); });
  }

  template <class Key>
  PositionOrder sorted(PositionKind kind, const std::vector<Key>& keys) const {
    PositionOrder order{kind, {}};
    std::map<Key, std::size_t> places;
    for (const Key& key : keys) places.emplace(key, 0);
    std::size_t next = 0;
    for (auto& [key, place] : places) place = next++;
    for (const Key& key : keys) order.places.push_back(places.at(key));
    return order;
  }

  PositionOrder as_listed() const {
    PositionOrder order;
    std::map<std::string, std::size_t> places;
    for (const PositionName& name : names_)
      order.places.push_back(places.emplace(name.text, places.size()).first->second);
    return order;
  }

  PositionOrder versions() const { return sorted(PositionKind::versions, version_keys()); }

  // Numbers, unless they are versions of two numbers or commits such as 12345e7.
  PositionOrder numbers() const {
    const auto values =
        keys<long double>([](const PositionName& name) { return *position_number(name.text); });
    PositionOrder order = sorted(PositionKind::numbers, values);
    if (all([](const auto& text) { return version_key(text).has_value(); })) {
      const PositionOrder other = versions();
      if (other.places != order.places) return chosen(order, other);
    }
    const auto exponent = std::find_if(names_.begin(), names_.end(), [](const PositionName& name) {
      return name.text.find_first_of("eE") != std::string::npos;
    });
    if (exponent != names_.end() && !in_order(order))
      throw refused(*exponent, "'" + exponent->text + "' may be a number or a commit, and the " +
                                   "file is in another order than the numbers; sort it by time");
    return order;
  }

  // Whether the file lists the positions oldest first.
  static bool in_order(const PositionOrder& order) {
    return std::is_sorted(order.places.begin(), order.places.end());
  }

  // Decimals or versions: the one whose order the file has.
  PositionOrder chosen(const PositionOrder& decimals, const PositionOrder& versions) const {
    const bool as_decimals = in_order(decimals), as_versions = in_order(versions);
    if (as_decimals != as_versions) return as_versions ? versions : decimals;
    std::size_t at = 0;
    while (decimals.places[at] == versions.places[at]) ++at;
    throw refused(names_[at], "'" + names_[at].text + "' may be a decimal number or a version, " +
                                  "which come in another order; write versions as v" +
                                  names_[at].text + ", or sort the file by time");
  }

  const std::vector<PositionName>& names_;
  const std::string& attempt_;
};

}  // namespace

PositionOrder position_order(const std::vector<PositionName>& names, const std::string& attempt) {
  return Order(names, attempt).find();
}

}  // namespace nightjar::cli
