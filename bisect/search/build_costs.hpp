// What a build takes, learned from builds of the past. Used by the service to fill
// SearchLog::costs.
#pragma once

#include <span>

#include "storage/model/enum.hpp"

namespace nightjar::bisect {

// Where a build comes from, as far as its time depends on it. fetch: a wheel is downloaded.
// source_cold: compiled in an empty directory. source_warm: compiled in a builder's warm directory.
// overlay: files are laid over an installed wheel.
NIGHTJAR_ENUM(BuildPlace, fetch, source_cold, source_warm, overlay);

struct PastBuild {
  BuildPlace place = BuildPlace::fetch;
  double seconds = 0;
};

struct BuildSeconds {
  double fetch = 0, source_cold = 0, source_warm = 0, overlay = 0;

  double of(BuildPlace place) const;
};

// Expected seconds for each place. Method: the median of the logs of the newest 20 builds, drawn
// towards a prior that counts as two builds. The prior of source builds is scaled by what builds of
// the other temperature show about the machine. Assumes that times scatter as log-normals do.
// Refused: the mean, which one stalled download would decide. Prior: PyTorch's builds take 90 min
// cold and 15 min warm, a CPU wheel downloads in a minute. `past` holds successful builds only, the
// oldest first; throws std::invalid_argument for a time that is not positive and finite.
BuildSeconds expected_build_seconds(std::span<const PastBuild> past);

}  // namespace nightjar::bisect
