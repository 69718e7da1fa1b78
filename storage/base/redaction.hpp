// Keeps a login at another host out of what is said about it. Used where a program passes on what
// that host says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nightjar {

// Knows a login, and finds its secrets again where the other side repeats them: the password, and
// what HTTP's Basic authentication sends. By default it knows no login.
class Redaction {
 public:
  Redaction() = default;
  Redaction(const std::string& user, const std::string& password);
  // Makes one that knows the login in an address, also in the form in which it is written there.
  static Redaction of_url(std::string_view url);
  // Puts "***" in place of each secret, and leaves users and passwords out of all URLs.
  std::string operator()(std::string_view text) const;

 private:
  void add(std::string secret);

  std::vector<std::string> secrets_;
};

}  // namespace nightjar
