#include "service/builds/wheel_members.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "storage/base/digest.hpp"
#include "storage/base/utf8_names.hpp"

namespace nightjar::service {

namespace {

// RECORD has some 120 bytes for each file; what is far larger is an attack or a mistake.
constexpr std::int64_t most_text_bytes = 64 << 20;
constexpr std::int64_t most_bytes = 40LL << 30;
constexpr std::size_t most_members = 400000;

using Archive = std::unique_ptr<archive, int (*)(archive*)>;

// libarchive does not give a reason for everything that it refuses.
std::string reason_of(archive* zip) {
  const char* reason = archive_error_string(zip);
  return reason ? reason : "a part of it is not understood";
}

bool leaves_folder(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != std::string_view::npos) return true;
  for (;;) {
    const auto slash = name.find('/');
    if (name.substr(0, slash) == "..") return true;
    if (slash == std::string_view::npos) return false;
    name.remove_prefix(slash + 1);
  }
}

std::string name_of_member(archive_entry* entry) {
  const char* name = archive_entry_pathname_utf8(entry);
  if (!name) name = archive_entry_pathname(entry);
  return name ? name : "";
}

// Hashes the member that was reached, and keeps its text if `text` is not null.
FileContent read_content(archive* zip, const std::string& name, std::string* text) {
  FileContent content;
  Digest digest;
  std::vector<char> block(1 << 18);
  for (;;) {
    const la_ssize_t size = archive_read_data(zip, block.data(), block.size());
    if (size < 0) throw BadWheel("its member " + name + " cannot be read: " + reason_of(zip));
    if (size == 0) break;
    const std::string_view part(block.data(), static_cast<std::size_t>(size));
    digest.add(part);
    content.bytes += size;
    if (text) text->append(part);
    if (content.bytes > (text ? most_text_bytes : most_bytes))
      throw BadWheel("its member " + name + " is far too large");
  }
  content.sha256 = digest.hex().str();
  return content;
}

void add_member(archive* zip, archive_entry* entry, const std::string& name,
                const std::function<bool(const std::string&)>& wants_text, WheelMembers& members) {
  std::string text;
  const bool wanted = wants_text(name);
  FileContent content = read_content(zip, name, wanted ? &text : nullptr);
  if (archive_entry_size_is_set(entry) && archive_entry_size(entry) != content.bytes)
    throw BadWheel("its member " + name + " is cut off");
  const auto [there, is_new] = members.files.emplace(name, content);
  if (!is_new && there->second.sha256 != content.sha256)
    throw BadWheel("its member '" + name + "' is there twice, with another content");
  if (wanted) members.texts[name] = std::move(text);
}

// No file can lie below another file.
void check_folders(const Contents& files) {
  for (const auto& [name, content] : files)
    for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
      if (files.contains(name.substr(0, slash)))
        throw BadWheel("its member '" + name + "' lies below a file");
}

}  // namespace

WheelMembers read_members(const std::filesystem::path& wheel,
                          const std::function<bool(const std::string&)>& wants_text,
                          Reading reading) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(wheel, error))
    throw std::runtime_error("cannot read the wheel " + wheel.string() + ": no such file");
  const Utf8Names names;
  const Archive zip(archive_read_new(), archive_read_free);
  // The seeking reader alone: it needs the directory at the end, which a file that was cut off
  // lacks.
  archive_read_support_format_zip_seekable(zip.get());
  if (archive_read_open_filename(zip.get(), wheel.c_str(), 1 << 16) != ARCHIVE_OK)
    throw BadWheel("it is no whole zip archive: " + reason_of(zip.get()));
  WheelMembers members;
  std::int64_t bytes = 0;
  archive_entry* entry = nullptr;
  int status = ARCHIVE_OK;
  // A warning is about attributes that nobody needs here; damaged content fails when it is read.
  while ((status = archive_read_next_header(zip.get(), &entry)) == ARCHIVE_OK ||
         status == ARCHIVE_WARN) {
    const std::string name = name_of_member(entry);
    if (leaves_folder(name)) throw BadWheel("its member '" + name + "' would leave the folder");
    const auto type = archive_entry_filetype(entry);
    if (type != AE_IFREG && type != AE_IFDIR)
      throw BadWheel("its member '" + name + "' is neither a file nor a folder");
    if (type == AE_IFDIR) continue;
    if (reading == Reading::wanted_texts && !wants_text(name)) {
      members.files[name];
      continue;
    }
    add_member(zip.get(), entry, name, wants_text, members);
    bytes += members.files.at(name).bytes;
    if (bytes > most_bytes || members.files.size() > most_members)
      throw BadWheel("it unpacks to too much");
  }
  if (status != ARCHIVE_EOF) throw BadWheel("it is no whole zip archive: " + reason_of(zip.get()));
  check_folders(members.files);
  return members;
}

}  // namespace nightjar::service
