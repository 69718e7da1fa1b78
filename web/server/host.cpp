#include "web/server/host.hpp"

#include <boost/asio/ip/address_v4.hpp>
#include <stdexcept>
#include <string_view>

#include "web/text.hpp"

namespace nightjar::web {
namespace asio = boost::asio;
namespace {

bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}

// The registry of a country may give its bare name an address, as some do: "ai". Registries of
// other names are forbidden to. A country's name has two letters, or is in another script.
bool may_be_country(std::string_view label) {
  return (label.size() == 2 && is_small(label[0]) && is_small(label[1])) ||
         label.starts_with("xn--");
}

}  // namespace

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
  if (!error || names_.contains(host)) return true;
  if (host.find('.') == std::string::npos) return !may_be_country(host);
  for (const char* suffix : {".localhost", ".local", ".internal", ".home.arpa"})
    if (host.ends_with(suffix)) return true;
  return false;
}

}  // namespace nightjar::web
