// Catch2 3 under Catch2 2's name, for systems that have the newer one only (Debian 13,
// Ubuntu 24.04). May go when Debian 12, which has Catch2 2, is no longer supported.
#pragma once

#include <string>

#include <catch2/catch_all.hpp>

namespace Catch {
using Matchers::StartsWith;
inline auto Contains(const std::string& part) {
  return Matchers::ContainsSubstring(part);
}
}  // namespace Catch

using Catch::Approx;
