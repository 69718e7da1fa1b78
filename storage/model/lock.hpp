// The packages that a build is installed with, by version and hash; and, where those of two builds
// differ, whether a change is theirs or the source's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"

namespace nightjar {

struct LockedPackage {
  std::string name;  // as indexes spell it: "typing-extensions"
  std::string version;
  bool operator==(const LockedPackage&) const = default;
};

struct Lock {
  Sha256 sha256;     // of the text
  std::string text;  // a requirements file: each package with its version and its hashes
  std::vector<LockedPackage> packages;  // by name
};

// What made a build worse than another. unknown: it was measured, and could not be told.
NIGHTJAR_ENUM(Cause, source, environment, both, unknown);

// The parts of a change with their 95 % intervals, as ratios: source * environment is all of it.
struct Part {
  double ratio = 1, low = 1, high = 1;
};
struct Attribution {
  Cause cause = Cause::unknown;
  Part source, environment;
  // The bad wheel with the good one's packages; nullopt: it does not run.
  std::optional<BuildId> held = {};
};

}  // namespace nightjar
