#include "service/cli/series_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "service/cli/failure.hpp"
#include "service/cli/known_units.hpp"
#include "storage/base/foreign_text.hpp"

namespace nightjar::cli {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view position_names[] = {"position", "commit", "sha",  "revision",  "version",
                                               "tag",      "date",   "time", "timestamp", "build",
                                               "run",      "night",  "index"};

std::string_view stripped(std::string_view text) {
  constexpr std::string_view space = " \t\r";
  const auto first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) + 1 - first);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

struct Cells {
  std::vector<std::string> texts;
  std::vector<bool> quoted;
};

// Quotes only count around a whole cell; inside, a quote is written twice.
Cells cells_of(std::string_view line, char separator) {
  Cells cells;
  for (std::size_t i = 0;;) {
    while (i < line.size() && line[i] == ' ') ++i;
    std::string cell;
    const bool quoted = i < line.size() && line[i] == '"';
    if (quoted)
      for (++i; i < line.size(); ++i) {
        if (line[i] != '"')
          cell += line[i];
        else if (i + 1 < line.size() && line[i + 1] == '"')
          cell += line[i++];
        else
          break;
      }
    const auto end =
        std::min(line.find(separator, quoted ? std::min(i + 1, line.size()) : i), line.size());
    if (!quoted) cell = stripped(line.substr(i, end - i));
    cells.texts.push_back(std::move(cell));
    cells.quoted.push_back(quoted);
    if (end == line.size()) return cells;
    i = end + 1;
  }
}

struct SeriesColumns {
  std::size_t position = 0, value = 1, count = 2;
};

// "value", "Value (ms)", "value [s]".
bool names_the_value(const std::string& cell) {
  const std::string name = lower_case(cell);
  return name == "value" || name.starts_with("value (") || name.starts_with("value [");
}

std::optional<SeriesColumns> columns_of(const Cells& header) {
  SeriesColumns columns{header.texts.size(), header.texts.size(), header.texts.size()};
  for (std::size_t i = 0; i < header.texts.size(); ++i) {
    const std::string name = lower_case(header.texts[i]);
    const auto known = std::find(std::begin(position_names), std::end(position_names), name);
    if (columns.position == columns.count && known != std::end(position_names))
      columns.position = i;
    if (columns.value == columns.count && names_the_value(name)) columns.value = i;
  }
  const bool whole = columns.position < columns.count && columns.value < columns.count;
  return whole ? std::optional(columns) : std::nullopt;
}

// A value as it is written: digits with their signs, and a unit.
struct Written {
  int line = 0;
  std::string position, digits, unit;
};

Written written_value(int line, const std::string& position, const std::string& cell) {
  const auto end = cell.find_first_not_of("+-.,0123456789");
  std::size_t digits = std::min(end, cell.size());
  // An exponent.
  if (digits < cell.size() && (cell[digits] == 'e' || cell[digits] == 'E')) {
    const auto after = cell.find_first_not_of(
        "0123456789",
        digits + 1 +
            (digits + 1 < cell.size() && (cell[digits + 1] == '+' || cell[digits + 1] == '-') ? 1
                                                                                              : 0));
    if (std::min(after, cell.size()) > digits + 1) digits = std::min(after, cell.size());
  }
  return {line, position, cell.substr(0, digits), std::string(stripped(cell.substr(digits)))};
}

// What the commas of a number say.
enum class CommaReading { none, decimal, thousands, either, broken };

bool in_groups_of_three(std::string_view text, char separator) {
  auto at = text.find(separator);
  if (at == 0 || at > 3) return false;
  for (; at != std::string_view::npos; at = text.find(separator, at + 1)) {
    const auto next = std::min(text.find(separator, at + 1), text.size());
    if (next - at != 4) return false;
  }
  return true;
}

