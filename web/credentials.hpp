// User names and passwords for other hosts, as a .netrc file has them. They are kept apart from
// addresses, so that no address that is logged, stored or published tells a secret.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/address.hpp"

namespace nightjar::web {

struct Login {
  std::string user, password;
};
// "Basic ...", as a header Authorization has it.
std::string basic_authorization(const Login& login);

class Credentials {
 public:
  // Reads entries "machine HOST login USER password PASSWORD", HOST also with ":PORT". Throws
  // std::runtime_error with file and line, never with what stands there: it cannot be read, or has
  // another entry.
  static Credentials read(const std::filesystem::path& file);
  static Credentials parse(std::string_view text, const std::string& name);

  const Login* find(const Origin& origin) const;

 private:
  friend void set_credentials(Credentials credentials);
  struct Entry {
    std::string machine;  // as origins have it, or with ":PORT"
    Login login;
  };
  std::vector<Entry> entries_;
};

// Sets the logins for all clients of this process, and keeps them out of what others say. Call it
// before the first of them sends. A login is sent to its host over TLS, and without TLS only if a
// caller vouches for the URL's origin.
void set_credentials(Credentials credentials);
const Credentials& credentials();

}  // namespace nightjar::web
