// The packages that a wheel requires, resolved once for each wheel: what a user who installs it
// tonight gets. Every runner that measures the wheel installs exactly these. Resolving waits for
// the network, so it is never done on the writer's thread.
#pragma once

#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "service/builds/requirement.hpp"
#include "service/config.hpp"
#include "storage/model/build.hpp"
#include "storage/model/lock_text.hpp"

namespace nightjar::service {

// No choice of versions satisfies the wheel; trying again will not help until an index changes.
struct Unresolvable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `requirements`: those of the wheel's METADATA; those of its extras do not count. `needs`: for
// which Python and platform. Throws Unresolvable; or std::runtime_error if an index cannot be
// asked, refuses to answer, or uv is missing.
//
// uv sees only what web::IndexMirror shows it, wheels alone, with a home and a cache of its own
// that are gone afterwards.
Lock resolve(const std::vector<Requirement>& requirements, const BuildNeeds& needs,
             const Config::Environment& config, std::stop_token stop = {});

// The versions of a package that can be installed and lie between two, from `good` to `bad`,
// neither of them included, whichever is the later one. At most 64. Throws as resolve() does, and
// Unresolvable for an invalid name or version.
std::vector<std::string> versions_between(const std::string& name, const std::string& good,
                                          const std::string& bad, const BuildNeeds& needs,
                                          const Config::Environment& config,
                                          std::stop_token stop = {});

// Its SHA-256 is that of its text.
Lock lock_of(const LockText& content);

// Packages that differ, by name; an empty version: not there.
struct PackageChange {
  std::string name, before, after;
};
std::vector<PackageChange> changes_between(const Lock& before, const Lock& after);

}  // namespace nightjar::service