CommaReading comma_reading(std::string_view digits) {
  if (digits.starts_with('-') || digits.starts_with('+')) digits.remove_prefix(1);
  digits = digits.substr(0, digits.find_first_of("eE"));
  const auto commas = std::count(digits.begin(), digits.end(), ',');
  const auto points = std::count(digits.begin(), digits.end(), '.');
  if (commas == 0) return points > 1 ? CommaReading::broken : CommaReading::none;
  const auto comma = digits.find(','), last_comma = digits.rfind(',');
  const auto point = digits.find('.'), last_point = digits.rfind('.');
  if (points == 1 && last_comma < point)
    return in_groups_of_three(digits.substr(0, point), ',') ? CommaReading::thousands
                                                            : CommaReading::broken;
  if (points > 0)
    return commas == 1 && last_point < comma && in_groups_of_three(digits.substr(0, comma), '.')
               ? CommaReading::decimal
               : CommaReading::broken;
  const bool groups = in_groups_of_three(digits, ',');
  if (commas > 1) return groups ? CommaReading::thousands : CommaReading::broken;
  return groups && digits.front() != '0' ? CommaReading::either : CommaReading::decimal;
}

class ValueReader {
 public:
  ValueReader(const std::vector<Written>& values, std::string attempt, char separator)
      : attempt_(std::move(attempt)) {
    find_decimal_sign(values, separator);
    for (const Written& value : values)
      if (!value.unit.empty() && !unit_) unit_ = unit_in(value);
  }

  double read(const Written& value) const {
    const double number = number_of(value);
    std::optional<KnownUnit> unit;
    if (!value.unit.empty()) unit = unit_in(value);
    if (unit_ && (!unit || unit->dimension != unit_->dimension))
      throw BadInput(where(value) + in_quotes(value.digits + value.unit) +
                     (value.unit.empty() ? " has no unit, and other values have one"
                                         : " and other values have units that do not go together"));
    const double kept = unit_ ? number * (unit->factor / unit_->factor) : number;
    if (!(kept > 0 && std::isfinite(kept)))
      throw BadInput(where(value) + "the value must be positive and finite");
    return kept;
  }

 private:
  std::string where(const Written& value) const {
    return attempt_ + ", line " + std::to_string(value.line) + ": ";
  }

  // A file whose cells end with semicolons writes commas in numbers; if all have one, it is theirs.
  void find_decimal_sign(const std::vector<Written>& values, char separator) {
    const Written *decimal = nullptr, *thousands = nullptr, *either = nullptr, *point = nullptr;
    bool all = true;
    for (const Written& value : values) {
      const CommaReading reading = comma_reading(value.digits);
      if (reading == CommaReading::broken) throw no_number(value);
      if (reading == CommaReading::decimal) decimal = decimal ? decimal : &value;
      if (reading == CommaReading::thousands) thousands = thousands ? thousands : &value;
      if (reading == CommaReading::either) either = either ? either : &value;
      if (reading != CommaReading::none) continue;
      all = false;
      if (value.digits.find('.') != std::string::npos) point = point ? point : &value;
    }
    const bool of_semicolons = separator == ';' && all;
    if (decimal && (thousands || point))
      throw ambiguous(*decimal, *(thousands ? thousands : point));
    if (either && !decimal && !thousands && !of_semicolons) throw ambiguous(*either, *either);
    is_comma_decimal_ = decimal != nullptr || (either != nullptr && of_semicolons && !thousands);
  }

  BadInput ambiguous(const Written& comma, const Written& other) const {
    const std::string beside = &comma == &other ? ""
                                                : " beside " + in_quotes(other.digits) +
                                                      " in line " + std::to_string(other.line);
    return BadInput(where(comma) + "the comma of " + in_quotes(comma.digits) + beside +
                    " may be a decimal sign or separate thousands; write a point, and no "
                    "separator of thousands");
  }
  BadInput no_number(const Written& value) const {
    return BadInput(where(value) + "the value " + in_quotes(value.digits + value.unit) +
                    " is no number");
  }

  double number_of(const Written& value) const {
    std::string digits = value.digits;
    std::erase(digits, is_comma_decimal_ && digits.find(',') != std::string::npos ? '.' : ',');
    std::replace(digits.begin(), digits.end(), ',', '.');
    double number = 0;
    const char* const begin = digits.data() + (digits.starts_with('+') ? 1 : 0);
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(begin, end, number);
    if (read.ec == std::errc::result_out_of_range && read.ptr == end) return 0;
    if (read.ec != std::errc() || read.ptr != end) throw no_number(value);
    return number;
  }

