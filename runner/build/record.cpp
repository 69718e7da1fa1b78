#include "runner/build/record.hpp"

#include <cstdlib>
#include <vector>

#include "storage/base/digest.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

// The fields of one CSV line; a quoted field holds commas, and quotes written twice.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      fields.back().push_back(line[++i]);
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else
      fields.back().push_back(c);
  }
  return fields;
}

}  // namespace

Record parse_record(std::string_view text) {
  Record record;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const auto fields = fields_of(line);
    if (fields.size() != 3)
      throw BrokenArchive("RECORD has the malformed line '" + std::string(line.substr(0, 120)) +
                          "'");
    RecordEntry entry;
    if (fields[1].starts_with("sha256=")) entry.sha256 = hex_from_base64url(fields[1].substr(7));
    if (!fields[2].empty()) entry.bytes = std::strtoll(fields[2].c_str(), nullptr, 10);
    record[fields[0]] = std::move(entry);
  }
  return record;
}

fs::path find_torch_record(const fs::path& site_packages) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(site_packages, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("torch-") && name.ends_with(".dist-info") &&
        fs::exists(entry.path() / "RECORD"))
      return entry.path() / "RECORD";
  }
  return {};
}

void verify(const Record& record, const Contents& contents) {
  for (const auto& [path, entry] : record) {
    if (entry.sha256.empty() && entry.bytes < 0) continue;  // RECORD itself
    if (path.find(".data/") != std::string::npos) continue;
    const auto found = contents.find(path);
    if (found == contents.end()) throw BrokenArchive("RECORD lists " + path + ", which is missing");
    if ((!entry.sha256.empty() && found->second.sha256 != entry.sha256) ||
        (entry.bytes >= 0 && found->second.bytes != entry.bytes))
      throw BrokenArchive(path + " differs from what RECORD says");
  }
}

}  // namespace nightjar::runner
