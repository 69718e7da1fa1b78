#include "service/api/machine_class.hpp"

#include "web/secret.hpp"

namespace nightjar::service::api {

MachineClass machine_of(const std::map<std::string, std::string>& facts) {
  std::string text;
  for (const auto& [name, value] : facts) text += name + "=" + value + "\n";
  return {{}, web::sha256(text), facts};
}

}  // namespace nightjar::service::api
