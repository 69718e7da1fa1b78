#include "service/api/machine_class.hpp"

#include "web/secret.hpp"

namespace nightjar::service::api {

MachineClass machine_of(const std::map<std::string, std::string>& facts) {
  return {{}, web::sha256(class_text(facts)), facts};
}

}  // namespace nightjar::service::api
