// Where the tests' own files are. Test programs and benches lie in build/bin/ of their checkout.
#pragma once

#include <filesystem>

namespace nightjar::test {

inline std::filesystem::path source_tree() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path().parent_path();
}

}  // namespace nightjar::test
