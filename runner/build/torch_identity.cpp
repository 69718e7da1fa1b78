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

std::string mismatch(const ReadyTorch& loaded, const ExpectedTorch& expected) {
  const std::string& name = expected.module;
  if (!expected.below.empty() && loaded.path.empty())
    return "the workload does not say which " + name + " it loaded; \"ready\" has to name its " +
           (expected.is_torch() ? "version and path" : "path, under \"module\"");
  if (!expected.below.empty() && !is_below(loaded.path, expected.below))
    return name + " was loaded from '" + loaded.path + "' instead of " + expected.below.string();
  if (!expected.version.empty() && loaded.version != expected.version)
    return name + " says it is version '" + loaded.version + "' instead of " + expected.version;
  if (!expected.git_version.empty() && loaded.git_version != expected.git_version)
    return name + " says it is commit '" + loaded.git_version + "' instead of " +
           expected.git_version;
  return {};
}

}  // namespace nightjar::runner
