// One member out of a zip archive on a server, without fetching the archive: CI puts a wheel into
// an artifacts.zip that is many times larger. Reads the end record, the directory and the member by
// range requests only. Used by CiRung.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "service/builds/ci/zip_format.hpp"
#include "storage/model/hex.hpp"
#include "web/client.hpp"

namespace nightjar::service::ci {

// An object as HEAD described it. Ranges are asked for with `If-Match: etag`, so that all of them
// are of the same content.
struct RemoteObject {
  std::string url;
  std::uint64_t size_bytes = 0;
  std::string etag;  // with its quotes; empty: the server names none, or a weak one
};

struct ZipLimits {
  std::uint64_t directory_bytes = 16u << 20;
  std::uint64_t member_bytes = 4ull << 30;  // unpacked, as declared; what is more is never written
  int resumes = 20;                         // of one member, after a transfer that broke off
};

// Every function throws Unanswered, Gone or Unusable (service/builds/ci/trouble.hpp).
class RemoteZip {
 public:
  // `client` must outlive this object.
  RemoteZip(web::Client& client, RemoteObject object, ZipLimits limits = {});

  // The members whose name `wanted` selects. Costs about 64 KiB where the directory is that small.
  std::vector<ZipMember> members(bool (*wanted)(std::string_view name));
  // Unpacks a member into `to`, which must not exist, and returns its SHA-256. A transfer that
  // breaks off is continued where it stood. Size and CRC-32 are checked; more than the declared
  // size is never written. If it throws, `to` may be there in part. Throws std::runtime_error too,
  // if the disk fails.
  Sha256 fetch(const ZipMember& member, const std::filesystem::path& to);
  // What all of it has cost so far, in bytes of answers' bodies.
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  std::string read(std::uint64_t offset, std::uint64_t size);
  template <class Take>
  void stream(std::uint64_t offset, std::uint64_t size, Take take);

  web::Client& client_;
  RemoteObject object_;
  ZipLimits limits_;
  std::uint64_t directory_at_ = 0;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace nightjar::service::ci
