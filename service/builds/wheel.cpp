#include "service/builds/wheel.hpp"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <memory>
#include <set>

namespace nightjar::service {

namespace {

constexpr la_int64_t text_limit_bytes = 4 << 20;

std::string_view trim_field(std::string_view text) {
  constexpr std::string_view space = " \t\r";
  const auto first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

// Takes the next line off `text`.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

// The text between quotes, when that is all there is; escapes do not occur in versions.
std::optional<std::string> string_literal(std::string_view text) {
  if (text.size() < 2 || (text[0] != '\'' && text[0] != '"')) return std::nullopt;
  const std::string_view inside = text.substr(1, text.size() - 2);
  if (text.back() != text[0] || inside.find_first_of("'\"\\") != std::string_view::npos)
    return std::nullopt;
  return std::string(inside);
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

// Whether `name` is the file `file` of the wheel's .dist-info folder.
bool is_info(std::string_view name, std::string_view file) {
  const auto slash = name.find('/');
  return slash != std::string_view::npos && name.substr(slash + 1) == file &&
         name.substr(0, slash).ends_with(".dist-info");
}

using Archive = std::unique_ptr<archive, int (*)(archive*)>;

// libarchive does not give a reason for everything that it refuses.
std::string reason_of(archive* zip) {
  const char* reason = archive_error_string(zip);
  return reason ? reason : "a part of it is not understood";
}

std::string read_text(archive* zip, archive_entry* entry, const std::string& name) {
  std::string text;
  char block[1 << 14];
  for (;;) {
    const la_ssize_t size = archive_read_data(zip, block, sizeof block);
    if (size < 0) throw BadWheel("its member " + name + " cannot be read: " + reason_of(zip));
    if (size == 0) break;
    text.append(block, static_cast<std::size_t>(size));
    if (static_cast<la_int64_t>(text.size()) > text_limit_bytes)
      throw BadWheel("its member " + name + " is far too large");
  }
  if (archive_entry_size_is_set(entry) &&
      archive_entry_size(entry) != static_cast<la_int64_t>(text.size()))
    throw BadWheel("its member " + name + " is cut off");
  return text;
}

void read_requirement(std::string_view text, WheelFacts& facts) {
  const auto end = std::min(text.find_first_of(" ;<>=!~(["), text.size());
  std::string& requirement = facts.requirements[std::string(text.substr(0, end))];
  if (!requirement.empty()) requirement += ", ";  // the same package under another marker
  requirement += trim_field(text.substr(end));
}

void read_tags(std::string_view text, WheelFacts& facts) {
  while (!text.empty()) {
    const std::string_view line = trim_field(take_line(text));
    if (line.starts_with("Tag:")) facts.tags.emplace_back(trim_field(line.substr(4)));
  }
}

}  // namespace

void read_metadata(std::string_view text, WheelFacts& facts) {
  while (!text.empty()) {
    const std::string_view line = trim_field(take_line(text));
    if (line.empty()) return;  // the description follows
    if (line.starts_with("Name:")) facts.metadata_name = trim_field(line.substr(5));
    if (line.starts_with("Version:")) facts.metadata_version = trim_field(line.substr(8));
    if (!line.starts_with("Requires-Dist:")) continue;
    const std::string_view requirement = trim_field(line.substr(14));
    facts.requires_dist.emplace_back(requirement);
    read_requirement(requirement, facts);
  }
}

std::optional<VersionFile> parse_version_file(std::string_view text) {
  VersionFile file;
  bool has_version = false;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = trim_field(line.substr(0, line.find_first_of(":=")));
    const auto value = string_literal(trim_field(line.substr(equals + 1)));
    if (name == "__version__" && value) {
      file.version = *value;
      has_version = true;
    }
    if (name == "git_version") file.git_version = value;
    if (name == "cuda") file.cuda = value;
    if ((name == "hip" || name == "rocm") && value) file.hip = value;
    if (name == "xpu") file.xpu = value;
  }
  return has_version ? std::optional(file) : std::nullopt;
}

WheelFacts read_wheel(const std::filesystem::path& file, const std::string& wanted) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    throw std::runtime_error("cannot read the wheel " + file.string() + ": no such file");
  const Archive zip(archive_read_new(), archive_read_free);
  // The seeking reader alone: it needs the directory at the end, which a file that was cut off
  // lacks.
  archive_read_support_format_zip_seekable(zip.get());
  if (archive_read_open_filename(zip.get(), file.c_str(), 1 << 16) != ARCHIVE_OK)
    throw BadWheel("it is no whole zip archive: " + reason_of(zip.get()));
  WheelFacts facts;
  std::optional<VersionFile> version_file;
  std::set<std::string> seen;
  archive_entry* entry = nullptr;
  int status = ARCHIVE_OK;
  while ((status = archive_read_next_header(zip.get(), &entry)) == ARCHIVE_OK ||
         status == ARCHIVE_WARN) {
    const char* path = archive_entry_pathname(entry);
    const std::string name = path ? path : "";
    if (leaves_folder(name)) throw BadWheel("its member '" + name + "' would leave the folder");
    const auto type = archive_entry_filetype(entry);
    if (type != AE_IFREG && type != AE_IFDIR)
      throw BadWheel("its member '" + name + "' is neither a file nor a folder");
    if (!seen.insert(name).second) throw BadWheel("its member '" + name + "' is there twice");
    if (name == wanted) {
      version_file = parse_version_file(read_text(zip.get(), entry, name));
      if (!version_file) throw BadWheel("its " + wanted + " does not say __version__");
    } else if (is_info(name, "WHEEL")) {
      read_tags(read_text(zip.get(), entry, name), facts);
    } else if (is_info(name, "METADATA")) {
      if (!facts.metadata_version.empty()) throw BadWheel("it has two METADATA files");
      read_metadata(read_text(zip.get(), entry, name), facts);
    }
  }
  if (status != ARCHIVE_EOF) throw BadWheel("it is no whole zip archive: " + reason_of(zip.get()));
  if (!version_file && !wanted.empty()) throw BadWheel("it has no " + wanted);
  if (facts.metadata_version.empty()) throw BadWheel("it has no METADATA with a version");
  if (version_file) facts.version_file = *version_file;
  return facts;
}

}  // namespace nightjar::service
