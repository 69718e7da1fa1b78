// The target of a request, and the same bytes as a Range header.
#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/written_request.hpp"
#include "web/text.hpp"

namespace nightjar::fuzz {

void query_string(std::string_view input) {
  const auto decoded = web::percent_decode(input);
  if (decoded)
    require(web::percent_decode(percent_encode(*decoded)) == decoded,
            "an escaped text changes when it is written");
  const auto range = web::parse_range(input, 1000);
  if (const auto* bytes = std::get_if<web::ByteRange>(&range))
    require(bytes->first <= bytes->last && bytes->last < 1000, "a range leaves the file");
  const auto target = web::parse_target(input);
  if (!target) return;
  std::string path;
  for (const auto& segment : target->segments) path += "/" + segment;
  require(path == target->path, "a path is not that of its segments");
  require((target->path + input.front()).find('\0') == std::string::npos, "a path has a zero byte");
  const auto again = web::parse_target(written_target(*target));
  require(again && again->segments == target->segments && again->query == target->query,
          "a target changes when it is written");
}

}  // namespace nightjar::fuzz
