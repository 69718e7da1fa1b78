#include "web/reach.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

using namespace nightjar::web;

namespace {

sockaddr_storage in_numbers(const std::string& text) {
  sockaddr_storage address{};
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(address);
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(address);
  if (::inet_pton(AF_INET, text.c_str(), &ipv4.sin_addr) == 1)
    address.ss_family = AF_INET;
  else if (::inet_pton(AF_INET6, text.c_str(), &ipv6.sin6_addr) == 1)
    address.ss_family = AF_INET6;
  return address;
}

bool is_public_text(const std::string& text) {
  const sockaddr_storage address = in_numbers(text);
  return is_public(reinterpret_cast<const sockaddr&>(address));
}

}  // namespace

TEST_CASE("only addresses of the internet are public") {
  const auto internal = GENERATE(
      as<std::string>(), "127.0.0.1", "127.255.255.254", "0.0.0.0", "10.1.2.3", "172.16.0.1",
      "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200",
      "192.0.0.8", "198.18.0.1", "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1",
      "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
      "2002:7f00:1::", "2001::1", "2001:db8::1", "fec0::1", "::7f00:1", "nonsense");
  CAPTURE(internal);
  CHECK_FALSE(is_public_text(internal));
}

TEST_CASE("addresses beside the special ones are public") {
  const auto address = GENERATE(as<std::string>(), "9.255.255.255", "11.0.0.0", "172.15.255.255",
                                "172.32.0.0", "192.167.255.255", "192.169.0.0", "169.253.0.1",
                                "100.63.255.255", "100.128.0.0", "223.255.255.255", "8.8.8.8",
                                "2606:4700::1", "2a00::1", "::ffff:8.8.8.8", "2001:4860::8888");
  CAPTURE(address);
  CHECK(is_public_text(address));
}

TEST_CASE("who is vouched for may be anywhere, at its own port") {
  const Reach reach({"http://127.0.0.1:8080/simple"});
  CHECK(reach.vouches_for("http://127.0.0.1:8080/other?x"));
  CHECK_FALSE(reach.vouches_for("http://127.0.0.1:8081/simple"));
  CHECK_FALSE(reach.vouches_for("https://127.0.0.1:8080/simple"));
  CHECK_FALSE(reach.vouches_for("http://localhost:8080/simple"));
  CHECK_FALSE(reach.vouches_for("http://127.0.0.1:8080@public.test/"));
}

TEST_CASE("where a proxy of the environment listens is known") {
  ::setenv("https_proxy", "http://user:secret@127.0.0.1:3128/", 1);
  sockaddr_storage address = in_numbers("127.0.0.1");
  reinterpret_cast<sockaddr_in&>(address).sin_port = htons(3128);
  CHECK(is_proxy(reinterpret_cast<const sockaddr&>(address)));
  reinterpret_cast<sockaddr_in&>(address).sin_port = htons(3129);
  CHECK_FALSE(is_proxy(reinterpret_cast<const sockaddr&>(address)));
  ::setenv("https_proxy", "http://[::1]:3128/", 1);
  sockaddr_storage six = in_numbers("::1");
  reinterpret_cast<sockaddr_in6&>(six).sin6_port = htons(3128);
  CHECK(is_proxy(reinterpret_cast<const sockaddr&>(six)));
  reinterpret_cast<sockaddr_in6&>(six).sin6_port = htons(3129);
  CHECK_FALSE(is_proxy(reinterpret_cast<const sockaddr&>(six)));
  ::unsetenv("https_proxy");
}
