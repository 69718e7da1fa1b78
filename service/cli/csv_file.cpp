#include "service/cli/csv_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "service/cli/failure.hpp"
#include "service/cli/history/reading.hpp"
#include "storage/base/csv.hpp"

namespace nightjar::cli {
namespace {

using CsvCells = std::vector<std::string>;

std::size_t column_place(const CsvCells& columns, std::string_view column) {
  return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), column) -
                                  columns.begin());
}

CsvCells trimmed_cells(CsvCells cells) {
  for (std::string& cell : cells) {
    if (cell.starts_with("\xef\xbb\xbf")) cell.erase(0, 3);  // of a file that was joined on
    cell.erase(cell.find_last_not_of(" \t") + 1);
    cell.erase(0, std::min(cell.find_first_not_of(" \t"), cell.size()));
  }
  return cells;
}

// A model may be called "name", but not of a device "dev" too.
bool is_column_names(const CsvCells& line) {
  const auto has = [&](const char* column) { return column_place(line, column) < line.size(); };
  return has("name") && (has("dev") || has("speedup") || has("accuracy") || has("workload"));
}

// Brings the rows of all parts of a file into the same columns.
class JoinedRows {
 public:
  explicit JoinedRows(CsvFile& file) : file_(file) {}

  void begin(const CsvCells& header) {
    places_.clear();
    for (const std::string& column : header) {
      places_.push_back(column_place(file_.columns, column));
      if (places_.back() == file_.columns.size()) file_.columns.push_back(column);
    }
  }
  void add(const CsvCells& line, std::size_t number) {
    if (line.size() > places_.size()) {
      file_.refused.push_back("row " + std::to_string(number) + " has more cells than the names " +
                              "of its columns");
      return;
    }
    CsvCells row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (row.size() <= places_[i]) row.resize(places_[i] + 1);
      row[places_[i]] = line[i];
    }
    file_.rows.push_back(std::move(row));
  }

 private:
  CsvFile& file_;
  std::vector<std::size_t> places_;
};

CsvCell csv_cell_of(const std::string& text) {
  if (text.empty()) return {std::nullopt, "empty"};
  double value = 0;
  const char* const begin = text.data() + (text.front() == '+' ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && std::isfinite(value)) return {value, ""};
  return {std::nullopt, text.substr(0, 60)};
}

}  // namespace

bool CsvFile::has(std::string_view column) const {
  return column_place(columns, column) < columns.size();
}

std::string CsvFile::text(const CsvCells& row, std::string_view column) const {
  const auto place = column_place(columns, column);
  return place < columns.size() && place < row.size() ? row[place] : "";
}

std::optional<CsvCell> CsvFile::cell(const CsvCells& row, std::string_view column) const {
  const auto place = column_place(columns, column);
  if (place >= columns.size() || place >= row.size()) return std::nullopt;
  return csv_cell_of(trimmed_cells({row[place]}).front());
}

std::optional<double> CsvFile::number(const CsvCells& row, std::string_view column) const {
  const auto found = cell(row, column);
  return found ? found->number : std::nullopt;
}

CsvFile parse_csv(const std::filesystem::path& path, std::string_view text) {
  CsvFile file{path, {}, {}, {}};
  JoinedRows rows(file);
  std::size_t number = 0;
  for (const CsvCells& line : csv_lines(text)) {
    const CsvCells cells = trimmed_cells(line);
    const bool is_first = number == 0;
    if (is_first && column_place(cells, "name") == cells.size())
      throw BadInput("cannot read " + path.string() +
                     ": its first line names no column 'name'; it must be a CSV file of PyTorch's "
                     "dynamo runners or of `nightjar-runner measure`");
    if (is_first || is_column_names(cells))
      rows.begin(cells);
    else
      rows.add(line, number);
    ++number;
  }
  if (number == 0)
    throw BadInput("cannot read " + path.string() + ": it holds no line with names of columns");
  return file;
}

CsvOutcome outcome_of(const CsvFile& file, const CsvCells& row) {
  const auto found = file.cell(row, "speedup");
  if (!found) return {};
  if (found->number == 0.0) return {false, false, "its speed-up is 0: it failed"};
  if (found->number) return {true, true, ""};
  if (!enum_from<Accuracy>(found->word)) return {};
  return {accuracy_passed(found->word), false, "its speed-up is '" + found->word + "'"};
}

}  // namespace nightjar::cli
