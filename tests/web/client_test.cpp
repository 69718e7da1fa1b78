#include "web/client.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

#include <catch2/catch.hpp>

#include "tests/web/bad_peer.hpp"
#include "tests/web/served.hpp"
#include "web/secret.hpp"

using namespace nightjar::web;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("nightjar-client-" + random_token().substr(0, 12));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

struct Site {
  Served served;
  Folder folder;
  std::string content = std::string(3u << 20, 'w') + "end";
  Site() {
    std::ofstream(folder.path / "wheel", std::ios::binary) << content;
    served.server->add(route(Method::post, "/echo", [](const Request& request, Respond respond) {
      auto response = json_response(request.header("x-mark").value_or("") + request.body, 201);
      response.headers.emplace_back("X-Answer", " 42 ");
      respond(response);
    }));
    served.server->add(route(Method::get, "/moved", redirect("/echo2")));
    served.server->add(route(Method::get, "/elsewhere", redirect("ftp://127.0.0.1/x")));
    served.server->add(route(Method::get, "/echo2", says("arrived")));
    served.server->add(route(Method::get, "/wheel", [this](const Request&, Respond respond) {
      Response response;
      response.file = folder.path / "wheel";
      respond(response);
    }));
    served.server->add(route(Method::get, "/part", part("bytes 10-19/1000", "0123456789")));
    served.server->add(route(Method::get, "/other-part", part("bytes 0-9/1000", "0123456789")));
    served.server->add(route(Method::get, "/long-part", part("bytes 10-19/1000", "0123456789+")));
    served.server->add(route(Method::get, "/busy", [](const Request&, Respond respond) {
      auto response = json_response("{}", 503);
      response.headers.emplace_back("Retry-After", "7");
      respond(response);
    }));
    served.server->add(route(Method::get, "/never", [this](const Request&, Respond respond) {
      kept.push_back(std::move(respond));
    }));
    served.start();
  }
  // The handlers write to `kept` and read the folder until the server's thread has ended.
  ~Site() { served.stop(); }
  static Handler redirect(std::string to) {
    return [to](const Request&, Respond respond) {
      Response response;
      response.status = 302;
      response.headers.emplace_back("Location", to);
      respond(response);
    };
  }
  static Handler part(std::string range, std::string bytes) {
    return [range, bytes](const Request& request, Respond respond) {
      Response response;
      response.status = request.header("range") == "bytes=10-19" ? 206 : 400;
      response.headers.emplace_back("Content-Range", range);
      response.body = bytes;
      respond(response);
    };
  }
  std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(served.server->port()) + path;
  }
  std::vector<Respond> kept;
};

}  // namespace

TEST_CASE("A request goes out as it is and its answer comes back") {
  Site site;
  Client client;
  ClientRequest request;
  request.method = "POST";
  request.url = site.url("/echo");
  request.headers = {{"X-Mark", "m:"}};
  request.body = std::string("a\0b", 3);
  const auto result = client.send(request);
  REQUIRE(result);
  CHECK(result.response->status == 201);
  CHECK(result.response->body == "m:" + request.body);
  CHECK(result.response->headers.at("x-answer") == "42");
}

TEST_CASE("Reads share a connection, a write has one of its own: it must not be sent twice") {
  Site site;
  Client client;
  ClientRequest request;
  request.url = site.url("/echo");
  for (int i = 0; i < 5; ++i) client.send(request);
  CHECK(site.served.server->counters().connections == 1);
  request.method = "POST";
  for (int i = 0; i < 3; ++i) CHECK(client.send(request));
  CHECK(site.served.server->counters().connections == 4);
}

