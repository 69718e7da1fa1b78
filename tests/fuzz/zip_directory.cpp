// A zip archive as the service reads one that lies on a server.
#include "service/builds/ci/inflater.hpp"
#include "service/builds/ci/trouble.hpp"
#include "service/builds/ci/zip_format.hpp"
#include "tests/fuzz/targets.hpp"

namespace nightjar::fuzz {
namespace ci = service::ci;
namespace {

constexpr std::size_t members_tried = 4;          // all may share the same bytes
constexpr std::uint64_t member_bytes = 16 << 20;  // a larger one is refused before it is fetched

void unpack(std::string_view archive, const ci::ZipMember& member) {
  const std::string_view local = archive.substr(member.header_at);
  const std::uint64_t data_at = ci::data_offset(local, member);
  if (data_at > local.size() || member.packed_bytes > local.size() - data_at) return;
  std::uint64_t unpacked = 0;
  ci::Inflater inflater(member, [&](std::string_view block) { unpacked += block.size(); });
  const std::string_view packed = local.substr(data_at, member.packed_bytes);
  inflater.add(packed.substr(0, packed.size() / 2));
  inflater.add(packed.substr(packed.size() / 2));
  require(unpacked <= member.bytes, "a member unpacks to more than it declares");
  inflater.finish();
  require(unpacked == member.bytes, "a member unpacks to less than it declares");
}

}  // namespace

void zip_directory(std::string_view input) {
  const std::string_view tail =
      input.substr(input.size() - std::min<std::size_t>(input.size(), ci::zip_end_bytes));
  try {
    const auto directory = ci::find_directory(tail, input.size());
    require(directory.at <= input.size() && directory.bytes <= input.size() - directory.at,
            "a directory lies outside of its archive");
    const auto members = ci::read_directory(input.substr(directory.at, directory.bytes), directory,
                                            [](std::string_view) { return true; });
    require(members.size() <= directory.members, "there are more members than declared");
    for (std::size_t i = 0; i < std::min(members.size(), members_tried); ++i)
      if (members[i].bytes <= member_bytes) unpack(input, members[i]);
  } catch (const ci::Unusable&) {
  }
}

}  // namespace nightjar::fuzz
