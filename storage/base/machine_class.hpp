// A machine's class from its facts: what a runner keys its own files by, and what the service files
// the runner under.
#pragma once

#include <map>
#include <string>

#include "storage/model/machine.hpp"

namespace nightjar {

// Makes a class without an id. Its fingerprint is that of the facts that define the class.
MachineClass machine_class(std::map<std::string, std::string> facts);

}  // namespace nightjar
