// Enrolment: one-time tokens, runners' own tokens, their replacement and their end. Internal to the
// API.
#pragma once

#include "service/api/routes.hpp"
#include "service/api/tokens.hpp"

namespace nightjar::service::api {

void add_enrolment_routes(Routes& routes, Tokens& tokens);

// Refused (403) if the sender's token is bound to another runner, or if `runner` has tokens of its
// own and the sender's is not one of them.
void require_own_name(const storage::Database& db, const web::Principal& sender,
                      const std::string& runner, Time now);
// Refused (403) if the runner has the label of builders and the sender's token may not build.
void require_may_build(const web::Principal& sender, const Runner& runner);
// Refused (403) if the sender's token is not of this machine class: one of the configuration by its
// machine_classes, an enrolled runner's by the class that it registered with first, or that its
// enrolment named. Binds an enrolled runner that has no class yet.
void require_own_class(storage::Transaction& transaction, const Context& context,
                       const web::Principal& sender, const MachineClass& machine);

}  // namespace nightjar::service::api
