// Under which names a service may be asked. A page of a stranger can have its own name resolve to
// an address of ours (DNS rebinding): its reader's browser would then read for it what only the
// reader can reach. Internal to web.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace nightjar::web {

class HostNames {
 public:
  HostNames() = default;
  // Throws std::invalid_argument that quotes what is no name.
  explicit HostNames(const std::vector<std::string>& names);
  // `host` is what web::host_in() gives. Addresses pass, and names that nobody can own in the
  // public DNS: of one label that is no country's, or below localhost, local, internal or
  // home.arpa.
  bool allow(const std::string& host) const;

 private:
  std::set<std::string> names_;
};

}  // namespace nightjar::web
