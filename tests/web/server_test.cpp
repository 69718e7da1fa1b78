#include "web/server/server.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>

#include <catch2/catch.hpp>

#include "tests/web/served.hpp"

using namespace nightjar::web;

TEST_CASE("A connection serves one request after the other, pipelined or not") {
  Served served;
  served.server->add(route(Method::get, "/a/{id}", [](const Request& request, Respond respond) {
    respond(
        json_response(request.parameters.at("id") + "|" + request.query_value("q").value_or("-")));
  }));
  served.server->add(route(Method::post, "/echo", echoes()));
  served.start();
  RawClient client(served.server->port());
  CHECK(client.get("/a/7").body == "7|-");
  CHECK(client.get("/a/x%2Fy%20z?q=1%2B1+2").body == "x/y z|1+1 2");
  client.write(
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\none"
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
      "chunked\r\n\r\n2\r\ntw\r\n1\r\no\r\n0\r\n\r\n"
      "GET /a/3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(client.read().body == "one");
  CHECK(client.read().body == "two");
  CHECK(client.read().body == "3|-");
  CHECK(client.closed());
  CHECK(served.server->counters().requests == 5);
}

TEST_CASE("A header that comes again is joined to the first, and an empty one adds nothing") {
  Served served;
  served.server->add(route(Method::get, "/", [](const Request& request, Respond respond) {
    respond(json_response(request.header("accept").value_or("none")));
  }));
  served.start();
  RawClient client(served.server->port());
  client.write("GET / HTTP/1.1\r\nHost: h\r\nAccept: a\r\nAccept:\r\nAccept: b\r\nAccept:\r\n\r\n");
  CHECK(client.read().body == "a, b");
}

TEST_CASE("What is not well-formed is refused with a problem") {
  ServerConfig config;
  config.limits.header_bytes = 2048;
  Served served(std::move(config));
  served.server->add(route(Method::get, "/a", says("{}")));
  served.start();
  const auto refused = [&](const std::string& bytes) {
    RawClient client(served.server->port());
    client.try_write(bytes);
    const auto response = client.read();
    if (response.status != 200) CHECK(response.has("Content-Type: application/problem+json\r\n"));
    return response.status;
  };
  CHECK(refused("nonsense\r\n\r\n") == 400);
  CHECK(refused("GET /a%2 HTTP/1.1\r\nHost: x\r\n\r\n") == 400);
  CHECK(refused("GET /a%00 HTTP/1.1\r\nHost: x\r\n\r\n") == 400);
  CHECK(refused("GET /a?q=%zz HTTP/1.1\r\nHost: x\r\n\r\n") == 400);
  CHECK(refused("GET a HTTP/1.1\r\nHost: x\r\n\r\n") == 400);
  CHECK(refused("GET /a HTTP/1.1\r\nX: " + std::string(4000, 'x') + "\r\n\r\n") == 431);
  CHECK(refused("GET /b HTTP/1.1\r\nHost: x\r\n\r\n") == 404);
  CHECK(refused("BREW /a HTTP/1.1\r\nHost: x\r\n\r\n") == 405);
  CHECK(refused("POST /a HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n") == 400);
  CHECK(refused("GET http://x/a HTTP/1.1\r\nHost: x\r\n\r\n") == 200);
  std::string fields = "GET /a HTTP/1.1\r\nHost: x\r\n", query = "?a";
  for (int i = 0; i < 101; ++i) {
    fields += "a" + std::to_string(i) + ":\r\n";
    query += "&" + std::to_string(i);
  }
  CHECK(refused(fields + "\r\n") == 431);  // small on its way, large in memory
  CHECK(refused("GET /a" + query + " HTTP/1.1\r\nHost: x\r\n\r\n") == 400);
}

TEST_CASE("A method that a path does not serve is answered with those it does") {
  Served served;
  served.server->add(route(Method::get, "/a/{id}", says("{}")));
  served.server->add(route(Method::post, "/a/{id}", says("{}")));
  served.start();
  RawClient client(served.server->port());
  client.write("DELETE /a/1 HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto response = client.read();
  CHECK(response.status == 405);
  CHECK(response.has("Allow: GET, HEAD, POST\r\n"));
  CHECK(client.get("/a/1").status == 200);
}

TEST_CASE("A head that comes too slowly ends the connection") {
  ServerConfig config;
  config.limits.read_timeout = std::chrono::seconds(1);
  Served served(std::move(config));
  served.start();
  RawClient client(served.server->port());
  client.write("GET / HTTP/1.1\r\nHost: ");
  CHECK(client.closed());
}

TEST_CASE("A body above the limit of its route is 413, declared or chunked") {
  Served served;
  auto limited = route(Method::post, "/hook", echoes());
  limited.body_limit = 1000;
  served.server->add(std::move(limited));
  served.start();
  const std::string body(25u << 20, 'x');
  RawClient declared(served.server->port());
  declared.write("POST /hook HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                 std::to_string(body.size()) + "\r\n\r\n");
  CHECK(declared.read().status == 413);  // before a byte of it was sent
  RawClient eager(served.server->port());
  eager.write("POST /hook HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n" + body);
  CHECK(eager.read().status == 413);
  RawClient chunked(served.server->port());
  chunked.write("POST /hook HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 25; ++i) chunked.write("100000\r\n" + std::string(1u << 20, 'y') + "\r\n");
  chunked.write("0\r\n\r\n");
  const auto response = chunked.read();
  CHECK(response.status == 413);
  CHECK(response.has("Connection: close\r\n"));
  RawClient expecting(served.server->port());
  expecting.write(
      "POST /hook HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  CHECK(expecting.read().status == 100);
  expecting.write("ok");
  CHECK(expecting.read().body == "ok");
}

TEST_CASE("A body that comes slowly but comes is read to its end, if its sender has a token") {
  ServerConfig config;
  config.limits.read_timeout = std::chrono::milliseconds(300);
  config.authenticate = [](std::string_view) { return Principal{"a", Role::runner}; };
  Served served(config);
  for (const Role role : {Role::runner, Role::none})
    served.server->add(
        route(Method::post, role == Role::none ? "/open" : "/closed", echoes(), role));
  served.start();
  const std::string piece(20000, 'x');
  const auto slowly = [&](const std::string& path, const std::string& token) {
    RawClient client(served.server->port());
    client.write("POST " + path + " HTTP/1.1\r\nHost: x\r\n" + token +
                 "Content-Length: 160000\r\n\r\n");
    for (int i = 0; i < 8; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the time is what is tested
      client.try_write(piece);
    }
    return client.read().status;
  };
  CHECK(slowly("/closed", "Authorization: Bearer t\r\n") == 200);
  CHECK(slowly("/open", "") == 0);  // cut off
}

TEST_CASE("A body that stands still ends the connection, whoever sends it") {
  ServerConfig config;
  config.limits.read_timeout = std::chrono::milliseconds(300);
  config.authenticate = [](std::string_view) { return Principal{"a", Role::runner}; };
  Served served(config);
  served.server->add(route(Method::post, "/closed", echoes(), Role::runner));
  served.start();
  RawClient client(served.server->port());
  client.write(
      "POST /closed HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n"
      "Content-Length: 160000\r\n\r\n" +
      std::string(20000, 'x'));
  CHECK(client.closed());
}

TEST_CASE("A client that closes by half gets its answer, one that resets leaves nothing behind") {
  Served served;
  served.server->add(route(Method::post, "/open", echoes()));
  served.start();
  RawClient half(served.server->port());
  half.write("POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok");
  half.close_by_half();
  CHECK(half.read().body == "ok");
  CHECK(half.closed());
  RawClient early(served.server->port());
  early.write("POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 200\r\n\r\nok");
  early.close_by_half();
  CHECK(early.closed());
  for (const char* begun :
       {"GET /op", "POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx"}) {
    RawClient client(served.server->port());
    client.write(begun);
    client.reset();
  }
  half.hang_up();
  early.hang_up();
  for (int i = 0; i < 1000 && served.server->counters().connections > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(served.server->counters().connections == 0);
}

TEST_CASE("Who does not read an answer is left after a while") {
  ServerConfig config;
  config.limits.write_timeout = std::chrono::seconds(1);
  config.limits.bytes.anonymous = {40u << 20, 40u << 20};
  Served served(config);
  EventStream stream;
  served.server->add(route(Method::get, "/open", says(std::string(20'000'000, 'x'))));
  served.server->add_events("/events", Role::none, stream);
  served.start();
  RawClient deaf(served.server->port()), listener(served.server->port());
  listener.write("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(listener.read_past("retry: 3000").find("200 OK") != std::string::npos);
  deaf.write("GET /open HTTP/1.1\r\nHost: x\r\n\r\n");
  for (int i = 0; i < 3000 && served.server->counters().connections > 0; ++i) {
    stream.publish("x", '"' + std::string(100'000, 'x') + '"');
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(served.server->counters().connections == 0);
}

TEST_CASE("All bodies of senders without a token together are limited, others are not") {
  ServerConfig config;
  config.limits.bytes.anonymous = {100'000, 100'000};
  config.authenticate = [](std::string_view) { return Principal{"a", Role::runner}; };
  Served served(config);
  served.server->add(route(Method::post, "/open", says("{}")));
  served.server->add(route(Method::post, "/closed", echoes(), Role::runner));
  served.start();
  const auto head = [](const char* path) {
    const bool closed = std::string(path) == "/closed";
    return "POST " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" +
           (closed ? "Authorization: Bearer t\r\n" : "") + "Content-Length: 80000\r\n\r\n";
  };
  const std::string most(79999, 'x'), all(80000, 'x');
  std::optional<RawClient> first;
  RawResponse refused;
  // Whose bytes are read first has them counted; only then is the other one over the limit.
  for (int i = 0; i < 100 && refused.status != 503; ++i) {
    first.emplace(served.server->port());
    first->try_write(head("/open") + most);
    // Each round of the server's loop reads a piece of it.
    RawClient other(served.server->port());
    for (int round = 0; round < 30; ++round) other.get("/none");
    RawClient again(served.server->port());
    again.try_write(head("/open") + all);
    refused = again.read();
  }
  CHECK(refused.status == 503);
  CHECK(refused.has("Retry-After"));
  RawClient second(served.server->port());
  second.write(head("/closed") + all);
  CHECK(second.read().status == 200);
  first->write("x");
  CHECK(first->read().status == 200);
  RawClient later(served.server->port());
  later.write(head("/open") + all);
  CHECK(later.read().status == 200);
}

TEST_CASE("A route can refuse by the head alone, and reads nothing of the body") {
  Served served;
  Route closed = route(Method::post, "/signed", echoes());
  closed.refuse = [](const Request& request) -> std::optional<Response> {
    if (request.header("x-signature")) return std::nullopt;
    return problem(401, "Unauthorized", "no signature");
  };
  served.server->add(std::move(closed));
  served.start();
  RawClient client(served.server->port());
  client.write("POST /signed HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
  CHECK(client.read().status == 401);
  RawClient with(served.server->port());
  with.write("POST /signed HTTP/1.1\r\nHost: x\r\nX-Signature: y\r\nContent-Length: 1\r\n\r\nz");
  CHECK(with.read().body == "z");
}

TEST_CASE("A route can judge a head in its own time, and a body comes only if it lets it") {
  Served served;
  Route judged = route(Method::post, "/judged", echoes());
  judged.judge = [&served](const std::shared_ptr<const Request>& request,
                           const Route::Verdict& verdict) {
    boost::asio::post(served.pool, [request, verdict] {
      const bool good = request->header("x-claim") == "mine";
      verdict(good ? std::nullopt : std::optional(problem(409, "Lost", "not yours")));
      verdict(std::nullopt);  // a second one is ignored
    });
  };
  served.server->add(std::move(judged));
  served.start();
  const std::string head = "POST /judged HTTP/1.1\r\nHost: x\r\n";
  RawClient stranger(served.server->port());
  stranger.write(head + "Content-Length: 1000000\r\n\r\n");
  const auto refused = stranger.read();
  CHECK(refused.status == 409);
  CHECK(refused.has("Connection: close"));
  RawClient holder(served.server->port());
  for (int i = 0; i < 2; ++i) {  // the connection stays
    holder.write(head + "X-Claim: mine\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    CHECK(holder.read_past("\r\n\r\n").find(" 100 ") != std::string::npos);
    holder.write("abc");
    const auto answer = holder.read();
    CHECK(answer.status == 200);
    CHECK(answer.body == "abc");
  }
  RawClient gone(served.server->port());
  gone.write(head + "Content-Length: 5\r\n\r\n");
  gone.hang_up();
  CHECK(RawClient(served.server->port()).get("/none").status == 404);
}

TEST_CASE("Who asks through a proxy is believed of trusted ones only") {
  ServerConfig config;
  config.limits.connections.anonymous = {10, 1};
  config.trusted_proxies = {"127.0.0.2", "127.0.0.3"};
  config.authenticate = [](std::string_view) { return Principal{"a", Role::runner}; };
  Served served(config);
  std::vector<Respond> waiting;
  served.server->add(route(Method::get, "/open", says("1")));
  served.server->add(route(Method::get, "/closed", says("2"), Role::runner));
  served.server->add(route(Method::get, "/wait", [&](const Request&, Respond respond) {
    waiting.push_back(std::move(respond));
  }));
  served.start();
  const std::string somebody = "X-Forwarded-For: 192.0.2.1\r\n";
  RawClient first(served.server->port(), "127.0.0.2");
  first.write("GET /wait HTTP/1.1\r\nHost: x\r\n" + somebody + "\r\n");
  const auto status_of = [&](const std::string& path, const std::string& headers) {
    return RawClient(served.server->port(), "127.0.0.2").get(path, headers).status;
  };
  // Only once the first request was read it is counted.
  unsigned status = 200;
  for (int i = 0; i < 1000 && status == 200; ++i) status = status_of("/open", somebody);
  CHECK(status == 503);
  struct Row {
    const char* name;
    std::string headers;
    unsigned status;
  };
  for (const auto& [name, headers, wanted] : std::vector<Row>{
           {"another client", "X-Forwarded-For: 192.0.2.2\r\n", 200},
           {"what the client claims", "X-Forwarded-For: 192.0.2.9, 192.0.2.1\r\n", 503},
           {"in two fields", "X-Forwarded-For: 192.0.2.9\r\nX-Forwarded-For: 192.0.2.1\r\n", 503},
           {"two proxies", "X-Forwarded-For: 192.0.2.1,127.0.0.3 \r\n", 503},
           {"no address", "X-Forwarded-For: 192.0.2.1, unknown\r\n", 200},
           {"none", "", 200}}) {
    CAPTURE(name);
    CHECK(status_of("/open", headers) == wanted);
  }
  CHECK(status_of("/closed", somebody + "Authorization: Bearer t\r\n") == 200);
  RawClient stranger(served.server->port(), "127.0.0.4");
  CHECK(stranger.get("/open", somebody).status == 200);
  first.hang_up();
}

TEST_CASE("Answers that nobody reads are limited together, and those with a token are not") {
  ServerConfig config;
  config.limits.bytes.anonymous = {10'000'000, 10'000'000};
  config.authenticate = [](std::string_view) { return Principal{"a", Role::runner}; };
  Served served(config);
  const std::string large(8'000'000, 'x');  // more than the kernel takes
  served.server->add(route(Method::get, "/open", says(large)));
  served.server->add(route(Method::get, "/closed", says(large), Role::runner));
  served.start();
  RawClient deaf(served.server->port());
  deaf.write("GET /open HTTP/1.1\r\nHost: x\r\n\r\n");
  RawResponse refused;
  for (int i = 0; i < 100 && refused.status != 503; ++i)
    refused = RawClient(served.server->port()).get("/open");
  CHECK(refused.status == 503);
  CHECK(refused.has("Retry-After"));
  RawClient known(served.server->port());
  CHECK(known.get("/closed", "Authorization: Bearer t\r\n").status == 200);
  CHECK(deaf.read().status == 200);
  unsigned status = 503;
  for (int i = 0; i < 1000 && status != 200; ++i)
    status = RawClient(served.server->port()).get("/open").status;
  CHECK(status == 200);
}

TEST_CASE("Roles decide who may do what") {
  ServerConfig config;
  config.open_reads = false;
  config.authenticate = [](std::string_view token) -> std::optional<Principal> {
    if (token == "r") return Principal{"reader", Role::read};
    if (token == "m") return Principal{"lab", Role::runner};
    if (token == "b") return Principal{"workshop", Role::builder};
    if (token == "a") return Principal{"boss", Role::admin};
    return std::nullopt;
  };
  const auto name = [](const Request& request, Respond respond) {
    respond(json_response(request.principal.name));
  };
  Served served(std::move(config));
  served.server->add(route(Method::get, "/open", name));
  served.server->add(route(Method::get, "/read", name, Role::read));
  served.server->add(route(Method::get, "/job", name, Role::runner));
  served.server->add(route(Method::get, "/wheel", name, Role::builder));
  served.server->add(route(Method::get, "/admin", name, Role::admin));
  served.start();
  RawClient client(served.server->port());
  CHECK(client.get("/open").status == 200);
  CHECK(client.get("/open", "Authorization: Bearer nonsense\r\n").status == 200);
  const auto refused = client.get("/read");
  CHECK(refused.status == 401);
  CHECK(refused.has("WWW-Authenticate: Bearer\r\n"));
  CHECK(client.get("/read", "Authorization: Bearer x\r\n").status == 401);
  CHECK(client.get("/read", "Authorization: Basic r\r\n").status == 401);
  CHECK(client.get("/read", "Authorization: bearer r\r\n").body == "reader");
  CHECK(client.get("/admin", "Authorization: Bearer r\r\n").status == 403);
  CHECK(client.get("/wheel", "Authorization: Bearer m\r\n").status == 403);
  for (const auto* path : {"/job", "/wheel"})
    CHECK(client.get(path, "Authorization: Bearer b\r\n").body == "workshop");
  CHECK(client.get("/admin", "Authorization: Bearer b\r\n").status == 403);
  CHECK(client.get("/admin", "Authorization: Bearer a\r\n").body == "boss");
}

TEST_CASE("A session reads from anywhere, and changes something from a page of the service alone") {
  ServerConfig config;
  config.open_reads = false;
  config.authenticate = [](std::string_view token) -> std::optional<Principal> {
    if (token == "a") return Principal{"boss", Role::admin};
    return std::nullopt;
  };
  config.sessions = {"id", "https://h.test", [](std::string_view session) {
                       return session == "s" ? std::optional(Principal{"user:ada", Role::admin})
                                             : std::nullopt;
                     }};
  const auto name = [](const Request& request, Respond respond) {
    respond(json_response(request.principal.name));
  };
  Served served(std::move(config));
  served.server->add(route(Method::get, "/read", name, Role::read));
  served.server->add(route(Method::post, "/act", name, Role::admin));
  served.start();
  RawClient client(served.server->port());
  const std::string mine = "Cookie: x=id=s; id=s\r\n", own = "Origin: https://h.test\r\n";
  CHECK(client.get("/read", mine).body == "user:ada");
  CHECK(client.get("/read", "Cookie: xid=s; ID=s; id=t\r\n").status == 401);
  CHECK(client.get("/read", mine + "Authorization: Bearer a\r\n").body == "boss");
  CHECK(client.get("/read", mine + "Authorization: Bearer b\r\n").status == 401);
  const auto act = [&](const std::string& fields) {
    RawClient one(served.server->port());
    one.write("POST /act HTTP/1.1\r\nHost: h.test\r\nContent-Length: 0\r\n" + fields + "\r\n");
    return one.read().status;
  };
  CHECK(act(mine + own) == 200);
  CHECK(act(mine + own + "Sec-Fetch-Site: same-origin\r\n") == 200);
  CHECK(act(mine + own + "Sec-Fetch-Site: same-site\r\n") == 403);
  CHECK(act(mine) == 403);
  CHECK(act(mine + "Origin: null\r\n") == 403);
  CHECK(act(mine + "Origin: https://h.test.evil\r\n") == 403);
  CHECK(act("Authorization: Bearer a\r\nOrigin: https://evil.test\r\n") == 200);
}

TEST_CASE("HEAD answers as GET would, without the body") {
  Served served;
  served.server->add(route(Method::get, "/a", says("{\"x\":1}")));
  served.start();
  RawClient client(served.server->port());
  client.write("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto response = client.read(true);
  CHECK(response.status == 200);
  CHECK(response.has("Content-Length: 7\r\n"));
  CHECK(client.get("/a").body == "{\"x\":1}");
}

TEST_CASE("A page carries the headers that keep foreign scripts out") {
  Served served;
  served.server->add(route(Method::get, "/", [](const Request&, Respond respond) {
    Response page;
    page.content_type = "text/html; charset=utf-8";
    respond(page);
  }));
  served.start();
  RawClient client(served.server->port());
  const auto response = client.get("/");
  CHECK(response.has("script-src 'self';"));
  CHECK(response.has("X-Content-Type-Options: nosniff\r\n"));
}

TEST_CASE("A page's own style passes its policy, and no other inline style does") {
  Served served;
  Route page = route(Method::get, "/report", [](const Request&, Respond respond) {
    Response response;
    response.content_type = "text/html";
    response.page_style = "body { margin: 0 }";
    respond(std::move(response));
  });
  served.server->add(std::move(page));
  served.start();
  const auto answer = RawClient(served.server->port()).get("/report");
  // printf 'body { margin: 0 }' | openssl dgst -sha256 -binary | base64
  CHECK(answer.has("style-src 'self' 'sha256-mX+s7KJgWpgxJola85xdpAFPBQaV091gzM2oPjgTW2w=';"));
  CHECK_FALSE(answer.has("unsafe-inline"));
}

TEST_CASE("A header's value cannot begin another header") {
  Served served;
  served.server->add(route(Method::get, "/", [](const Request&, Respond respond) {
    auto response = json_response("{}");
    response.headers.emplace_back("Location", "/a\r\nSet-Cookie: x");
    respond(response);
  }));
  served.start();
  RawClient client(served.server->port());
  CHECK_FALSE(client.get("/").has("\r\nSet-Cookie"));
}

TEST_CASE("Files are sent whole or in part") {
  const auto path =
      std::filesystem::temp_directory_path() / ("nightjar-file-" + std::to_string(::getpid()));
  std::string bytes;
  for (int i = 0; i < 700000; ++i) bytes += static_cast<char>(i * 7 + i / 256);
  std::ofstream(path, std::ios::binary) << bytes;
  Served served;
  served.server->add(route(Method::get, "/file", [path](const Request&, Respond respond) {
    Response response;
    response.file = path;
    response.content_type = "application/octet-stream";
    response.headers.emplace_back("ETag", "\"v1\"");
    respond(response);
  }));
  served.server->add(route(Method::get, "/missing", [](const Request&, Respond respond) {
    Response response;
    response.file = "/nowhere/at/all";
    respond(response);
  }));
  served.start();
  RawClient client(served.server->port());
  CHECK(client.get("/file").body == bytes);
  const auto part = client.get("/file", "Range: bytes=10-19\r\n");
  CHECK(part.status == 206);
  CHECK(part.has("Content-Range: bytes 10-19/700000\r\n"));
  CHECK(part.body == bytes.substr(10, 10));
  CHECK(client.get("/file", "Range: bytes=699990-\r\n").body == bytes.substr(699990));
  CHECK(client.get("/file", "Range: bytes=-5\r\n").body == bytes.substr(699995));
  CHECK(client.get("/file", "Range: bytes=5-9\r\nIf-Range: \"v1\"\r\n").body == bytes.substr(5, 5));
  CHECK(client.get("/file", "Range: bytes=5-9\r\nIf-Range: \"v0\"\r\n").body == bytes);
  CHECK(client.get("/file", "Range: bytes=1-2,5-6\r\n").body == bytes);
  const auto beyond = client.get("/file", "Range: bytes=700000-\r\n");
  CHECK(beyond.status == 416);
  CHECK(beyond.has("Content-Range: bytes */700000\r\n"));
  client.write("HEAD /file HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(client.read(true).has("Content-Length: 700000\r\n"));
  CHECK(client.get("/missing").status == 404);
  std::filesystem::remove(path);
}
