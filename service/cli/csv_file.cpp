#include "service/cli/csv_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "service/cli/failure.hpp"
#include "storage/base/csv.hpp"

namespace nightjar::cli {
namespace {

std::string attempt_on(const std::filesystem::path& path) {
  return "cannot read " + path.string() + ": ";
}

}  // namespace

bool CsvFile::has(std::string_view column) const {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

std::string CsvFile::text(const std::vector<std::string>& row, std::string_view column) const {
  const auto found =
      static_cast<std::size_t>(std::find(columns.begin(), columns.end(), column) - columns.begin());
  return found < columns.size() && found < row.size() ? row[found] : "";
}

std::optional<double> CsvFile::number(const std::vector<std::string>& row,
                                      std::string_view column) const {
  const std::string cell = text(row, column);
  if (cell.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size())
    throw BadInput(attempt_on(path) + "'" + cell.substr(0, 60) + "' of " + text(row, "name") +
                   " in column " + std::string(column) + " is no number");
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

CsvFile parse_csv(const std::filesystem::path& path, std::string_view text) {
  auto lines = csv_lines(text);
  CsvFile file{path, {}, {}};
  if (!lines.empty()) file.columns = lines.front();
  if (!file.has("name"))
    throw BadInput(attempt_on(path) +
                   "its first line names no column 'name'; it must be a CSV file of PyTorch's "
                   "dynamo runners or of `nightjar-runner measure`");
  file.rows.assign(lines.begin() + 1, lines.end());
  for (std::size_t i = 0; i < file.rows.size(); ++i)
    if (file.rows[i].size() > file.columns.size())
      throw BadInput(attempt_on(path) + "row " + std::to_string(i + 1) +
                     " has more cells than the first line");
  return file;
}

}  // namespace nightjar::cli
