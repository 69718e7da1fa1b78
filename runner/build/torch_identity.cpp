#include "runner/build/torch_identity.hpp"

#include <system_error>

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

bool is_below(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const std::string inner = fs::weakly_canonical(path, error).string();
  const std::string outer = fs::weakly_canonical(folder, error).string() + "/";
  return inner.starts_with(outer);
}

}  // namespace

std::string mismatch(const ReadyTorch& torch, const ExpectedTorch& expected) {
  if (!expected.below.empty() && torch.path.empty())
    return "the workload does not say which torch it loaded; \"ready\" has to name its version and "
           "path";
  if (!expected.below.empty() && !is_below(torch.path, expected.below))
    return "torch was loaded from '" + torch.path + "' instead of " + expected.below.string();
  if (!expected.version.empty() && torch.version != expected.version)
    return "torch says it is version '" + torch.version + "' instead of " + expected.version;
  if (!expected.git_version.empty() && torch.git_version != expected.git_version)
    return "torch says it is commit '" + torch.git_version + "' instead of " + expected.git_version;
  return {};
}

}  // namespace nightjar::runner
