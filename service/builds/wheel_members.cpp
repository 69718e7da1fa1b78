#include "service/builds/wheel_members.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <memory>
#include <stdexcept>

namespace nightjar::service {
namespace {

using Zip = std::unique_ptr<archive, int (*)(archive*)>;

Zip open_zip(const std::filesystem::path& wheel, int& status) {
  Zip zip(archive_read_new(), archive_read_free);
  archive_read_support_format_zip_seekable(zip.get());
  status = archive_read_open_filename(zip.get(), wheel.c_str(), 1 << 16);
  return zip;
}

// A warning is of a name that this locale cannot spell; its member is read all the same.
bool next_member(archive* zip, archive_entry*& entry, int& status) {
  status = archive_read_next_header(zip, &entry);
  return status == ARCHIVE_OK || status == ARCHIVE_WARN;
}

}  // namespace

std::vector<WheelMember> members_of(const std::filesystem::path& wheel) {
  int status = ARCHIVE_OK;
  const Zip zip = open_zip(wheel, status);
  std::vector<WheelMember> members;
  archive_entry* entry = nullptr;
  while (status == ARCHIVE_OK && next_member(zip.get(), entry, status)) {
    status = ARCHIVE_OK;
    const char* name = archive_entry_pathname(entry);
    if (name && archive_entry_filetype(entry) == AE_IFREG)
      members.push_back({name, archive_entry_size(entry)});
  }
  if (status != ARCHIVE_EOF)
    throw std::runtime_error("cannot read the members of " + wheel.string());
  return members;
}

ReadFromStart member_of(const std::filesystem::path& wheel, std::string member) {
  return [wheel, member](const std::function<bool(std::string_view)>& take) {
    int status = ARCHIVE_OK;
    const Zip zip = open_zip(wheel, status);
    archive_entry* entry = nullptr;
    while (status == ARCHIVE_OK && next_member(zip.get(), entry, status)) {
      status = ARCHIVE_OK;
      const char* name = archive_entry_pathname(entry);
      if (!name || member != name) continue;
      std::vector<char> block(1 << 18);
      for (;;) {
        const la_ssize_t size = archive_read_data(zip.get(), block.data(), block.size());
        if (size <= 0 || !take({block.data(), static_cast<std::size_t>(size)})) return;
      }
    }
  };
}

}  // namespace nightjar::service
