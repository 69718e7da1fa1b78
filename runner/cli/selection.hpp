// Finds the workloads that the options of a command mean, by their catalog, suite and globs.
#pragma once

#include <string>
#include <vector>

#include "runner/catalog/suite.hpp"
#include "runner/cli/commands.hpp"
#include "runner/run/measure.hpp"

namespace nightjar::runner {

// `names` may spell out variants that are not listed. Throws WrongUse for a folder or file that is
// not what its option wants.
std::vector<CatalogEntry> catalog_of(const Options& options, const std::vector<std::string>& names);

// Returns the suite of that file in the suites folder, else all workloads whose name begins so. It
// is empty without --suite. Throws WrongUse.
Suite suite_of(const Options& options, const std::vector<CatalogEntry>& catalog);

// Returns the workloads that the globs and the suite select, in the order of measuring; all if
// there are neither. --device moves them to that device. Throws WrongUse if there are none.
std::vector<ChosenWorkload> chosen_by(const Options& options, const Suite& suite,
                                      const std::vector<CatalogEntry>& listed);

// Returns the Python that runs workloads. Throws WrongUse if --python names none.
std::filesystem::path python_of(const Options& options);

}  // namespace nightjar::runner
