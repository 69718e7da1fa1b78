// Each kind of what a client can make the server hold is in the ledger while it is held.
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/web/served.hpp"

using namespace nightjar::web;

namespace {

constexpr std::size_t held_bytes = 3'000'000;
constexpr std::size_t answer_bytes = 8'000'000;  // more than the kernel takes

class Hoarded {
 public:
  explicit Hoarded(std::chrono::seconds handler_timeout = std::chrono::seconds(120))
      : served(config(handler_timeout)) {
    std::ofstream(path) << std::string(20u << 20, 'x');
    served.server->add(route(Method::get, "/never", [this](const Request&, Respond respond) {
      kept.push_back(std::move(respond));
    }));
    auto body = route(Method::post, "/body", [this](const Request&, Respond respond) {
      kept.push_back(std::move(respond));
    });
    body.body_limit = 4u << 20;
    served.server->add(std::move(body));
    served.server->add(route(Method::get, "/answer", says(std::string(answer_bytes, 'x'))));
    served.server->add(route(Method::get, "/large", says(std::string(9u << 20, 'x'))));
    served.server->add(route(Method::get, "/file", [this](const Request&, Respond respond) {
      Response response;
      response.file = path;
      respond(response);
    }));
    served.server->add_events("/events", Role::none, stream);
    served.start();
  }
  ~Hoarded() {
    served.stop();
    std::filesystem::remove(path);
  }
  static ServerConfig config(std::chrono::seconds handler_timeout) {
    ServerConfig made;
    made.limits.handler_timeout = handler_timeout;
    return made;
  }
  // The handlers answer at last.
  void let_go() {
    boost::asio::post(served.io, [this] {
      for (const Respond& respond : kept) respond(json_response("{}"));
      kept.clear();
    });
  }
  std::size_t held() const { return served.server->ledger().held(Account::anonymous); }
  // Waits for it; false: it never came to be.
  bool holds(std::size_t least, std::size_t most) const {
    for (int i = 0; i < 2000; ++i) {
      if (held() >= least && held() <= most) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("nightjar-hoard-" + std::to_string(::getpid()));
  EventStream stream;
  std::vector<Respond> kept;  // on the server's thread
  Served served;
};

// Asks, and reads nothing.
RawClient deaf(const Hoarded& hoarded, const std::string& request) {
  RawClient client(hoarded.served.server->port());
  client.write(request);
  return client;
}

}  // namespace

TEST_CASE("Whatever a client makes the server hold is in the ledger as long as it is held") {
  Hoarded hoarded;
  const std::string host = " HTTP/1.1\r\nHost: x\r\n";
  struct Kind {
    const char* name;
    std::string request;
    std::size_t least, most;
  };
  for (const auto& [name, request, least, most] : std::vector<Kind>{
           {"a head", "GET /never" + host + "X: " + std::string(15'000, 'x') + "\r\n\r\n", 30'000,
            60'000},
           {"a query", "GET /never?q=" + std::string(15'000, 'x') + host + "\r\n", 30'000, 60'000},
           {"a body that is whole",
            "POST /body" + host + "Content-Length: 3000000\r\n\r\n" + std::string(held_bytes, 'x'),
            held_bytes, held_bytes + 5000},
           {"a body that goes on",
            "POST /body" + host + "Content-Length: 3000001\r\n\r\n" + std::string(held_bytes, 'x'),
            held_bytes, held_bytes + 5000},
           {"an answer", "GET /answer" + host + "\r\n", answer_bytes, answer_bytes + 5000},
           {"a part of a file", "GET /file" + host + "\r\n", 64u << 10, (64u << 10) + 5000}}) {
    CAPTURE(name);
    {
      auto client = deaf(hoarded, request);
      CHECK(hoarded.holds(least, most));
    }
    // A handler's request lives as long as its respond does.
    hoarded.let_go();
    CHECK(hoarded.holds(0, 0));
  }
}

TEST_CASE("Events that a listener does not take are in the ledger, and too many drop it") {
  Hoarded hoarded;
  RawClient listener(hoarded.served.server->port());
  listener.write("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(listener.read_past("retry: 3000\n\n").find("200 OK") != std::string::npos);
  // The first ones go into the kernel's buffers.
  std::size_t most = 0;
  for (int i = 0; i < 20'000 && hoarded.served.server->counters().connections > 0; ++i) {
    hoarded.stream.publish("x", std::string(100'000, 'x'));
    most = std::max(most, hoarded.held());
    if (most > 4'000'000) break;
  }
  CHECK(most > 4'000'000);
  CHECK(most <= 8u << 20);
  listener.hang_up();
  for (int i = 0; i < 2000 && hoarded.served.server->counters().connections > 0; ++i) {
    hoarded.stream.publish("x", "{}");  // the server notices when it writes
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(hoarded.holds(0, 0));
}

TEST_CASE("A body stays in the ledger while a handler works on it, though its sender has gone") {
  Hoarded hoarded(std::chrono::seconds(1));
  {
    auto client =
        deaf(hoarded, "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n" +
                          std::string(held_bytes, 'x'));
    CHECK(hoarded.holds(held_bytes, held_bytes + 5000));
  }
  for (int i = 0; i < 1000 && hoarded.served.server->counters().connections > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(hoarded.served.server->counters().connections == 0);
  CHECK(hoarded.held() >= held_bytes);
  hoarded.let_go();
  CHECK(hoarded.holds(0, 0));
}

TEST_CASE("An answer that is too large for its client says so, and not that others are at fault") {
  Hoarded hoarded;
  RawClient client(hoarded.served.server->port());
  const auto refused = client.get("/large");
  CHECK(refused.status == 403);
  CHECK(refused.body.find("The answer has 9437184 bytes") != std::string::npos);
  CHECK(client.get("/answer").status == 200);  // the connection goes on
}
