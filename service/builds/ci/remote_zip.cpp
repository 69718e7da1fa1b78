#include "service/builds/ci/remote_zip.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>

#include "service/builds/ci/inflater.hpp"
#include "service/builds/ci/trouble.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/fd.hpp"
#include "web/retry_after.hpp"

namespace nightjar::service::ci {

namespace {

// Whether the same range may be asked for again at once.
bool broke_off(const web::RangeFailure& failure) {
  return failure.kind == web::RangeFailure::Kind::no_answer;
}

[[noreturn]] void raise(const web::RangeFailure& failure) {
  using enum web::RangeFailure::Kind;
  if (failure.kind == ignored) throw Unusable(failure.what);
  if (failure.status == 404 || failure.status == 410 || failure.status == 412)
    throw Gone(failure.what);
  throw Unanswered(failure.what, web::retry_after(failure.headers));
}

// A file that is written once, from its beginning to its end.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path)
      : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) {
    if (!file_) fail("create");
  }
  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto count = ::write(file_.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("write to");
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

 private:
  [[noreturn]] void fail(const char* attempt) const {
    throw std::runtime_error(std::string("cannot ") + attempt + " " + path_.string() + ": " +
                             std::strerror(errno));
  }
  std::filesystem::path path_;
  Fd file_;
};

}  // namespace

RemoteZip::RemoteZip(web::Client& client, RemoteObject object, ZipLimits limits)
    : client_(client), object_(std::move(object)), limits_(limits) {}

// What `take` throws comes out of here, not through libcurl.
template <class Take>
void RemoteZip::stream(std::uint64_t offset, std::uint64_t size, Take take) {
  std::exception_ptr thrown;
  const auto guarded = [&](std::string_view block) {
    bytes_read_ += block.size();
    offset += block.size();
    size -= block.size();
    try {
      take(block);
    } catch (...) {
      thrown = std::current_exception();
    }
    return !thrown;
  };
  int resumes = 0, without_progress = 0;
  while (size > 0) {
    const std::uint64_t before = size;
    web::RangeRequest request{object_.url, {}, offset, size};
    if (!object_.etag.empty()) request.headers.emplace_back("If-Match", object_.etag);
    const auto failure = client_.read_range(request, guarded);
    if (thrown) std::rethrow_exception(thrown);
    if (!failure) return;
    if (!broke_off(*failure)) raise(*failure);
    without_progress = size == before ? without_progress + 1 : 0;
    if (without_progress > 1 || ++resumes > limits_.resumes) raise(*failure);
  }
}

std::string RemoteZip::read(std::uint64_t offset, std::uint64_t size) {
  std::string bytes;
  stream(offset, size, [&](std::string_view block) { bytes += block; });
  return bytes;
}

std::vector<ZipMember> RemoteZip::members(bool (*wanted)(std::string_view name)) {
  const std::uint64_t tail_bytes = std::min(object_.size_bytes, zip_end_bytes);
  if (tail_bytes == 0) throw Unusable("it is no whole zip archive: it is empty");
  const std::uint64_t tail_at = object_.size_bytes - tail_bytes;
  const std::string tail = read(tail_at, tail_bytes);
  const ZipDirectory directory = find_directory(tail, object_.size_bytes);
  if (directory.bytes > limits_.directory_bytes)
    throw Unusable("its directory has " + std::to_string(directory.bytes) +
                   " bytes, more than the " + std::to_string(limits_.directory_bytes) +
                   " that are allowed");
  std::string bytes;
  if (directory.at >= tail_at)
    bytes = tail.substr(directory.at - tail_at, directory.bytes);
  else
    bytes = read(directory.at, directory.bytes);
  directory_at_ = directory.at;
  return read_directory(bytes, directory, wanted);
}

Sha256 RemoteZip::fetch(const ZipMember& member, const std::filesystem::path& to) {
  if (member.bytes > limits_.member_bytes)
    throw Unusable("its member " + member.name + " declares " + std::to_string(member.bytes) +
                   " bytes, more than the " + std::to_string(limits_.member_bytes) +
                   " that are allowed");
  const std::string header = read(member.header_at, local_header_bytes + member.name.size());
  const std::uint64_t data_at = member.header_at + data_offset(header, member);
  if (data_at > directory_at_ || member.packed_bytes > directory_at_ - data_at)
    throw Unusable("it is no whole zip archive: its member " + member.name +
                   " reaches into the directory");
  NewFile file(to);
  Digest digest;
  Inflater inflater(member, [&](std::string_view block) {
    file.write(block);
    digest.add(block);
  });
  stream(data_at, member.packed_bytes, [&](std::string_view block) { inflater.add(block); });
  inflater.finish();
  return digest.hex();
}

}  // namespace nightjar::service::ci
