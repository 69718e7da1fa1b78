#include "service/builds/ci/inflater.hpp"

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <zlib.h>

#include "service/builds/ci/trouble.hpp"

namespace nightjar::service::ci {

struct Inflater::Impl {
  Impl(const ZipMember& given, std::function<void(std::string_view)> to)
      : member(given), write(std::move(to)) {
    if (member.method == ZipMethod::deflated && inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      throw std::runtime_error("cannot start zlib");  // negative: no zlib header
  }
  ~Impl() {
    if (member.method == ZipMethod::deflated) inflateEnd(&stream);
  }

  void take(std::string_view unpacked) {
    if (unpacked.size() > member.bytes - bytes)
      throw Unusable("its member " + member.name + " unpacks to more than the " +
                     std::to_string(member.bytes) + " bytes that it declares");
    bytes += unpacked.size();
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(unpacked.data()), unpacked.size());
    write(unpacked);
  }

  void inflate_all(std::string_view packed) {
    char block[1 << 16];
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    do {
      if (ended) throw Unusable("its member " + member.name + " goes on behind its end");
      stream.next_out = reinterpret_cast<Bytef*>(block);
      stream.avail_out = sizeof block;
      const int status = inflate(&stream, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        throw Unusable("its member " + member.name + " cannot be unpacked: " +
                       (stream.msg ? stream.msg : "error " + std::to_string(status)));
      ended = status == Z_STREAM_END;
      take({block, sizeof block - stream.avail_out});
    } while (stream.avail_in > 0 || (!ended && stream.avail_out == 0));
  }

  ZipMember member;
  std::function<void(std::string_view)> write;
  z_stream stream{};
  std::uint64_t bytes = 0;
  uLong crc = 0;
  bool ended = false;
};

Inflater::Inflater(const ZipMember& member, std::function<void(std::string_view)> write)
    : impl_(std::make_unique<Impl>(member, std::move(write))) {}
Inflater::~Inflater() = default;

void Inflater::add(std::string_view packed) {
  if (impl_->member.method == ZipMethod::stored) return impl_->take(packed);
  while (!packed.empty()) {
    const auto piece = packed.substr(0, std::numeric_limits<uInt>::max());
    impl_->inflate_all(piece);
    packed.remove_prefix(piece.size());
  }
}

void Inflater::finish() const {
  const ZipMember& member = impl_->member;
  if (impl_->bytes != member.bytes || (member.method == ZipMethod::deflated && !impl_->ended))
    throw Unusable("its member " + member.name + " unpacks to " + std::to_string(impl_->bytes) +
                   " bytes, not the " + std::to_string(member.bytes) + " that it declares");
  if (impl_->crc != member.crc32)
    throw Unusable("its member " + member.name + " has another CRC-32 than its directory says");
}

}  // namespace nightjar::service::ci
