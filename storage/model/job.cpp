#include "storage/model/job.hpp"

namespace nightjar {

std::string EnvironmentSpec::key() const {
  return wheel_sha256.str() + (overlay ? "-" + overlay->sha256.str() : "") +
         (lock ? "-" + lock->sha256.str() : "");
}

}  // namespace nightjar
