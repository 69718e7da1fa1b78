#include "web/server/places.hpp"

#include <catch2/catch.hpp>

#include "tests/web/served.hpp"

using namespace nightjar::web;

namespace {

// A server whose tokens are the names of runners, but "boss" of an admin and "eye" of a reader.
struct Crowded {
  explicit Crowded(Limits limits) : served(config_of(std::move(limits))) {
    served.server->add(route(Method::get, "/open", says("open")));
    for (const auto& [path, role] : std::vector<std::pair<const char*, Role>>{
             {"/wait", Role::none}, {"/job", Role::runner}, {"/read", Role::read}})
      served.server->add(route(
          Method::get, path,
          [this](const Request&, Respond respond) { waiting.push_back(std::move(respond)); },
          role));
    served.server->add(route(Method::get, "/closed", says("closed"), Role::read));
    served.server->add_events("/events", Role::none, stream);
    served.start();
  }
  ~Crowded() { served.stop(); }

  static ServerConfig config_of(Limits limits) {
    ServerConfig config;
    config.limits = std::move(limits);
    config.authenticate = [](std::string_view token) -> std::optional<Principal> {
      const Role role = token == "boss" ? Role::admin : token == "eye" ? Role::read : Role::runner;
      return Principal{std::string(token), role};
    };
    return config;
  }
  RawClient connect(const char* from = "127.0.0.1") { return RawClient(port(), from); }
  std::uint16_t port() const { return served.server->port(); }
  // Asked, and heard by the server, but not answered.
  RawClient ask(const std::string& path, const char* from, const std::string& token = "") {
    RawClient client(port(), from);
    const auto before = served.server->counters().requests;
    client.write("GET " + path + " HTTP/1.1\r\nHost: x\r\n" + bearer(token) + "\r\n");
    while (served.server->counters().requests == before) std::this_thread::yield();
    return client;
  }
  static std::string bearer(const std::string& token) {
    return token.empty() ? "" : "Authorization: Bearer " + token + "\r\n";
  }
  unsigned status(const std::string& path, const char* from, const std::string& token = "") {
    return RawClient(port(), from).get(path, bearer(token)).status;
  }
  // Whether its stream of events begins.
  static bool listens(RawClient& client) {
    return client.read_past("\r\n").find("200 OK") != std::string::npos;
  }

  EventStream stream;
  std::vector<Respond> waiting;  // belongs to the server's thread
  Served served;
};

Limits few_arrivals(std::size_t count) {
  Limits limits;
  limits.arrivals = count;
  return limits;
}

}  // namespace

TEST_CASE("An address of IPv6 counts by its network, one of IPv4 as itself however it is written") {
  const auto of = [](const char* text) { return network_of(boost::asio::ip::make_address(text)); };
  CHECK(of("192.0.2.7") == "192.0.2.7");
  CHECK(of("::ffff:192.0.2.7") == "192.0.2.7");
  CHECK(of("2001:db8:1:2::1") == of("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  CHECK(of("2001:db8:1:2::1") != of("2001:db8:1:3::1"));
  CHECK(of("2001:db8:1:2::1") == "2001:db8:1:2::/64");
}

TEST_CASE("The oldest silent connection of the address with the most yields to a new one") {
  Crowded crowded(few_arrivals(3));
  auto alone = crowded.connect("127.0.0.2");
  CHECK(alone.get("/open").status == 200);
  auto first = crowded.connect("127.0.0.3"), second = crowded.connect("127.0.0.3");
  CHECK(first.get("/open").status == 200);
  CHECK(second.get("/open").status == 200);
  auto newest = crowded.connect("127.0.0.4");
  const auto told = first.read();
  CHECK(told.status == 503);
  CHECK(told.has("Retry-After: 1\r\n"));
  CHECK(first.closed());
  for (auto* client : {&alone, &second, &newest}) CHECK(client->get("/open").status == 200);
}

TEST_CASE("Who has a token gets in behind any number of silent and dripping connections") {
  Crowded crowded(few_arrivals(8));
  std::vector<RawClient> others;
  for (int i = 0; i < 200; ++i) {
    others.push_back(crowded.connect());
    if (i % 2) others.back().try_write("GET /open HTTP/1.1\r\nX-Begun: ");
    if (i % 50 == 0) CHECK(crowded.status("/closed", "127.0.0.1", "boss") == 200);
  }
  CHECK(crowded.status("/closed", "127.0.0.1", "lab") == 200);
  CHECK(crowded.served.server->counters().connections <= 20);  // the refused ones cost no place
}

TEST_CASE("Clients without a token never take a place of others") {
  Limits limits;
  limits.connections.anonymous = {4, 3};
  Crowded crowded(limits);
  std::vector<RawClient> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(crowded.ask("/wait", "127.0.0.2"));
  CHECK(crowded.status("/open", "127.0.0.2") == 503);  // the share of one address
  waiting.push_back(crowded.ask("/wait", "127.0.0.3"));
  CHECK(crowded.status("/closed", "127.0.0.2", "lab") == 200);
  CHECK(crowded.status("/closed", "127.0.0.2", "boss") == 200);
  // All are taken: the address with three of them gives its oldest one up.
  CHECK(crowded.status("/open", "127.0.0.4") == 200);
  CHECK(waiting[0].closed());
  CHECK(crowded.status("/open", "127.0.0.2") == 200);
}

TEST_CASE("A token has so many connections at most, and gives up an idle one first") {
  Limits limits;
  limits.connections.agents = {4, 3};
  Crowded crowded(limits);
  auto idle = crowded.connect();
  CHECK(idle.get("/closed", Crowded::bearer("lab")).status == 200);
  auto first = crowded.ask("/job", "127.0.0.1", "lab");
  auto second = crowded.ask("/job", "127.0.0.1", "lab");
  CHECK(crowded.status("/closed", "127.0.0.1", "lab") == 200);
  CHECK(idle.read().status == 503);
  auto third = crowded.ask("/job", "127.0.0.1", "lab");
  CHECK(crowded.status("/closed", "127.0.0.1", "lab") == 503);
  // Another one of the same role is not kept out.
  auto other = crowded.ask("/job", "127.0.0.1", "field");
  CHECK(crowded.status("/closed", "127.0.0.1", "field") == 200);
  CHECK(first.closed());
  CHECK(crowded.status("/closed", "127.0.0.1", "eye") == 200);
}

TEST_CASE("A token has so many streams at most, and so has an address without one") {
  Limits limits;
  limits.streams.anonymous = limits.streams.readers = {3, 2};
  Crowded crowded(limits);
  for (const std::string token : {"", "eye"}) {
    CAPTURE(token);
    std::vector<RawClient> listeners;
    for (int i = 0; i < 2; ++i) {
      listeners.push_back(crowded.ask("/events", "127.0.0.2", token));
      CHECK(Crowded::listens(listeners.back()));
    }
    CHECK(crowded.status("/events", "127.0.0.2", token) == 503);
    CHECK(crowded.status("/open", "127.0.0.2", token) == 200);
  }
  auto elsewhere = crowded.ask("/events", "127.0.0.3");
  CHECK(Crowded::listens(elsewhere));
}

TEST_CASE("Requests of a proxy that is not trusted count by the proxy's address") {
  Limits limits;
  limits.connections.anonymous = {9, 1};
  Crowded crowded(limits);
  auto first = crowded.ask("/wait", "127.0.0.4");
  auto second = crowded.connect("127.0.0.4");
  CHECK(second.get("/open", "X-Forwarded-For: 192.0.2.7\r\n").status == 503);
}
