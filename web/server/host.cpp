#include "web/server/host.hpp"

#include <boost/asio/ip/address_v4.hpp>
#include <stdexcept>

#include "web/text.hpp"

namespace nightjar::web {
namespace asio = boost::asio;
HostNames::HostNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    auto host = host_in(name);
    if (!host) throw std::invalid_argument("'" + name + "' is no host name");
    names_.insert(*std::move(host));
  }
}

bool HostNames::allow(const std::string& host) const {
  boost::system::error_code error;
  if (host.starts_with('[')) return true;
  asio::ip::make_address_v4(host, error);
  if (!error || host.find('.') == std::string::npos || names_.contains(host)) return true;
  for (const char* suffix : {".localhost", ".local", ".internal", ".home.arpa"})
    if (host.ends_with(suffix)) return true;
  return false;
}

}  // namespace nightjar::web
