// The token by which a CI job or a pod shows who it is: a JWT that its issuer signed for this
// service alone. Used by the command `agent` in place of a one-time token.
#pragma once

#include <string>

namespace nightjar::runner {

// `from`: "github" asks GitHub Actions, whose job needs `permissions: id-token: write`; else it is
// a file that holds the token, as Kubernetes projects one into a pod. `audience`: whom the token is
// for; a file's is fixed already. Throws std::runtime_error with what to do.
std::string job_token(const std::string& from, const std::string& audience);

}  // namespace nightjar::runner