TEST_CASE("A redirect leads to no internal address but that of the request") {
  Folder folder;
  Served site, other;
  other.server->add(route(Method::get, "/secret", says("secret")));
  other.start();
  const std::string secret = "http://127.0.0.1:" + std::to_string(other.server->port()) + "/secret";
  site.server->add(route(Method::get, "/inside", Site::redirect(secret)));
  site.server->add(
      route(Method::get, "/metadata", Site::redirect("http://169.254.169.254/latest")));
  site.start();
  const std::string url = "http://127.0.0.1:" + std::to_string(site.server->port());
  Client client;
  ClientRequest request;
  request.url = secret;
  REQUIRE(client.send(request));  // a connection that a redirect could go on with
  for (const char* path : {"/inside", "/metadata"}) {
    request.url = url + path;
    const auto result = client.send(request);
    CHECK_FALSE(result);
    CHECK_THAT(result.failure.what, Catch::Contains("which is an internal address"));
    CHECK_THROWS_WITH(client.download(request.url, {}, folder.path / "x"),
                      Catch::Contains("which is an internal address"));
  }
  for (const std::string& twofold : {"http://a.test\\@127.0.0.1:" + secret.substr(17),
                                     "http://user@127.0.0.1:" + secret.substr(17)}) {
    client.reach_only(Reach({url, secret}));
    request.url = twofold;
    CHECK_THAT(client.send(request).failure.what, Catch::Contains("can be read in two ways"));
  }
  request.url = url + "/metadata";
  client.reach_only(Reach({}));
  CHECK_FALSE(client.send(request));
  client.reach_only(Reach({url, secret}));
  request.url = url + "/inside";
  CHECK(client.send(request));
  other.stop();
  site.stop();
}

TEST_CASE("A redirect is followed within HTTP only") {
  Site site;
  Client client;
  ClientRequest request;
  request.url = site.url("/moved");
  CHECK(client.send(request).response->body == "arrived");
  request.url = site.url("/elsewhere");
  CHECK_FALSE(client.send(request));
}

TEST_CASE("A failure says whether the request may have been acted on, and no secret") {
  Site site;
  Client client;
  ClientRequest request;
  std::uint16_t closed_port = 0;
  {
    Served gone;
    closed_port = gone.server->port();
  }
  request.url = "http://user:hunter2@127.0.0.1:" + std::to_string(closed_port) + "/x?token=hunter2";
  request.headers = {{"Authorization", "Bearer hunter2"}};
  const auto refused = client.send(request);
  REQUIRE_FALSE(refused);
  CHECK(refused.failure.what.find("hunter2") == std::string::npos);
  CHECK(refused.failure.what.find("GET http://127.0.0.1:") == 0);
  request.url = site.url("/never");
  request.timeout = std::chrono::milliseconds(200);
  const auto unanswered = client.send(request);
  CHECK_FALSE(unanswered);
}

TEST_CASE("A refusal may pass if the server is in trouble or says so") {
  for (const unsigned status : {407u, 408u, 425u, 429u, 500u, 502u, 503u, 599u}) {
    INFO(status);
    CHECK(may_pass(status));
  }
  for (const unsigned status : {400u, 401u, 403u, 404u, 410u, 413u, 422u, 301u}) {
    INFO(status);
    CHECK_FALSE(may_pass(status));
  }
}

TEST_CASE("An answer above the limit is a failure") {
  Site site;
  Client client;
  ClientRequest request;
  request.url = site.url("/wheel");
  request.response_limit = 1000;
  const auto result = client.send(request);
  REQUIRE_FALSE(result);
  CHECK(result.failure.what.find("larger than 1000 bytes") != std::string::npos);
}

TEST_CASE("A download appears when complete, with its hash") {
  Site site;
  Client client;
  const auto to = site.folder.path / "got";
  std::uint64_t so_far = 0, total = 0;
  const auto hash = client.download(site.url("/wheel"), {}, to, [&](auto done, auto all) {
    CHECK_FALSE(fs::exists(to));
    so_far = done;
    total = all;
    return true;
  });
  CHECK(hash == sha256(site.content));
  CHECK(fs::file_size(to) == site.content.size());
  CHECK(so_far == site.content.size());
  CHECK(total == site.content.size());
}

TEST_CASE("A download that fails or is cancelled leaves nothing") {
  Site site;
  Client client;
  const auto to = site.folder.path / "got";
  CHECK_THROWS_AS(client.download(site.url("/nothing"), {}, to), Withheld);
  CHECK_THROWS_WITH(client.download(site.url("/nothing"), {}, to), Catch::Contains("404"));
  CHECK_THROWS_WITH(client.download(site.url("/wheel"), {}, to, [](auto, auto) { return false; }),
                    Catch::Contains("cancelled"));
  CHECK_THROWS_WITH(client.download(site.url("/wheel"), {}, to, {}, site.content.size() - 1),
                    Catch::Contains("it has more than"));
  const auto files = std::distance(fs::directory_iterator(site.folder.path), {});
  CHECK(files == 1);
}

