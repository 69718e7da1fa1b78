#include "web/reach.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "storage/base/redaction.hpp"

namespace nightjar::web {
namespace {

struct Network {
  std::uint32_t address;
  int bits;
};

// RFC 6890 and its registry, in the order of their numbers.
constexpr std::array<Network, 15> special_ipv4{{{0x00000000, 8},    // this network
                                                {0x0A000000, 8},    // private use
                                                {0x64400000, 10},   // shared
                                                {0x7F000000, 8},    // loopback
                                                {0xA9FE0000, 16},   // link-local
                                                {0xAC100000, 12},   // private use
                                                {0xC0000000, 24},   // protocol assignments
                                                {0xC0000200, 24},   // documentation
                                                {0xC0586300, 24},   // 6to4 relays
                                                {0xC0A80000, 16},   // private use
                                                {0xC6120000, 15},   // benchmarks
                                                {0xC6336400, 24},   // documentation
                                                {0xCB007100, 24},   // documentation
                                                {0xE0000000, 4},    // multicast
                                                {0xF0000000, 4}}};  // reserved, broadcast

bool is_public_ipv4(std::uint32_t address) {
  return std::none_of(special_ipv4.begin(), special_ipv4.end(), [&](const Network& one) {
    return (address ^ one.address) >> (32 - one.bits) == 0;
  });
}

std::uint32_t ipv4_at(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

// Only 2000::/3 is assigned. An address that carries one of IPv4 is judged by that.
bool is_public_ipv6(const unsigned char* bytes) {
  static constexpr unsigned char nat64[12] = {0x00, 0x64, 0xFF, 0x9B};
  static constexpr unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  if (std::memcmp(bytes, nat64, 12) == 0 || std::memcmp(bytes, mapped, 12) == 0)
    return is_public_ipv4(ipv4_at(bytes + 12));
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return is_public_ipv4(ipv4_at(bytes + 2));  // 6to4
  const bool is_protocol = bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] < 0x02;  // Teredo ...
  const bool is_documentation =
      bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] == 0x0D && bytes[3] == 0xB8;
  return (bytes[0] & 0xE0) == 0x20 && !is_protocol && !is_documentation;
}

bool is_same_socket(const sockaddr& a, const sockaddr& b) {
  if (a.sa_family != b.sa_family) return false;
  if (a.sa_family == AF_INET) {
    const auto& one = reinterpret_cast<const sockaddr_in&>(a);
    const auto& other = reinterpret_cast<const sockaddr_in&>(b);
    return one.sin_port == other.sin_port && one.sin_addr.s_addr == other.sin_addr.s_addr;
  }
  const auto& one = reinterpret_cast<const sockaddr_in6&>(a);
  const auto& other = reinterpret_cast<const sockaddr_in6&>(b);
  return a.sa_family == AF_INET6 && one.sin6_port == other.sin6_port &&
         std::memcmp(&one.sin6_addr, &other.sin6_addr, sizeof one.sin6_addr) == 0;
}

// libcurl's default port of a proxy that names none.
constexpr const char* proxy_port = "1080";

bool listens_at(const std::string& host, const std::string& port, const sockaddr& address) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return false;
  bool is_there = false;
  for (const addrinfo* one = found; one && !is_there; one = one->ai_next)
    is_there = is_same_socket(*one->ai_addr, address);
  ::freeaddrinfo(found);
  return is_there;
}

// Returns "host:80" of "socks5://user:secret@host:80/" and of "host:80".
std::string_view proxy_authority(std::string_view text) {
  if (const auto scheme = text.find("://"); scheme != text.npos) text.remove_prefix(scheme + 3);
  if (const auto at = text.rfind('@'); at != text.npos) text.remove_prefix(at + 1);
  return text.substr(0, text.find('/'));
}

// The addresses that the environment names.
std::vector<std::string> proxies() {
  std::vector<std::string> all;
  for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
    if (const char* value = std::getenv(name); value && *value) all.emplace_back(value);
  return all;
}

}  // namespace

bool is_public(const sockaddr& address) {
  if (address.sa_family == AF_INET)
    return is_public_ipv4(ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr));
  return address.sa_family == AF_INET6 &&
         is_public_ipv6(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr.s6_addr);
}

Reach::Reach(const std::vector<std::string>& vouched) {
  for (const std::string& url : vouched)
    if (auto origin = origin_of(url)) vouched_.push_back(*std::move(origin));
}

bool Reach::vouches_for(std::string_view url) const {
  const auto origin = origin_of(url);
  return origin && std::find(vouched_.begin(), vouched_.end(), *origin) != vouched_.end();
}

bool is_proxy(const sockaddr& address) {
  for (const std::string& value : proxies()) {
    const std::string_view authority = proxy_authority(value);
    const auto colon = authority.rfind(':');
    const bool has_port = colon != authority.npos && authority.find(']', colon) == authority.npos;
    std::string host(has_port ? authority.substr(0, colon) : authority);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const std::string port(has_port ? authority.substr(colon + 1) : proxy_port);
    if (listens_at(host, port, address)) return true;
  }
  return false;
}

void keep_proxy_logins() {
  for (const std::string& value : proxies()) keep_login_in(value);
}

}  // namespace nightjar::web
