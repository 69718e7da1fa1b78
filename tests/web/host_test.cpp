#include "web/server/host.hpp"

#include <stdexcept>

#include <catch2/catch.hpp>

#include "tests/web/served.hpp"
#include "web/text.hpp"

using namespace nightjar::web;

TEST_CASE("A host is read from a header without its port and its final dot") {
  CHECK(host_in("Nightjar.Example.org:8187") == "nightjar.example.org");
  CHECK(host_in("nightjar.example.org.") == "nightjar.example.org");
  CHECK(host_in("127.0.0.1:80") == "127.0.0.1");
  CHECK(host_in("[::1]:80") == "[::1]");
  CHECK(host_in("[::1]") == "[::1]");
  CHECK(host_in("container_1") == "container_1");
  for (const char* bad : {"", ".", "a b", "a,b", "a:b", "a:1:2", "::1", "[::1", "[x]", "[::1]x",
                          "a/b", "user@a", "a:123456", "\xff"})
    CHECK_FALSE(host_in(bad));
  CHECK(host_of("https://Nightjar.example.org:443/path") == "nightjar.example.org");
  CHECK_FALSE(host_of("nightjar.example.org"));
  CHECK_FALSE(host_of(""));
}

TEST_CASE("Addresses, private names and configured ones may be asked, others may not") {
  const HostNames names({"Nightjar.example.org", "other.example.org."});
  for (const char* allowed :
       {"127.0.0.1", "192.0.2.1", "[2001:db8::1]", "localhost", "nightjar", "gpu-box.local",
        "nightjar.default.svc.cluster.local", "a.localhost", "box", "c1", "ci.internal",
        "pi.home.arpa", "nightjar.example.org", "other.example.org"}) {
    CAPTURE(allowed);
    CHECK(names.allow(allowed));
  }
  for (const char* strange :
       {"evil.example.com", "example.org", "x.nightjar.example.org", "127.0.0.1.evil.example",
        "notlocal.example", "1.2.3.4.5", "ai", "xn--p1ai"}) {
    CAPTURE(strange);
    CHECK_FALSE(names.allow(strange));
  }
  CHECK(HostNames({"ci."}).allow("ci"));
  CHECK_THROWS_WITH(HostNames({"a b"}), "'a b' is no host name");
}

TEST_CASE("A stranger's name is refused for what a browser could read for it, and only for that") {
  ServerConfig config;
  config.host_names = {"nightjar.example.org"};
  config.authenticate = [](std::string_view token) -> std::optional<Principal> {
    if (token == "t") return Principal{"t", Role::read};
    return std::nullopt;
  };
  Served served(config);
  served.server->add(route(Method::get, "/page", says("page")));
  served.server->add(route(Method::get, "/read", says("read"), Role::read));
  served.server->add(route(Method::post, "/hook", echoes()));
  served.server->add(route(Method::get, "/host", [](const Request& request, Respond respond) {
    respond(json_response(*request.header("host")));
  }));
  served.start();
  const auto status = [&](const std::string& line, const std::string& headers) {
    RawClient client(served.server->port());
    client.write(line + "\r\n" + headers + "\r\n");
    const auto response = client.read(line.starts_with("HEAD"));
    if (response.status == 421)
      CHECK((line.starts_with("HEAD") ||
             response.body.find("not known as evil.example.com. Ask it by") != std::string::npos));
    return response.status;
  };
  const std::string evil = "Host: evil.example.com:8187\r\n", known = "Authorization: Bearer t\r\n";
  for (const char* line :
       {"GET /page HTTP/1.1", "GET /read HTTP/1.1", "HEAD /page HTTP/1.1", "GET /page HTTP/1.0"}) {
    CAPTURE(line);
    CHECK(status(line, evil) == 421);
    CHECK(status(line, evil + "Authorization: Bearer guessed\r\n") == 421);
    CHECK(status(line, evil + known) == 200);
    CHECK(status(line, "Host: nightjar.example.org\r\n") == 200);
    CHECK(status(line, "Host: 127.0.0.1:8187\r\n") == 200);
  }
  const std::string to_us = "GET http://127.0.0.1/page HTTP/1.", ours = "Host: 127.0.0.1:8187\r\n",
                    to_evil = "GET http://evil.example.com:8187/page HTTP/1.";
  CHECK(status(to_us + "1", evil) == 200);
  CHECK(status(to_us + "1", "") == 400);
  CHECK(RawClient(served.server->port()).get("http://127.0.0.1:1/host").body == "127.0.0.1");
  CHECK(status(to_us + "0", "") == 200);
  CHECK(status(to_evil + "1", ours) == 421);
  CHECK(status(to_evil + "1", ours + known) == 200);
  CHECK(status(to_evil + "0", "") == 421);
  CHECK(status("GET http://user@127.0.0.1/page HTTP/1.1", ours) == 400);
  CHECK(status("POST /hook HTTP/1.1", evil + "Content-Length: 0\r\n") == 200);
  CHECK(status("GET /page HTTP/1.1", "") == 400);
  CHECK(status("GET /page HTTP/1.0", "") == 200);
  CHECK(status("GET /page HTTP/1.1", "Host:\r\n") == 400);
  CHECK(status("GET /page HTTP/1.1", "Host: a\r\nHost: a\r\n") == 400);
  CHECK(status("GET /page HTTP/1.1", "Host: a/b\r\n") == 400);
}
