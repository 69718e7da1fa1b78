#include "runner/build/record.hpp"

#include <charconv>

#include "storage/base/csv.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void malformed(const std::string& path) {
  throw BrokenArchive("RECORD has a malformed line for '" + path.substr(0, 120) + "'");
}

std::int64_t size_in(const std::string& cell, const std::string& path) {
  std::int64_t bytes = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), bytes);
  if (error != std::errc() || end != cell.data() + cell.size() || bytes < 0) malformed(path);
  return bytes;
}

}  // namespace

Record parse_record(std::string_view text) {
  Record record;
  for (const auto& cells : csv_lines(text)) {
    // A line end inside of quotes is a quotation that was never closed.
    const std::string& path = cells.front();
    if (cells.size() != 3 || (path + cells[1] + cells[2]).find('\n') != std::string::npos)
      malformed(path);
    RecordEntry entry;
    if (cells[1].starts_with("sha256=")) {
      entry.sha256 = hex_from_base64url(cells[1].substr(7));
      if (!Sha256::parse(entry.sha256)) malformed(path);  // else it would not be checked
    }
    if (!cells[2].empty()) entry.bytes = size_in(cells[2], path);
    record[path] = std::move(entry);
  }
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

fs::path find_record(const fs::path& site_packages, const std::string& distribution) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(site_packages, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(distribution + "-") && name.ends_with(".dist-info") &&
        fs::exists(entry.path() / "RECORD"))
      return entry.path() / "RECORD";
  }
  return {};
}

void record_overlay(const fs::path& site_packages, const std::string& distribution,
                    const Contents& laid_over, const std::vector<std::string>& removed) {
  const fs::path file = find_record(site_packages, distribution);
  if (file.empty()) return;
  Record record = parse_record(read_file(file).value_or(""));
  for (const auto& [path, content] : laid_over) record[path] = {content.sha256, content.bytes};
  for (const std::string& path : removed) record.erase(path);
  write_durably(file, record_text(record));
}

void verify(const Record& record, const Contents& contents, bool laid_over) {
  for (const auto& [path, entry] : record) {
    if (entry.sha256.empty() && entry.bytes < 0) continue;  // RECORD itself
    if (path.find(".data/") != std::string::npos) continue;
    const auto found = contents.find(path);
    if (found == contents.end()) throw BrokenArchive("RECORD lists " + path + ", which is missing");
    if (laid_over && (path.ends_with(".py") || path.find(".dist-info/") != std::string::npos))
      continue;
    if ((!entry.sha256.empty() && found->second.sha256 != entry.sha256) ||
        (entry.bytes >= 0 && found->second.bytes != entry.bytes))
      throw BrokenArchive(path + " differs from what RECORD says");
  }
}

void verify_installed(const fs::path& site_packages, const std::string& distribution,
                      bool laid_over) {
  const fs::path file = find_record(site_packages, distribution);
  if (file.empty()) throw BrokenArchive("there is no RECORD of " + distribution);
  const Record record = parse_record(read_file(file).value_or(""));
  Contents contents;
  std::error_code error;
  for (const auto& [path, entry] : record) {
    const fs::path installed = site_packages / safe_path(path);
    if (entry.sha256.empty() && entry.bytes < 0) continue;  // RECORD itself
    if (!fs::is_regular_file(installed, error)) continue;
    contents[path] = {digest_of_file(installed).str(),
                      static_cast<std::int64_t>(fs::file_size(installed))};
  }
  verify(record, contents, laid_over);
}

}  // namespace nightjar::runner
