#include "service/builds/overlay_archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "storage/base/utf8_names.hpp"

namespace nightjar::service {

namespace {

[[noreturn]] void fail(const std::string& attempt, const std::filesystem::path& path,
                       archive* tar) {
  const char* error = archive_error_string(tar);
  throw std::runtime_error("cannot " + attempt + " the overlay " + path.string() + ": " +
                           (error ? error : "unknown error"));
}

void write_member(archive* tar, const std::filesystem::path& to, const std::string& name,
                  const std::string& content) {
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                       archive_entry_free);
  constexpr time_t year_1980 = 315532800;  // a time that every format can say
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  archive_entry_set_mtime(entry.get(), year_1980, 0);
  // A warning is about a name that is no UTF-8, which is written byte by byte.
  const int status = archive_write_header(tar, entry.get());
  if (status != ARCHIVE_OK && status != ARCHIVE_WARN) fail("write", to, tar);
  const la_ssize_t written = archive_write_data(tar, content.data(), content.size());
  if (written != static_cast<la_ssize_t>(content.size())) fail("write", to, tar);
}

}  // namespace

void write_overlay(const std::filesystem::path& to,
                   const std::vector<std::pair<std::string, std::string>>& files,
                   const std::vector<std::string>& removed) {
  const Utf8Names names;
  const std::unique_ptr<archive, int (*)(archive*)> tar(archive_write_new(), archive_write_free);
  archive_write_set_format_pax_restricted(tar.get());
  if (archive_write_open_filename(tar.get(), to.c_str()) != ARCHIVE_OK)
    fail("write", to, tar.get());
  std::string list;
  for (const std::string& path : removed) list += path + "\n";
  if (!list.empty()) write_member(tar.get(), to, removed_member, list);
  for (const auto& [path, content] : files) write_member(tar.get(), to, path, content);
  if (archive_write_close(tar.get()) != ARCHIVE_OK) fail("write", to, tar.get());
}

std::vector<std::string> removed_by(const std::filesystem::path& overlay) {
  const Utf8Names names;
  const std::unique_ptr<archive, int (*)(archive*)> tar(archive_read_new(), archive_read_free);
  archive_read_support_format_tar(tar.get());
  archive_read_support_format_empty(tar.get());
  if (archive_read_open_filename(tar.get(), overlay.c_str(), 1 << 16) != ARCHIVE_OK)
    fail("read", overlay, tar.get());
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(tar.get(), &entry);
  if (status == ARCHIVE_EOF) return {};
  if (status != ARCHIVE_OK && status != ARCHIVE_WARN) fail("read", overlay, tar.get());
  const char* name = archive_entry_pathname(entry);
  if (!name || std::string(name) != removed_member) return {};
  std::string text(static_cast<std::size_t>(archive_entry_size(entry)), '\0');
  if (archive_read_data(tar.get(), text.data(), text.size()) !=
      static_cast<la_ssize_t>(text.size()))
    fail("read", overlay, tar.get());
  std::vector<std::string> removed;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) removed.push_back(line);
  return removed;
}

}  // namespace nightjar::service
