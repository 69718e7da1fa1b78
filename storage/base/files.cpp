#include "storage/base/files.hpp"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

#include "storage/base/fd.hpp"

namespace nightjar {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

// The folder that `path` lies in; a bare name lies in this one.
fs::path folder_with(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void write_all(const Fd& out, const fs::path& path, std::string_view text) {
  if (!out) fail("cannot write", path);
  while (!text.empty()) {
    const auto put = ::write(out.get(), text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("cannot write", path);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

bool may(const fs::path& path, int what) {
  return ::faccessat(AT_FDCWD, path.c_str(), what, AT_EACCESS) == 0;
}

// "<pid>.<start time>": a process id that is used again has another start time.
std::string process_mark(const std::string& pid) {
  const std::string stat = read_line("/proc/" + pid + "/stat");
  auto at = stat.rfind(')');
  if (at == std::string::npos) return {};
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string::npos) return {};
  return pid + "." + stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
}

}  // namespace

std::optional<std::string> read_file(const fs::path& path, std::size_t most) {
  const Fd in(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in) return std::nullopt;
  std::string text;
  char buffer[16384];
  while (text.size() <= most) {
    const auto got = ::read(in.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return std::nullopt;
}

std::string read_line(const fs::path& path) {
  const Fd in(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char buffer[4096];
  const auto got = in ? ::read(in.get(), buffer, sizeof buffer) : 0;
  const std::string_view text(buffer, got > 0 ? static_cast<std::size_t>(got) : 0);
  return std::string(text.substr(0, text.find('\n')));
}

void sync(const fs::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) fail("cannot sync", path);
}

void sync_file_system(const fs::path& folder) {
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  if (!fd || ::syncfs(fd.get()) != 0) fail("cannot sync the file system of", folder);
}

void move_durably(const fs::path& from, const fs::path& to) {
  sync(from);
  if (::rename(from.c_str(), to.c_str()) != 0) fail("cannot rename to", to);
  sync(folder_with(to));
}

void write_durably(const fs::path& path, std::string_view text, mode_t mode) {
  fs::path beside = path;
  beside += ".part";
  write_all(Fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)), beside,
            text);
  move_durably(beside, path);
}

std::optional<std::int64_t> free_bytes(const fs::path& folder) {
  std::error_code error;
  const auto space = fs::space(folder, error);
  return error ? std::nullopt : std::optional(static_cast<std::int64_t>(space.available));
}

bool close_to_others(const fs::path& path) {
  std::error_code error;
  const auto mode = fs::status(path, error).permissions();
  if (error || (mode & fs::perms::others_all) == fs::perms::none) return true;
  fs::permissions(path, fs::perms::others_all, fs::perm_options::remove, error);
  return !error;
}

std::string output_problem(const fs::path& path) {
  const std::string attempt = "cannot write " + path.string() + ": ";
  std::error_code error;
  const fs::file_status there = fs::status(path, error);
  if (fs::is_directory(there)) return attempt + "it is a folder; name a file";
  if (!path.has_filename()) return attempt + "it names no file";
  if (fs::exists(there) && !may(path, W_OK))
    return attempt + "the file is there and may not be written";
  if (fs::exists(there) && !fs::is_regular_file(there)) return {};
  const fs::path folder = folder_with(fs::weakly_canonical(path, error));
  if (!fs::exists(folder, error))
    return attempt + "there is no folder " + folder.string() + "; make it first";
  if (!fs::is_directory(folder, error)) return attempt + folder.string() + " is no folder";
  if (!may(folder, W_OK | X_OK)) return attempt + "nothing may be written in " + folder.string();
  return {};
}

void write_output(const fs::path& path, std::string_view text) {
  std::error_code error;
  const fs::file_status there = fs::status(path, error);
  if (!fs::exists(there) || fs::is_regular_file(there))
    return write_durably(fs::weakly_canonical(path), text);
  write_all(Fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC)), path, text);
}

TemporaryFolder::TemporaryFolder(const fs::path& root) {
  static std::atomic<unsigned> number{0};
  path_ = root / (process_mark(std::to_string(::getpid())) + "-" + std::to_string(number++));
  fs::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void TemporaryFolder::remove_leftovers(const fs::path& root) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    const std::string name = entry.path().filename().string();
    const std::string owner = name.substr(0, name.find('-'));
    if (owner.empty() || process_mark(owner.substr(0, owner.find('.'))) != owner)
      fs::remove_all(entry.path(), error);
  }
}

}  // namespace nightjar
