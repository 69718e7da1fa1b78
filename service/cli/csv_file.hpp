// A CSV file with a line of column names, as PyTorch's dynamo runners write it. Used by `compare`
// and `summary`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar::cli {

struct CsvFile {
  std::filesystem::path path;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;

  bool has(std::string_view column) const;
  // Empty if the row ends before that column, or if no column has that name.
  std::string text(const std::vector<std::string>& row, std::string_view column) const;
  // nullopt for an empty cell, "nan", "inf" and a missing column. Throws BadInput for other texts.
  std::optional<double> number(const std::vector<std::string>& row, std::string_view column) const;
};

// Quoted cells may hold commas, quotes and line ends. Throws BadInput that names the file unless
// there is a first line with the column `name`, and no row longer than it.
CsvFile parse_csv(const std::filesystem::path& path, std::string_view text);

}  // namespace nightjar::cli
