#include "service/cli/gzip.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <stdexcept>
#include <zlib.h>

namespace nightjar::cli {
namespace {

class Inflation {
 public:
  Inflation() {
    constexpr int kWindowOfGzip = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kWindowOfGzip) != Z_OK)
      throw std::runtime_error("cannot start zlib");
  }
  ~Inflation() { inflateEnd(&stream_); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
  z_stream* operator->() { return &stream_; }
  z_stream* get() { return &stream_; }

 private:
  z_stream stream_{};
};

}  // namespace

bool is_gzip(std::string_view text) {
  return text.starts_with("\x1f\x8b");
}

std::filesystem::path without_gz(const std::filesystem::path& path) {
  return path.extension() == ".gz" ? path.parent_path() / path.stem() : path;
}

std::string from_gzip(const std::string& text, std::size_t most) {
  Inflation inflation;
  std::string out;
  std::array<char, 1 << 16> part{};
  std::size_t given = 0;
  // A file may hold several members, one after the other.
  while (true) {
    if (inflation->avail_in == 0 && given < text.size()) {
      const std::size_t size = std::min<std::size_t>(text.size() - given, INT_MAX);
      inflation->next_in =
          reinterpret_cast<Bytef*>(const_cast<char*>(text.data() + given));  // zlib only reads it
      inflation->avail_in = static_cast<uInt>(size);
      given += size;
    }
    inflation->next_out = reinterpret_cast<Bytef*>(part.data());
    inflation->avail_out = static_cast<uInt>(part.size());
    const int result = inflate(inflation.get(), Z_NO_FLUSH);
    out.append(part.data(), part.size() - inflation->avail_out);
    if (out.size() > most) throw std::invalid_argument("unpacked, it is too large");
    if (result == Z_STREAM_END) {
      if (inflation->avail_in == 0 && given == text.size()) return out;
      inflateReset(inflation.get());
    } else if (result != Z_OK) {
      throw std::invalid_argument("it is no whole gzip file");
    }
  }
}

}  // namespace nightjar::cli
