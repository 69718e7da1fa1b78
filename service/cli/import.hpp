// `nightjar import`: hands the results of other benchmarks to the service, as nights that are done.
#pragma once

#include <filesystem>
#include <string>

#include "service/cli/metric_direction.hpp"

namespace nightjar::cli {

struct ImportOptions {
  std::string format = "auto";
  std::filesystem::path path;  // a file, or a folder with all that is below it
  std::string to;              // the service's address
  std::filesystem::path token_file;
  std::string machine_class;  // empty: as the files say
  ChosenDirections directions;
  bool dry_run = false;  // says what there is, and asks no service
  bool json = false;
};

// Returns 0 if all that could be read is stored, however often it was sent before. Files that
// cannot be read are named on standard error. Throws BadInput if there is nothing to import or the
// service refuses it, Broken if the service is away.
int import_history(const ImportOptions& options);

}  // namespace nightjar::cli
