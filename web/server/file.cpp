#include "web/server/file.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace nightjar::web {

std::optional<OpenFile> OpenFile::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  OpenFile file(descriptor, 0);
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  file.left_ = file.size_;
  return file;
}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      offset_(other.offset_),
      left_(other.left_) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  size_ = other.size_;
  offset_ = other.offset_;
  left_ = other.left_;
  return *this;
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OpenFile::select(std::uint64_t offset, std::uint64_t length) {
  offset_ = offset;
  left_ = length;
}

void OpenFile::read(std::string& chunk, std::size_t limit) {
  chunk.resize(static_cast<std::size_t>(std::min<std::uint64_t>(limit, left_)));
  const auto count = ::pread(descriptor_, chunk.data(), chunk.size(), static_cast<off_t>(offset_));
  chunk.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  offset_ += chunk.size();
  left_ -= chunk.size();
}

}  // namespace nightjar::web
