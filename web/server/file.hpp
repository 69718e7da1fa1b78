// A file on its way to a client, a part of it at a time. Blocking: used on the server's file pool.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace nightjar::web {

class OpenFile {
 public:
  // nullopt if it is not a regular file that can be read.
  static std::optional<OpenFile> open(const std::filesystem::path& path);
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  std::uint64_t size() const { return size_; }
  // What is read from now on.
  void select(std::uint64_t offset, std::uint64_t length);
  std::uint64_t left() const { return left_; }
  // The next bytes, at most `limit`, into `chunk`; empty at the end or when the file became
  // shorter.
  void read(std::string& chunk, std::size_t limit);

 private:
  OpenFile(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}
  int descriptor_ = -1;
  std::uint64_t size_ = 0, offset_ = 0, left_ = 0;
};

}  // namespace nightjar::web
