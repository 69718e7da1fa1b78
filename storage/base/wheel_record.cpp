#include "storage/base/wheel_record.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "storage/base/csv.hpp"
#include "storage/base/digest.hpp"

namespace nightjar {
namespace {

constexpr std::size_t cell_count = 3, longest_path = 4096;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

[[noreturn]] void malformed(const std::string& path) {
  throw MalformedRecord("RECORD has a malformed line for '" + path.substr(0, 120) + "'");
}

std::int64_t size_in(const std::string& cell, const std::string& path) {
  std::int64_t bytes = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), bytes);
  if (error != std::errc() || end != cell.data() + cell.size() || bytes < 0) malformed(path);
  return bytes;
}

std::string hash_in(std::string_view cell, const std::string& path) {
  if (!cell.starts_with("sha256=")) return {};
  cell.remove_prefix(7);
  while (cell.ends_with('=')) cell.remove_suffix(1);
  const std::string hash = hex_from_base64url(cell);
  if (!Sha256::parse(hash)) malformed(path);  // else it would not be checked
  return hash;
}

// "./torch/a.py" and "torch\a.py" are "torch/a.py".
std::string normal_path(std::string path) {
  while (path.starts_with(byte_order_mark)) path.erase(0, byte_order_mark.size());
  std::replace(path.begin(), path.end(), '\\', '/');
  return std::filesystem::path(path).lexically_normal().generic_string();
}

bool may_be_stale(const std::string& path) {
  return path.find(".dist-info/") != std::string::npos || path.ends_with(".pyc");
}

}  // namespace

Record parse_record(std::string_view text) {
  Record record;
  csv_lines(text, cell_count, [&](const CsvLine& cells) {
    // A line end inside of quotes is a quotation that was never closed.
    const std::string& path = cells.front();
    if (cells.size() != cell_count || path.size() > longest_path || record.size() >= most_files ||
        (path + cells[1] + cells[2]).find('\n') != std::string::npos)
      malformed(path);
    RecordEntry entry;
    entry.sha256 = hash_in(cells[1], path);
    if (!cells[2].empty()) entry.bytes = size_in(cells[2], path);
    record[normal_path(path)] = std::move(entry);
  });
  return record;
}

std::string record_text(const Record& record) {
  std::string text;
  for (const auto& [path, entry] : record) {
    text += csv_cell(path) + ",";
    if (!entry.sha256.empty()) text += "sha256=" + base64url_of_hex(entry.sha256);
    text += "," + (entry.bytes < 0 ? "" : std::to_string(entry.bytes)) + "\n";
  }
  return text;
}

std::optional<std::string> record_misfit(const Record& record, const Contents& contents,
                                         bool laid_over) {
  for (const auto& [path, entry] : record) {
    if (may_be_stale(path)) continue;
    const auto found = contents.find(path);
    if (found == contents.end()) return "RECORD lists " + path + ", which is missing";
    if (laid_over && path.ends_with(".py")) continue;
    const FileContent& content = found->second;
    if ((!entry.sha256.empty() && content.sha256 != entry.sha256) ||
        (entry.bytes >= 0 && content.bytes != entry.bytes))
      return path + " differs from what RECORD says";
  }
  return std::nullopt;
}

}  // namespace nightjar
