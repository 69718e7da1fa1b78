#include "service/gzip.hpp"

#include <stdexcept>
#include <zlib.h>

namespace nightjar::service {

std::string gzip(const std::string& text) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16, memory = 8;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, gzip_window, memory, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw std::runtime_error("cannot compress: zlib refused");
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (!whole) throw std::runtime_error("cannot compress: zlib stopped early");
  return packed;
}

}  // namespace nightjar::service
