// Text compressed as gzip has it. Used for answers of the API and for exported records.
#pragma once

#include <string>

namespace nightjar::service {

// At the fastest level. Throws std::runtime_error if zlib has no memory.
std::string gzip(const std::string& text);

}  // namespace nightjar::service
