#include "service/builds/wheel_members.hpp"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <fstream>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "storage/base/digest.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/utf8_names.hpp"

namespace nightjar::service {

namespace {

// A CUDA wheel unpacks to 5 GB; what is far larger is an attack or a mistake.
constexpr std::int64_t most_bytes = 40LL << 30;
constexpr std::size_t most_names = 64u << 20;  // bytes of the members' names

using Archive = std::unique_ptr<archive, int (*)(archive*)>;

// libarchive keeps the whole directory before it gives the first member, however many it lists, and
// wherever in the file it is found. So each entry's signature counts.
void check_directory(const std::filesystem::path& wheel) {
  constexpr std::string_view signature("PK\1\2");
  constexpr std::size_t overlap = 3;  // a signature may lie across two blocks
  std::ifstream in(wheel, std::ios::binary);
  std::vector<char> block(1 << 20);
  std::size_t kept = 0, found = 0;
  while (in) {
    in.read(block.data() + kept, static_cast<std::streamsize>(block.size() - kept));
    const std::string_view text(block.data(), kept + static_cast<std::size_t>(in.gcount()));
    for (auto at = text.find(signature); at != text.npos; at = text.find(signature, at + 4))
      if (++found > most_files)
        throw BadWheel("it has more than " + std::to_string(most_files) + " members");
    kept = std::min(text.size(), overlap);
    std::copy_n(text.end() - static_cast<std::ptrdiff_t>(kept), kept, block.begin());
  }
}

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

// Hashes the member that was reached, and keeps its text of at most `most_text` bytes if that is
// not 0.
FileContent read_content(archive* zip, const std::string& name, std::size_t most_text,
                         std::string& text, const std::stop_token& stop) {
  FileContent content;
  Digest digest;
  std::vector<char> block(1 << 18);
  for (;;) {
    if (stop.stop_requested()) throw std::runtime_error("stopped while the wheel was read");
    const la_ssize_t size = archive_read_data(zip, block.data(), block.size());
    if (size < 0)
      throw BadWheel("its member " + in_quotes(name) + " cannot be read: " + reason_of(zip));
    if (size == 0) break;
    const std::string_view part(block.data(), static_cast<std::size_t>(size));
    digest.add(part);
    content.bytes += size;
    if (content.bytes > (most_text > 0 ? static_cast<std::int64_t>(most_text) : most_bytes))
      throw BadWheel("its member " + in_quotes(name) + " has more than " +
                     std::to_string(most_text > 0 ? most_text : most_bytes) + " bytes");
    if (most_text > 0) text.append(part);
  }
  content.sha256 = digest.hex().str();
  return content;
}

void add_member(archive* zip, archive_entry* entry, const std::string& name, std::size_t most_text,
                WheelMembers& members, const std::stop_token& stop) {
  std::string text;
  // It grows to its size at once: a text that doubles is there twice while it does.
  if (most_text > 0 && archive_entry_size_is_set(entry))
    text.reserve(std::min(most_text, static_cast<std::size_t>(archive_entry_size(entry))));
  FileContent content = read_content(zip, name, most_text, text, stop);
  if (archive_entry_size_is_set(entry) && archive_entry_size(entry) != content.bytes)
    throw BadWheel("its member " + in_quotes(name) + " is cut off");
  const auto [there, is_new] = members.files.emplace(name, content);
  if (!is_new && there->second.sha256 != content.sha256)
    throw BadWheel("its member " + in_quotes(name) + " is there twice, with another content");
  if (most_text > 0) members.texts[name] = std::move(text);
}

// No file can lie below another file.
void check_folders(const Contents& files) {
  for (const auto& [name, content] : files)
    for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
      if (files.contains(name.substr(0, slash)))
        throw BadWheel("its member " + in_quotes(name) + " lies below a file");
}

}  // namespace

WheelMembers read_members(const std::filesystem::path& wheel, const TextLimit& most_text,
                          Reading reading, const std::stop_token& stop) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(wheel, error))
    throw std::runtime_error("cannot read the wheel " + wheel.string() + ": no such file");
  if (reading == Reading::whole) check_directory(wheel);
  const Utf8Names names;
  const Archive zip(archive_read_new(), archive_read_free);
  // The seeking reader alone: it needs the directory at the end, which a file that was cut off
  // lacks.
  archive_read_support_format_zip_seekable(zip.get());
  if (archive_read_open_filename(zip.get(), wheel.c_str(), 1 << 16) != ARCHIVE_OK)
    throw BadWheel("it is no whole zip archive: " + reason_of(zip.get()));
  WheelMembers members;
  std::int64_t bytes = 0;
  std::size_t names_bytes = 0;
  archive_entry* entry = nullptr;
  int status = ARCHIVE_OK;
  // A warning is about attributes that nobody needs here; damaged content fails when it is read.
  while ((status = archive_read_next_header(zip.get(), &entry)) == ARCHIVE_OK ||
         status == ARCHIVE_WARN) {
    const std::string name = name_of_member(entry);
    if (leaves_folder(name))
      throw BadWheel("its member " + in_quotes(name) + " would leave the folder");
    const auto type = archive_entry_filetype(entry);
    if (type != AE_IFREG && type != AE_IFDIR)
      throw BadWheel("its member " + in_quotes(name) + " is neither a file nor a folder");
    if (type == AE_IFDIR) continue;
    const std::size_t most = most_text(name);
    if (reading == Reading::whole || most > 0)
      add_member(zip.get(), entry, name, most, members, stop);
    else
      members.files[name];
    bytes += members.files.at(name).bytes;
    names_bytes += name.size();
    if (bytes > most_bytes || names_bytes > most_names || members.files.size() > most_files)
      throw BadWheel("it unpacks to too much");
  }
  if (status != ARCHIVE_EOF) throw BadWheel("it is no whole zip archive: " + reason_of(zip.get()));
  check_folders(members.files);
  return members;
}

}  // namespace nightjar::service
