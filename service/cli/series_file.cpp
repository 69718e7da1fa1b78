#include "service/cli/series_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "service/cli/failure.hpp"
#include "service/cli/model_results.hpp"

namespace nightjar::cli {
namespace {

constexpr std::string_view kHeader = "position,value";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view stripped(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

// Long, so that whole numbers of 64 bits (times in ns) keep all their digits.
std::optional<long double> number_of(std::string_view text) {
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

struct SeriesRow {
  std::string_view position, value;
};

// The position may stand in quotation marks, which then may hold a comma.
SeriesRow row_of(std::string_view line, const std::string& where) {
  const auto comma = line.rfind(',');
  if (comma == std::string_view::npos)
    throw BadInput(where + "a position, a comma and a value are wanted, not '" +
                   std::string(line.substr(0, 60)) + "'");
  std::string_view position = stripped(line.substr(0, comma));
  const bool quoted = position.size() > 1 && position.front() == '"' && position.back() == '"';
  if (quoted) position = position.substr(1, position.size() - 2);
  if (position.empty()) throw BadInput(where + "the position is empty");
  if (!quoted && position.find(',') != std::string_view::npos)
    throw BadInput(
        where +
        "there are more than two cells; a position that holds a comma stands in quotation marks");
  return {position, stripped(line.substr(comma + 1))};
}

double value_of(std::string_view text, const std::string& where, bool may_be_header) {
  const auto value = number_of(text);
  if (!value)
    throw BadInput(where + "the value '" + std::string(text.substr(0, 60)) + "' is no number" +
                   (may_be_header ? "; a header must be '" + std::string(kHeader) + "'" : ""));
  const auto kept = static_cast<double>(*value);
  if (!(kept > 0 && std::isfinite(kept)))
    throw BadInput(where + "the value must be positive and finite");
  return kept;
}

struct Run {
  std::string position;
  double value = 0;
};

Series sorted_series(const std::vector<Run>& runs) {
  Series series{{}, {}, true};
  std::map<long double, std::size_t> places;
  for (const Run& run : runs) places.emplace(*number_of(run.position), 0);
  for (auto& [number, place] : places) {
    place = series.positions.size();
    series.positions.push_back({static_cast<long long>(place), {}});
  }
  series.names.resize(places.size());
  for (const Run& run : runs) {
    const std::size_t place = places.at(*number_of(run.position));
    series.names[place] = run.position;
    series.positions[place].runs.push_back(run.value);
  }
  return series;
}

Series series_in_order(const std::vector<Run>& runs) {
  Series series;
  std::map<std::string, std::size_t> places;
  for (const Run& run : runs) {
    const auto [place, added] = places.emplace(run.position, series.positions.size());
    if (added) {
      series.positions.push_back({static_cast<long long>(place->second), {}});
      series.names.push_back(run.position);
    }
    series.positions[place->second].runs.push_back(run.value);
  }
  return series;
}

bool is_header(std::string line) {
  std::erase_if(line, [](char c) { return c == ' ' || c == '"'; });
  return line == kHeader;
}

}  // namespace

Series read_series(const std::filesystem::path& file) {
  const std::string attempt = "cannot read the series " + file.string();
  std::istringstream in(read_text(file));
  std::vector<Run> runs;
  bool first = true;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    std::string_view text(line);
    if (number == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    text = stripped(text);
    if (text.empty()) continue;
    const bool may_be_header = std::exchange(first, false);
    if (may_be_header && is_header(std::string(text))) continue;
    const std::string where = attempt + ", line " + std::to_string(number) + ": ";
    const SeriesRow row = row_of(text, where);
    runs.push_back({std::string(row.position), value_of(row.value, where, may_be_header)});
  }
  if (runs.empty()) throw BadInput(attempt + ": it holds no values");
  const bool numbers =
      std::all_of(runs.begin(), runs.end(), [](const Run& run) { return number_of(run.position); });
  return numbers ? sorted_series(runs) : series_in_order(runs);
}

}  // namespace nightjar::cli
