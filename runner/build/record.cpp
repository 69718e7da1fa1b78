#include "runner/build/record.hpp"

#include <cctype>

#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

// PEP 427 has "_" in file names for what PEP 503 calls "-".
std::string folded_name(std::string name) {
  for (char& c : name)
    c = c == '-' || c == '.' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace

Record read_record(const fs::path& file) {
  const auto text = read_file(file, most_record);
  if (!text)
    throw BrokenArchive("RECORD cannot be read, or has more than " + std::to_string(most_record) +
                        " bytes");
  try {
    return parse_record(*text);
  } catch (const MalformedRecord& malformed) {
    throw BrokenArchive(malformed.what());
  }
}

fs::path find_record(const fs::path& site_packages, const std::string& distribution) {
  const std::string folded = folded_name(distribution);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(site_packages, error)) {
    const std::string name = entry.path().filename().string();
    // The first '-' begins the version: a name has none there.
    if (folded_name(name.substr(0, name.find('-'))) == folded && name.ends_with(".dist-info") &&
        fs::exists(entry.path() / "RECORD"))
      return entry.path() / "RECORD";
  }
  return {};
}

void record_overlay(const fs::path& site_packages, const std::string& distribution,
                    const Contents& laid_over, const std::vector<std::string>& removed) {
  const fs::path file = find_record(site_packages, distribution);
  if (file.empty()) return;
  Record record = read_record(file);
  for (const auto& [path, content] : laid_over) record[path] = {content.sha256, content.bytes};
  for (const std::string& path : removed) record.erase(path);
  write_durably(file, record_text(record));
}

void verify(Record record, const Contents& contents, bool laid_over) {
  std::erase_if(record, [](const auto& line) {
    return line.first.find(".data/") != std::string::npos || is_byte_code(line.first);
  });
  if (const auto misfit = record_misfit(record, contents, laid_over)) throw BrokenArchive(*misfit);
}

void verify_installed(const fs::path& site_packages, const std::string& distribution,
                      bool laid_over) {
  const fs::path file = find_record(site_packages, distribution);
  if (file.empty()) throw BrokenArchive("there is no RECORD of " + distribution);
  const Record record = read_record(file);
  Contents contents;
  std::error_code error;
  for (const auto& [path, entry] : record) {
    const fs::path installed = site_packages / safe_path(path);
    if (!fs::is_regular_file(installed, error)) continue;
    contents[path] = {digest_of_file(installed).str(),
                      static_cast<std::int64_t>(fs::file_size(installed))};
  }
  verify(record, contents, laid_over);
}

}  // namespace nightjar::runner
