// Machine classes by their facts, as runners present them and as imported histories name them.
// Internal to the API.
#pragma once

#include <map>
#include <string>

#include "storage/model/machine.hpp"

namespace nightjar::service::api {

MachineClass machine_of(const std::map<std::string, std::string>& facts);

}  // namespace nightjar::service::api
