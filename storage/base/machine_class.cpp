#include "storage/base/machine_class.hpp"

#include <utility>

#include "storage/base/digest.hpp"

namespace nightjar {

MachineClass machine_class(std::map<std::string, std::string> facts) {
  const Sha256 fingerprint = digest_of(class_text(facts));
  return {{}, fingerprint, std::move(facts)};
}

}  // namespace nightjar
