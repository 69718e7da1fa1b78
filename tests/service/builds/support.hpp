// Folders that go away and wheels small enough to be made in a test.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "storage/base/digest.hpp"

namespace nightjar::test {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "nightjar-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::filesystem::path write_file(const std::filesystem::path& path,
                                        const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

using Members = std::vector<std::pair<std::string, std::string>>;  // name, content; order is kept

inline void write_zip(const std::filesystem::path& to, const Members& members) {
  const std::unique_ptr<archive, int (*)(archive*)> zip(archive_write_new(), archive_write_free);
  archive_write_set_format_zip(zip.get());
  if (archive_write_open_filename(zip.get(), to.c_str()) != ARCHIVE_OK)
    throw std::runtime_error(archive_error_string(zip.get()));
  for (const auto& [name, content] : members) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    archive_write_header(zip.get(), entry.get());
    archive_write_data(zip.get(), content.data(), content.size());
  }
  archive_write_close(zip.get());
}

// RECORD's text of these members, which lie in a wheel with this folder of its own.
inline std::string record_of(const Members& members, const std::string& info) {
  std::string text;
  for (const auto& [name, content] : members)
    text += name + ",sha256=" + base64url_of_hex(digest_of(content).str()) + "," +
            std::to_string(content.size()) + "\n";
  return text + info + "/RECORD,,\n";
}

// As write_zip(), with a RECORD that fits.
inline void write_wheel(const std::filesystem::path& to, Members members, const std::string& info) {
  members.emplace_back(info + "/RECORD", record_of(members, info));
  write_zip(to, members);
}

// A wheel whose parts agree with each other unless told otherwise.
struct WheelRecipe {
  std::string version = "2.15.0.dev20260820+cpu";
  std::string git_version;
  std::string metadata_version;  // empty: version
  std::string file_version;      // of torch/version.py; empty: version
  std::string cuda = "None";     // as it stands in torch/version.py

  std::string info() const { return "torch-" + version + ".dist-info"; }
  // All but RECORD.
  Members members() const {
    const std::string metadata = metadata_version.empty() ? version : metadata_version;
    const std::string in_file = file_version.empty() ? version : file_version;
    return {{"torch/__init__.py", "from .version import __version__\n"},
            {"torch/version.py",
             "from typing import Optional\n\n"
             "__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'xpu']\n"
             "__version__ = '" +
                 in_file + "'\ndebug = False\ncuda: Optional[str] = " + cuda + "\ngit_version = '" +
                 git_version +
                 "'\nhip: Optional[str] = None\n"
                 "xpu: Optional[str] = None\n"},
            {info() + "/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: " + metadata +
                                       "\nSummary: Tensors\n\nVersion: 0 (of the description)\n"},
            {info() + "/WHEEL",
             "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\n"
             "Tag: cp311-cp311-linux_x86_64\n"}};
  }
  std::string file_name() const { return "torch-" + version + "-cp311-cp311-linux_x86_64.whl"; }
  std::filesystem::path write(const std::filesystem::path& folder) const {
    write_wheel(folder / file_name(), members(), info());
    return folder / file_name();
  }
};

}  // namespace nightjar::test
