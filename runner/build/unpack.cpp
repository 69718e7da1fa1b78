#include "runner/build/unpack.hpp"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "runner/process/cpu_quota.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/fd.hpp"
#include "storage/base/utf8_names.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {
// A CUDA wheel unpacks to 5 GB in 15,000 files; what is far beyond is an attack or a mistake.
constexpr std::int64_t max_bytes = 40LL << 30;
constexpr std::size_t max_names = 64u << 20;  // bytes of the members' names

struct CloseArchive {
  void operator()(archive* handle) const { archive_read_free(handle); }
};
using Archive = std::unique_ptr<archive, CloseArchive>;

[[noreturn]] void broken(const fs::path& path, const std::string& why) {
  throw BrokenArchive(path.filename().string() + ": " + why);
}

[[noreturn]] void too_much(const fs::path& path) {
  broken(path, "it unpacks to too much");
}

// libarchive does not give a reason for everything that it refuses.
[[noreturn]] void broken(const fs::path& path, archive* from) {
  const char* reason = archive_error_string(from);
  broken(path, std::string(reason ? reason : "a part of it is not understood"));
}

// A warning is about attributes that nobody needs here; damaged content fails when it is read.
bool is_member(int status) {
  return status == ARCHIVE_OK || status == ARCHIVE_WARN;
}

std::string member_name(archive_entry* entry, const fs::path& path) {
  const char* name = archive_entry_pathname_utf8(entry);
  if (!name) name = archive_entry_pathname(entry);
  if (!name) broken(path, "a member has no readable name");
  return name;
}

// `unpacked`: bytes of all members so far, those of other threads included.
FileContent write_member(archive* from, const fs::path& to, mode_t mode, const fs::path& path,
                         std::atomic<std::int64_t>& unpacked) {
  const Fd out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!out && errno == EEXIST) broken(path, to.filename().string() + " comes twice");
  if (!out) throw std::system_error(errno, std::generic_category(), "cannot write " + to.string());
  FileContent content;
  Digest digest;
  const void* data = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  int status;
  while ((status = archive_read_data_block(from, &data, &size, &offset)) == ARCHIVE_OK) {
    if (offset != content.bytes) broken(path, "sparse members are not accepted");
    content.bytes += static_cast<std::int64_t>(size);
    if ((unpacked += static_cast<std::int64_t>(size)) > max_bytes) too_much(path);
    digest.add({static_cast<const char*>(data), size});
    for (auto at = static_cast<const char*>(data); size > 0;) {
      const auto put = ::write(out.get(), at, size);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0)
        throw std::system_error(errno, std::generic_category(), "cannot write " + to.string());
      at += put;
      size -= static_cast<std::size_t>(put);
    }
  }
  if (status != ARCHIVE_EOF) broken(path, from);
  content.sha256 = digest.hex().str();
  return content;
}

Archive open_archive(const fs::path& path) {
  Archive from(archive_read_new());
  archive_read_support_format_zip(from.get());
  archive_read_support_format_tar(from.get());
  archive_read_support_format_empty(from.get());  // a commit may only remove files
  archive_read_support_filter_gzip(from.get());
  if (archive_read_open_filename(from.get(), path.c_str(), 1 << 18) != ARCHIVE_OK)
    broken(path, from.get());
  return from;
}

// `place` says where a member goes, empty: nowhere; `clear` makes room for it. Only members that
// are `mine` are unpacked, by their number in the archive. Byte code never is: ours is shared
// between builds, and Python believes any that fits a source's size and time.
Contents unpack(const fs::path& path, const fs::path& to,
                const std::function<std::string(const std::string&)>& place,
                const std::function<void(const fs::path&)>& clear,
                const std::function<bool(std::size_t)>& mine, std::atomic<std::int64_t>& unpacked) {
  const Utf8Names names;
  const Archive from = open_archive(path);
  Contents contents;
  archive_entry* entry = nullptr;
  int status;
  for (std::size_t number = 0; is_member(status = archive_read_next_header(from.get(), &entry));
       ++number) {
    if (!mine(number)) continue;
    const std::string name = safe_path(member_name(entry, path));
    if (archive_entry_filetype(entry) == AE_IFDIR) continue;
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry))
      broken(path, name + " is no regular file");
    const std::string placed = place(name);
    if (placed.empty() || is_byte_code(placed)) continue;
    const fs::path target = to / placed;
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    if (error == std::errc::not_a_directory || error == std::errc::file_exists)
      broken(path, name + " lies below a file");
    if (error) throw fs::filesystem_error("cannot make folder", target.parent_path(), error);
    clear(target);
    const mode_t mode = (archive_entry_perm(entry) & 0111) != 0 ? 0755 : 0644;
    contents[placed] = write_member(from.get(), target, mode, path, unpacked);
    if (contents.size() > most_files) too_much(path);
  }
  if (status != ARCHIVE_EOF) broken(path, from.get());
  return contents;
}

// "torch-2.data/purelib/x" goes to "x"; scripts, headers and data of a wheel are not needed.
std::string place_of_wheel_member(const std::string& name) {
  const auto first = name.find('/');
  if (first == std::string::npos || !name.substr(0, first).ends_with(".data")) return name;
  const auto second = name.find('/', first + 1);
  if (second == std::string::npos) return {};
  const std::string scheme = name.substr(first + 1, second - first - 1);
  return scheme == "purelib" || scheme == "platlib" ? name.substr(second + 1) : std::string();
}