  KnownUnit unit_in(const Written& value) const {
    if (const auto unit = known_unit(value.unit)) return *unit;
    if (value.digits.empty()) throw no_number(value);
    throw BadInput(where(value) + in_quotes(value.unit) + " in " +
                   in_quotes(value.digits + " " + value.unit) +
                   " is no unit that is known; see docs/formats.md");
  }

  std::string attempt_;
  std::optional<KnownUnit> unit_;
  bool is_comma_decimal_ = false;
};

bool is_unmeasured(const std::string& cell) {
  const std::string word = lower_case(cell);
  return word.empty() || word == "nan" || word == "na" || word == "n/a" || word == "null" ||
         word == "none" || word == "-";
}

bool holds_unquoted(const std::string& line, char c) {
  bool quoted = false;
  for (const char one : line) {
    if (one == '"') quoted = !quoted;
    if (one == c && !quoted) return true;
  }
  return false;
}

struct NumberedLine {
  int number = 0;
  std::string text;
};

std::vector<NumberedLine> lines_of(std::string_view text) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::vector<NumberedLine> lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::string kept(line);
    if (kept.ends_with('\r')) kept.pop_back();
    if (!stripped(kept).empty()) lines.push_back({number, std::move(kept)});
  }
  return lines;
}

char separator_of(const std::string& line) {
  for (const char c : {';', '\t'})
    if (holds_unquoted(line, c)) return c;
  return ',';
}

const char* name_of_separator(char separator) {
  return separator == ';' ? "a semicolon" : separator == '\t' ? "a tab" : "a comma";
}

Cells checked_cells(const NumberedLine& line, char separator, const SeriesColumns& columns,
                    const std::string& attempt) {
  const std::string where = attempt + ", line " + std::to_string(line.number) + ": ";
  for (const char other : {';', '\t'})
    if (other != separator && holds_unquoted(line.text, other))
      throw BadInput(where + name_of_separator(other) + " stands where the lines before are " +
                     "separated by " + name_of_separator(separator) + ": " + in_quotes(line.text));
  Cells cells = cells_of(line.text, separator);
  if (cells.texts.size() < columns.count)
    throw BadInput(where + "a position, " + name_of_separator(separator) +
                   " and a value are wanted, not " + in_quotes(line.text));
  if (cells.texts.size() > columns.count)
    throw BadInput(where + "there are more than " +
                   (columns.count == 2 ? "two" : std::to_string(columns.count)) +
                   " cells; one that holds " + name_of_separator(separator) +
                   " stands in quotation marks");
  if (cells.texts[columns.position].empty()) throw BadInput(where + "the position is empty");
  return cells;
}

}  // namespace

SeriesRows series_rows(std::string_view text, const std::string& attempt) {
  const auto lines = lines_of(text);
  if (lines.empty()) throw BadInput(attempt + ": it holds no values");
  const char separator = separator_of(lines.front().text);
  const auto header = columns_of(cells_of(lines.front().text, separator));
  const SeriesColumns columns = header.value_or(SeriesColumns{});
  SeriesRows out;
  std::vector<Written> values;
  for (std::size_t i = header ? 1 : 0; i < lines.size(); ++i) {
    const Cells cells = checked_cells(lines[i], separator, columns, attempt);
    const std::string& value = cells.texts[columns.value];
    if (is_unmeasured(value))
      out.unmeasured.push_back(lines[i].number);
    else
      values.push_back(written_value(lines[i].number, cells.texts[columns.position], value));
    if (i == 0 && !values.empty() && values.front().digits.empty())
      throw BadInput(attempt + ", line " + std::to_string(lines[0].number) + ": the value " +
                     in_quotes(value) +
                     " is no number; a header must name 'value' and one of "
                     "position, commit, version, date");
  }
  const ValueReader reader(values, attempt, separator);
  for (Written& value : values)
    out.rows.push_back({value.line, std::move(value.position), reader.read(value)});
  if (out.rows.empty()) throw BadInput(attempt + ": it holds no values");
  return out;
}

}  // namespace nightjar::cli
