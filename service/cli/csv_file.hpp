// A CSV file with a line of column names, as PyTorch's dynamo runners write it. Used by `import`,
// `compare` and `summary`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar::cli {

// What a cell says. One that holds no finite number is not measured; dynamo writes a word in place
// of a number where the machine failed: "infra_error".
struct CsvCell {
  std::optional<double> number;
  std::string word;  // in place of a number: "infra_error", "nan"; "empty" of an empty cell
};

struct CsvFile {
  std::filesystem::path path;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> refused;  // rows that are none, a line each

  bool has(std::string_view column) const;
  // Empty if the row ends before that column, or if no column has that name.
  std::string text(const std::vector<std::string>& row, std::string_view column) const;
  // nullopt if the row ends before that column or there is none of that name.
  std::optional<CsvCell> cell(const std::vector<std::string>& row, std::string_view column) const;
  // nullopt also for a cell without a finite number.
  std::optional<double> number(const std::vector<std::string>& row, std::string_view column) const;
};

// Quoted cells may hold commas, quotes and line ends. A line of names in the middle, as in files
// that were joined, names the columns of what follows. A row that is longer than its names is
// refused. Throws BadInput that names the file unless there is a first line with the column `name`.
CsvFile parse_csv(const std::filesystem::path& path, std::string_view text);

// What the row's speed-up says of the model: that it ran, that it failed (0, or a word that means a
// failure), or nothing.
struct CsvOutcome {
  std::optional<bool> passed;
  bool ran = true;  // false also for a word such as infra_error: the other cells say nothing
  std::string why;  // it did not
};
CsvOutcome outcome_of(const CsvFile& file, const std::vector<std::string>& row);

}  // namespace nightjar::cli