// Bytes of a member that another one of the same place replaces: it is not unpacked.
constexpr std::int64_t replaced = -1;

// Unpacked bytes of each member, as the archive states them, which may be wrong.
std::vector<std::int64_t> sizes_of(const fs::path& path) {
  const Utf8Names names;
  const Archive from = open_archive(path);
  std::vector<std::int64_t> sizes;
  std::map<std::string, std::size_t> places;  // number of the member that is there
  std::size_t names_bytes = 0;
  archive_entry* entry = nullptr;
  while (is_member(archive_read_next_header(from.get(), &entry))) {
    const std::string place = place_of_wheel_member(safe_path(member_name(entry, path)));
    const auto [there, is_new] = places.emplace(place, sizes.size());
    if (!is_new) sizes[std::exchange(there->second, sizes.size())] = replaced;
    sizes.push_back(std::clamp<std::int64_t>(archive_entry_size(entry), 0, max_bytes));
    names_bytes += place.size();
    if (sizes.size() > most_files || names_bytes > max_names) too_much(path);
  }
  return sizes;
}

// A small wheel is done before a second thread is up.
std::size_t threads_for(const std::vector<std::int64_t>& sizes) {
  constexpr std::int64_t small_bytes = 16 << 20;
  const auto bytes = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  return bytes < small_bytes ? 1 : static_cast<std::size_t>(std::min(usable_cpus(), 8));
}

// Which of `threads` unpacks each member: the largest first, each to whoever has the least to do.
std::vector<std::size_t> shares_of(const std::vector<std::int64_t>& sizes, std::size_t threads) {
  constexpr std::int64_t of_a_file = 32 << 10;  // what making one takes, in bytes to unpack
  std::vector<std::size_t> order(sizes.size()), shares(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t number) { return sizes[number]; });
  std::vector<std::int64_t> load(threads);
  for (const std::size_t number : order) {
    const auto least = std::ranges::min_element(load);
    *least += sizes[number] + of_a_file;
    shares[number] = static_cast<std::size_t>(least - load.begin());
  }
  return shares;
}

// Whether a folder has nothing but what Python compiled, as one whose sources were removed has.
bool has_byte_code_only(const fs::path& folder) {
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory() && entry.path().extension() != ".pyc") return false;
  return true;
}

// A changed source may have the size and time of the old one; its old byte code would still be
// taken.
void unlink_with_byte_code(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(file, error))) {
    if (!has_byte_code_only(file))
      throw BrokenArchive("the overlay replaces the folder " + file.string());
    fs::remove_all(file, error);
  } else {
    fs::remove(file, error);
  }
  if (error) throw fs::filesystem_error("cannot unlink", file, error);
  if (file.extension() != ".py") return;
  const std::string stem = file.stem().string() + ".";
  std::vector<fs::path> stale;
  for (const auto& entry : fs::directory_iterator(file.parent_path() / "__pycache__", error))
    if (entry.path().filename().string().starts_with(stem)) stale.push_back(entry.path());
  for (const auto& path : stale) fs::remove(path);
}

}  // namespace

bool is_byte_code(const std::string& path) {
  return ("/" + path).find("/__pycache__/") != std::string::npos;
}

std::string safe_path(const std::string& path) {
  const fs::path parsed(path);
  bool inside = !path.empty() && !parsed.is_absolute() && path.find('\\') == std::string::npos;
  for (const auto& part : parsed)
    if (part == "..") inside = false;
  if (!inside) throw BrokenArchive("the path '" + path + "' leads out of the archive");
  return parsed.lexically_normal().generic_string();
}

Contents unpack_wheel(const fs::path& wheel, const fs::path& to) {
  const std::vector<std::int64_t> sizes = sizes_of(wheel);
  const std::size_t threads = threads_for(sizes);
  const std::vector<std::size_t> shares = shares_of(sizes, threads);
  std::atomic<std::int64_t> unpacked = 0;
  std::vector<std::future<Contents>> parts;
  for (std::size_t thread = 0; thread < threads; ++thread)
    parts.push_back(std::async(std::launch::async, [&, thread] {
      const auto mine = [&](std::size_t number) {
        if (number >= shares.size()) return thread == 0;
        return shares[number] == thread && sizes[number] != replaced;
      };
      return unpack(wheel, to, place_of_wheel_member, [](const fs::path&) {}, mine, unpacked);
    }));
  Contents contents;
  for (auto& part : parts) contents.merge(part.get());
  if (contents.empty()) broken(wheel, "it holds no file");
  if (contents.size() > most_files) too_much(wheel);
  return contents;
}

Contents lay_over(const fs::path& tar, const std::set<std::string>& removed,
                  const fs::path& site_packages) {
  const auto same = [](const std::string& name) { return name; };
  const auto all = [](std::size_t) { return true; };
  std::atomic<std::int64_t> unpacked = 0;
  // First: a file may take the place of a folder that is removed, and the other way.
  for (const auto& path : removed) unlink_with_byte_code(site_packages / safe_path(path));
  return unpack(tar, site_packages, same, unlink_with_byte_code, all, unpacked);
}

}  // namespace nightjar::runner
