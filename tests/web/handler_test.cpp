#include <atomic>
#include <latch>

#include <catch2/catch.hpp>

#include "tests/web/served.hpp"

using namespace nightjar::web;

TEST_CASE("A handler may answer later and from another thread, but only once") {
  Served served;
  auto slow = route(Method::get, "/later", [&](const Request&, Respond respond) {
    boost::asio::post(served.pool, [respond] {
      respond(json_response("first"));
      respond(json_response("second"));
    });
  });
  slow.executor = served.pool.get_executor();
  served.server->add(std::move(slow));
  served.start();
  RawClient client(served.server->port());
  for (int i = 0; i < 20; ++i) CHECK(client.get("/later").body == "first");
}

TEST_CASE("A handler that throws is a 500 that says nothing of why") {
  Served served;
  const Handler throws = [](const Request&, Respond) {
    throw std::runtime_error("the password is x");
  };
  served.server->add(route(Method::get, "/inline", throws));
  auto pooled = route(Method::get, "/pooled", throws);
  pooled.executor = served.pool.get_executor();
  served.server->add(std::move(pooled));
  served.start();
  RawClient client(served.server->port());
  for (const auto* path : {"/inline", "/pooled"}) {
    const auto response = client.get(path);
    CHECK(response.status == 500);
    CHECK(response.body.find("password") == std::string::npos);
  }
  CHECK(served.server->counters().errors_5xx == 2);
}

TEST_CASE("A handler that never answers is a 504, and its late answer is for nobody") {
  ServerConfig config;
  config.limits.handler_timeout = std::chrono::seconds(1);
  Served served(std::move(config));
  std::promise<Respond> kept;
  served.server->add(route(Method::get, "/never", [&](const Request&, Respond respond) {
    kept.set_value(std::move(respond));
  }));
  served.server->add(route(Method::get, "/a", says("a")));
  served.start();
  RawClient client(served.server->port());
  CHECK(client.get("/never").status == 504);
  kept.get_future().get()(json_response("late"));
  CHECK(client.get("/a").body == "a");
}

TEST_CASE("A client that hangs up during a long poll is noticed, and others are served") {
  Served served;
  std::promise<const Request*> entered;
  std::promise<Respond> kept;
  served.server->add(route(Method::get, "/poll", [&](const Request& request, Respond respond) {
    kept.set_value(std::move(respond));
    entered.set_value(&request);
  }));
  served.server->add(route(Method::get, "/a", says("a")));
  served.start();
  RawClient poller(served.server->port());
  poller.write("GET /poll HTTP/1.1\r\nHost: x\r\n\r\n");
  const Request* request = entered.get_future().get();  // lives as long as its Respond
  const auto respond = kept.get_future().get();
  CHECK_FALSE(*request->gone);
  poller.hang_up();
  while (!*request->gone) std::this_thread::yield();
  respond(json_response("too late"));
  CHECK(RawClient(served.server->port()).get("/a").body == "a");
}

TEST_CASE("Forty connections at once each get their own answer") {
  Served served;
  auto pooled = route(Method::get, "/n/{n}", [](const Request& request, Respond respond) {
    respond(json_response(request.parameters.at("n")));
  });
  pooled.executor = served.pool.get_executor();
  served.server->add(std::move(pooled));
  served.start();
  std::vector<std::future<int>> clients;
  for (int c = 0; c < 40; ++c)
    clients.push_back(std::async(std::launch::async, [&, c] {
      RawClient client(served.server->port());
      int right = 0;
      for (int i = 0; i < 25; ++i) {
        const auto text = std::to_string(c * 1000 + i);
        right += client.get("/n/" + text).body == text;
      }
      return right;
    }));
  for (auto& client : clients) CHECK(client.get() == 25);
}

TEST_CASE("Stopping ends idle connections at once and lets a running request finish") {
  Served served;
  std::promise<Respond> kept;
  served.server->add(route(Method::get, "/slow", [&](const Request&, Respond respond) {
    kept.set_value(std::move(respond));
  }));
  served.server->add(route(Method::get, "/a", says("a")));
  served.start();
  RawClient idle(served.server->port()), busy(served.server->port());
  CHECK(idle.get("/a").status == 200);
  busy.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto respond = kept.get_future().get();
  served.server->stop();
  CHECK(idle.closed());
  respond(json_response("finished"));
  const auto response = busy.read();
  CHECK(response.body == "finished");
  CHECK(response.has("Connection: close\r\n"));
  served.stop();
}

TEST_CASE("Stopping does not wait for a request that does not end") {
  Served served;
  std::promise<Respond> kept;
  served.server->add(route(Method::get, "/never", [&](const Request&, Respond respond) {
    kept.set_value(std::move(respond));
  }));
  served.start();
  RawClient client(served.server->port());
  client.write("GET /never HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto respond = kept.get_future().get();
  served.stop();
  CHECK(client.closed());
  respond(json_response("for nobody"));
}
