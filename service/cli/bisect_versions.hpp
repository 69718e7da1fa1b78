// `nightjar bisect versions`: which release of a package did it? The same search as over commits;
// its positions are the releases that an index of packages has.
#pragma once

#include <stop_token>

#include "service/cli/bisect_run.hpp"
#include "service/cli/uv.hpp"

namespace nightjar::cli {

// `options.package` is set; its repository, paths and build are not used. Returns and throws as
// bisect_run().
int bisect_versions(const BisectOptions& options, const UvOptions& uv, std::stop_token stop);

}  // namespace nightjar::cli
