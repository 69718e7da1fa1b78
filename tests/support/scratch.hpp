// A folder of a test's own, and small archives to put in it.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdlib.h>
#include <string>
#include <vector>

namespace nightjar::runner {

class Scratch {
 public:
  Scratch() {
    char name[] = "/tmp/nightjar-test-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

inline void spit(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

struct Member {
  std::string name, text;
  std::string link = {};  // not empty: a symbolic link there
};

inline void write_archive(const std::filesystem::path& path, bool zip,
                          const std::vector<Member>& members) {
  archive* out = archive_write_new();
  if (zip)
    archive_write_set_format_zip(out);
  else
    archive_write_set_format_pax_restricted(out);
  archive_write_open_filename(out, path.c_str());
  for (const Member& member : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, member.name.c_str());
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_filetype(entry, member.link.empty() ? AE_IFREG : AE_IFLNK);
    if (!member.link.empty()) archive_entry_set_symlink(entry, member.link.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(member.text.size()));
    archive_write_header(out, entry);
    archive_write_data(out, member.text.data(), member.text.size());
    archive_entry_free(entry);
  }
  archive_write_close(out);
  archive_write_free(out);
}

}  // namespace nightjar::runner
