// GitHub's double (server.py), started on first use.
#pragma once

#include "tests/support/python_double.hpp"

namespace nightjar::tests {

class GithubDouble : public PythonDouble {
 public:
  static constexpr const char* token = "token-for-tests";
  static constexpr const char* repository = "owner/name";

  // The one of this program.
  static GithubDouble& instance() {
    static GithubDouble one;
    return one;
  }

 private:
  GithubDouble()
      : PythonDouble("github/server.py", {"--token", token, "--repository", repository}) {}
};

}  // namespace nightjar::tests
