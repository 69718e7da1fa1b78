// `nightjar summary`: what suites came to, by the dashboard's definitions; two machine classes side
// by side.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nightjar::cli {

struct SummaryOptions {
  std::vector<std::filesystem::path> files,
      beside;                    // beside: of another machine class, the same suites
  std::string format = "table";  // or "markdown", "json"
};

// Prints the tables and returns 0. Throws BadInput that names a file, or that nothing is on both
// sides.
int summary(const SummaryOptions& options);

}  // namespace nightjar::cli
