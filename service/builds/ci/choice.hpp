// Which archives of a commit's runs may hold its wheel, and which member of one is it. Pure; used
// by CiRung.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "service/builds/ci/github_runs.hpp"
#include "service/builds/ci/listing_xml.hpp"
#include "service/builds/ci/zip_format.hpp"
#include "storage/model/hex.hpp"

namespace nightjar::service::ci {

// An artifacts.zip that a build environment has made.
struct Candidate {
  std::int64_t run = 0;
  std::string environment;  // "linux-jammy-py3.11-gcc11"
  std::string key;          // "pytorch/pytorch/<run>/<environment>/artifacts.zip"
};

// "pytorch/pytorch/<run>/", below which the bucket has what a run made.
std::string prefix_of(std::string_view repository, std::int64_t run);
// Returns the candidates of one run whose environment matches a glob: those of the first glob come
// first, then by name.
std::vector<Candidate> candidates(std::string_view repository, std::int64_t run,
                                  std::span<const ListedObject> listed,
                                  std::span<const std::string> globs);

// The wheels' names in an archive: "dist/torch-….whl".
bool is_wheel(std::string_view member_name);

struct WantedWheel {
  std::string package = "torch";
  std::string python_tag;  // "cp311"
  CommitSha commit;        // the head of the run
};
struct MemberChoice {
  std::optional<ZipMember> member;
  std::string reason;  // why there is none, naming what there is
};
// The member that is the package's wheel for this Python on Linux x86-64, and whose version names
// the commit ("2.15.0a0+git1234567").
MemberChoice choose_member(std::span<const ZipMember> wheels, const WantedWheel& wanted);

}  // namespace nightjar::service::ci
