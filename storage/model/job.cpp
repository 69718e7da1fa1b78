#include "storage/model/job.hpp"

namespace nightjar {

std::string EnvironmentSpec::key() const {
  return overlay ? wheel_sha256.str() + "-" + overlay->sha256.str() : wheel_sha256.str();
}

}  // namespace nightjar