TEST_CASE("A range comes as asked for, and its headers with a failure") {
  Site site;
  Client client;
  std::string got;
  const auto take = [&](std::string_view block) {
    got += block;
    return true;
  };
  CHECK_FALSE(client.read_range({site.url("/part"), {}, 10, 10}, take));
  CHECK(got == "0123456789");

  const auto busy = client.read_range({site.url("/busy?token=hunter2"), {}, 10, 10}, take);
  REQUIRE(busy);
  CHECK(busy->kind == RangeFailure::Kind::status);
  CHECK(busy->status == 503);
  CHECK(busy->headers.at("retry-after") == "7");
  CHECK(busy->what.find("bytes 10-19: the server answered 503") != std::string::npos);
  CHECK(busy->what.find("hunter2") == std::string::npos);
}

TEST_CASE("A server that ignores a range is a failure before any of its body is read") {
  Site site;
  Client client;
  std::string got;
  const auto take = [&](std::string_view block) {
    got += block;
    return true;
  };
  const auto whole = client.read_range({site.url("/echo2"), {}, 3, 2}, take);
  REQUIRE(whole);
  CHECK(whole->kind == RangeFailure::Kind::ignored);
  CHECK_THAT(whole->what, Catch::Contains("ignores ranges: it answered 200 with the whole file"));
  const auto other = client.read_range({site.url("/other-part"), {}, 10, 10}, take);
  REQUIRE(other);
  CHECK(other->kind == RangeFailure::Kind::ignored);
  CHECK(got.empty());
  const auto longer = client.read_range({site.url("/long-part"), {}, 10, 10}, take);
  REQUIRE(longer);
  CHECK(longer->kind == RangeFailure::Kind::ignored);
}

TEST_CASE("A range can be cancelled, and a dead server is no answer") {
  Site site;
  Client client;
  const auto no = [](std::string_view) { return false; };
  const auto cancelled = client.read_range({site.url("/part"), {}, 10, 10}, no);
  REQUIRE(cancelled);
  CHECK(cancelled->kind == RangeFailure::Kind::cancelled);
  site.served.stop();
  const auto dead = client.read_range({site.url("/part"), {}, 10, 10}, no);
  REQUIRE(dead);
  CHECK(dead->kind == RangeFailure::Kind::no_answer);
  CHECK(dead->status == 0);
}

TEST_CASE("HEAD brings the headers of a file without its body") {
  Site site;
  Client client;
  ClientRequest request;
  request.method = "HEAD";
  request.url = site.url("/wheel");
  request.response_limit = 10;
  const auto result = client.send(request);
  REQUIRE(result);
  CHECK(result.response->status == 200);
  CHECK(result.response->headers.at("content-length") == std::to_string(site.content.size()));
  CHECK(result.response->body.empty());
}

TEST_CASE(
    "A peer that stalls, drips, closes by half or resets is no answer, and is not waited for") {
  const auto manner = GENERATE(Manner::stalls, Manner::drips, Manner::half_closes, Manner::resets);
  CAPTURE(static_cast<int>(manner));
  const std::string whole = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
  const auto begin = std::chrono::steady_clock::now();
  {
    BadPeer peer(manner, whole);
    Client client;
    ClientRequest request;
    request.url = peer.url();
    request.timeout = std::chrono::milliseconds(500);
    CHECK_FALSE(client.send(request));
  }
  {
    BadPeer peer(manner, whole);
    Client client;
    ClientRequest request;
    request.method = "POST";
    request.url = peer.url();
    request.body = GENERATE(std::string(), std::string(8u << 20, 'w'));
    request.timeout = std::chrono::seconds(1);
    request.while_moving = true;
    const auto result = client.send(request);
    CHECK_FALSE(result);
  }
  {
    BadPeer peer(manner,
                 "HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-999999/1000000\r\n"
                 "Content-Length: 1000000\r\n\r\n");
    Client client;
    client.give_up_after(std::chrono::seconds(1));
    const RangeRequest range{peer.url(), {}, 0, 1'000'000};
    const auto failure = client.read_range(range, [](std::string_view) { return true; });
    REQUIRE(failure);
    CHECK(failure->kind == RangeFailure::Kind::no_answer);
  }
  {
    BadPeer peer(manner, whole);
    Folder folder;
    Client client;
    client.give_up_after(std::chrono::seconds(1));
    CHECK_THROWS_AS(client.download(peer.url(), {}, folder.path / "wheel"), std::runtime_error);
    CHECK(fs::is_empty(folder.path));
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
}
