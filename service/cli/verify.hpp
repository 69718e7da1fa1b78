// `nightjar verify`: judges an evidence bundle again.
#pragma once

#include <filesystem>

namespace nightjar::cli {

struct VerifyOptions {
  std::filesystem::path bundle;  // "-": standard input
  bool json = false;
};

// Prints what is accused and a line a check; returns 0 if all agree, 1 if not. Throws BadInput for
// what is no bundle, or one without a verdict.
int verify(const VerifyOptions& options);

}  // namespace nightjar::cli
