#include "runner/build/gpu_packages.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "runner/build/record.hpp"
#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

// The value of "Name: " in the head of a METADATA, in small letters.
std::string package_name(std::string_view metadata) {
  constexpr std::string_view field = "name: ";
  while (!metadata.empty() && metadata.front() != '\n') {
    const auto end = std::min(metadata.find('\n'), metadata.size());
    std::string line(metadata.substr(0, end));
    metadata.remove_prefix(std::min(end + 1, metadata.size()));
    std::ranges::transform(line, line.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (line.starts_with(field)) return line.substr(field.size());
  }
  return {};
}

// "libcublas.so.12"
bool is_library(const std::string& file) {
  return file.starts_with("lib") && (file.ends_with(".so") || file.find(".so.") != file.npos);
}

// Empty if it is no regular file, or a larger one.
std::string small_text(const fs::path& file, std::size_t most) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error))) return "";
  return read_file(file, most).value_or("");
}

// The folders of the libraries that a package lists. A RECORD that cannot be read lists none.
std::set<fs::path> listed_folders(const fs::path& site_packages, const fs::path& dist_info) {
  std::set<fs::path> folders;
  try {
    for (const auto& [path, entry] : parse_record(small_text(dist_info / "RECORD", most_record)))
      if (is_library(fs::path(path).filename()))
        folders.insert((site_packages / path).parent_path());
  } catch (const MalformedRecord&) {
    return {};
  }
  return folders;
}

class Folders {
 public:
  explicit Folders(const fs::path& site_packages) : root_(fs::canonical(site_packages)) {}

  void add(const fs::path& folder) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    const bool inside =
        std::mismatch(root_.begin(), root_.end(), real.begin(), real.end()).first == root_.end();
    if (error || !inside || !fs::is_directory(real, error)) return;
    if (std::ranges::find(found_, folder) == found_.end()) found_.push_back(folder);
  }
  std::vector<fs::path> found() && { return std::move(found_); }

 private:
  const fs::path root_;
  std::vector<fs::path> found_;
};

std::set<fs::path> entries_of(const fs::path& folder) {
  std::set<fs::path> entries;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) entries.insert(entry.path());
  return entries;
}

}  // namespace

std::vector<fs::path> libraries_of_packages(const fs::path& site_packages) {
  std::error_code error;
  if (!fs::is_directory(site_packages, error)) return {};
  Folders folders(site_packages);
  for (const fs::path& package : entries_of(site_packages / "nvidia")) folders.add(package / "lib");
  for (const fs::path& entry : entries_of(site_packages))
    if (entry.extension() == ".dist-info" &&
        package_name(small_text(entry / "METADATA", most_metadata)).starts_with("nvidia-"))
      for (const fs::path& folder : listed_folders(site_packages, entry)) folders.add(folder);
  return std::move(folders).found();
}

}  // namespace nightjar::runner
