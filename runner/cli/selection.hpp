// Which workloads the options of a command mean: the catalog that they open, their suite, their
// globs.
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

// A file of the suites folder, else all workloads whose name begins so; without --suite none.
// Throws WrongUse.
Suite suite_of(const Options& options, const std::vector<CatalogEntry>& catalog);

// What the globs and the suite come to, of neither all; on --device, if that is given. In the order
// of measuring. Throws WrongUse if that is nothing.
std::vector<ChosenWorkload> chosen_by(const Options& options, const Suite& suite,
                                      const std::vector<CatalogEntry>& listed);

// The Python that runs workloads. Throws WrongUse if --python names none.
std::filesystem::path python_of(const Options& options);

}  // namespace nightjar::runner
