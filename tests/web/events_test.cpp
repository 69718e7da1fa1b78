#include <catch2/catch.hpp>

#include "tests/web/served.hpp"

using namespace nightjar::web;

namespace {

struct Streaming {
  EventStream stream;
  Served served;
  Streaming() {
    served.server->add_events("/events", Role::none, stream);
    served.start();
  }
  RawClient listener(const std::string& headers = "") {
    RawClient client(served.server->port());
    client.write("GET /events HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n");
    client.read_past("retry: 3000\n\n");
    return client;
  }
};

}  // namespace

TEST_CASE("Each listener gets each event") {
  Streaming streaming;
  auto one = streaming.listener(), two = streaming.listener();
  streaming.stream.publish("night", "{\"id\":1}");
  streaming.stream.publish("night", "{\"id\":\n2}");
  for (auto* client : {&one, &two}) {
    CHECK(client->read_past("\n\n").ends_with("event: night\ndata: {\"id\":1}\n\n"));
    CHECK(client->read_past("\n\n").ends_with("data: {\"id\":\ndata: 2}\n\n"));
  }
}

TEST_CASE("A listener that comes back gets what it missed") {
  Streaming streaming;
  auto first = streaming.listener();
  for (int i = 1; i <= 3; ++i) streaming.stream.publish("tick", std::to_string(i));
  const auto event = first.read_past("\n\n");
  const auto id = event.substr(4, event.find('\n') - 4);
  first.hang_up();
  auto second = streaming.listener("Last-Event-ID: " + id + "\r\n");
  CHECK(second.read_past("\n\n").find("data: 2\n") != std::string::npos);
  CHECK(second.read_past("\n\n").find("data: 3\n") != std::string::npos);
}

TEST_CASE("Many publishers and listeners that come and go do no harm") {
  Streaming streaming;
  std::vector<std::thread> publishers;
  for (int p = 0; p < 3; ++p)
    publishers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) streaming.stream.publish("tick", "{}");
    });
  for (int i = 0; i < 20; ++i) streaming.listener().hang_up();
  for (auto& publisher : publishers) publisher.join();
  auto last = streaming.listener();
  streaming.stream.publish("tick", "\"last\"");
  CHECK(last.read_past("\"last\"\n\n").find("last") != std::string::npos);
}

TEST_CASE("So many listen without a token at most, and those with one are not kept out") {
  ServerConfig config;
  config.limits.streams.anonymous = {1, 1};
  config.authenticate = [](std::string_view) { return Principal{"a", Role::read}; };
  Served served(config);
  EventStream stream;
  served.server->add_events("/events", Role::read, stream);
  served.start();
  const std::string ask = "GET /events HTTP/1.1\r\nHost: x\r\n";
  {
    RawClient first(served.server->port()), second(served.server->port());
    first.write(ask + "\r\n");
    CHECK(first.read_past("retry: 3000").find("200 OK") != std::string::npos);
    second.write(ask + "\r\n");
    CHECK(second.read().status == 503);
    RawClient known(served.server->port());
    known.write(ask + "Authorization: Bearer t\r\n\r\n");
    CHECK(known.read_past("retry: 3000").find("200 OK") != std::string::npos);
  }
  // Once the server has noticed that the first one hung up there is room again.
  bool listens = false;
  for (int i = 0; i < 1000 && !listens; ++i) {
    RawClient third(served.server->port());
    third.write(ask + "\r\n");
    listens = third.read_past("\r\n").find("200 OK") != std::string::npos;
  }
  CHECK(listens);
}

TEST_CASE("Stopping ends the streams") {
  Streaming streaming;
  auto client = streaming.listener();
  streaming.served.stop();
  CHECK(client.closed());
}
