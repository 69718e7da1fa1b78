// Which hosts a request may lead to. A server decides where its links and redirects point, but must
// not turn this process against its own machine or network. Used by the client.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/model/address.hpp"

struct sockaddr;

namespace nightjar::web {

// True for an address of the public internet. False for loopback, link-local (clouds have their
// metadata there), private use, shared, multicast and reserved ones, also if IPv6 wraps an IPv4
// address, and for what is no IP address.
bool is_public(const sockaddr& address);

// Public addresses, and the origins of the URLs that are vouched for, wherever they are.
class Reach {
 public:
  explicit Reach(const std::vector<std::string>& vouched);
  bool vouches_for(std::string_view url) const;

 private:
  std::vector<Origin> vouched_;
};

// Whether this is where a proxy of the environment's variables listens.
bool is_proxy(const sockaddr& address);
// Keeps the logins of these proxies out of what others say.
void keep_proxy_logins();

}  // namespace nightjar::web
