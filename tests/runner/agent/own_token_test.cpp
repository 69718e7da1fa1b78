#include "runner/agent/own_token.hpp"

#include <mutex>
#include <vector>

#include <catch2/catch.hpp>

#include "storage/base/files.hpp"
#include "storage/model/json.hpp"
#include "tests/support/loop_thread.hpp"
#include "tests/support/scratch.hpp"
#include "web/secret.hpp"
#include "web/server/server.hpp"

using namespace nightjar;
using namespace nightjar::runner;
namespace fs = std::filesystem;

namespace {

struct Post {
  std::string path, authorization;
  nlohmann::json body;
};

// Answers /enrol and /rotate with one status, which a test may change.
class TokenService {
 public:
  TokenService() : server_(loop_.io, {}) {
    for (const char* action : {"enrol", "rotate"}) {
      web::Route route;
      route.method = web::Method::post;
      route.pattern = std::string("/api/v1/agent/") + action;
      route.role = web::Role::none;
      route.handler = [this](const web::Request& request, web::Respond respond) {
        const std::lock_guard lock(mutex_);
        posts_.push_back({request.path, request.header("authorization").value_or(""),
                          nlohmann::json::parse(request.body)});
        respond(status == 200 ? web::json_response("{}") : web::problem(status, "no", "not now"));
        if (status == 503) status = 200;  // it comes back
      };
      server_.add(std::move(route));
    }
    server_.start();
  }
  ~TokenService() {
    server_.stop();
    loop_.end();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
  std::vector<Post> posts() {
    const std::lock_guard lock(mutex_);
    return posts_;
  }
  std::atomic<unsigned> status = 200;

 private:
  test::LoopThread loop_;
  web::Server server_;
  std::mutex mutex_;
  std::vector<Post> posts_;
};

std::string hash_of(const OwnToken& own) {
  return web::sha256(own.read()).str();
}

fs::perms mode_of(const fs::path& file) {
  return fs::status(file).permissions();
}

}  // namespace

TEST_CASE("A runner enrols with the hash of a token that it keeps for itself") {
  const Scratch scratch;
  TokenService service;
  service.status = 503;  // at first
  OwnToken own(scratch / "cache/token", service.url());
  CHECK_FALSE(own.is_kept());
  REQUIRE(own.enrol("once", "lab", {}));
  REQUIRE(own.is_kept());
  CHECK(mode_of(own.file()) == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK_FALSE(fs::exists(own.next_file()));
  const auto posts = service.posts();
  REQUIRE(posts.size() == 2);
  CHECK(posts[0].body == posts[1].body);  // the same token, however often it asks
  CHECK(posts[1].body ==
        nlohmann::json{{"enrolment", "once"}, {"name", "lab"}, {"sha256", hash_of(own)}});
  CHECK(posts[1].authorization.empty());
}

TEST_CASE("A runner that was killed before it had kept its token presents the same one again") {
  const Scratch scratch;
  TokenService service;
  OwnToken own(scratch / "token", service.url());
  write_durably(own.next_file(), "drawn-before\n", 0600);
  REQUIRE(own.enrol("once", "lab", {}));
  CHECK(own.read() == "drawn-before");
  write_durably(own.next_file(), "drawn-later\n", 0600);  // killed again, in a replacement
  CHECK(OwnToken(scratch / "token", service.url()).read() == "drawn-before");
  REQUIRE(own.rotate());
  CHECK(own.read() == "drawn-later");
  CHECK(service.posts().back().body.at("sha256") == web::sha256("drawn-later").str());
  CHECK(service.posts().back().authorization == "Bearer drawn-before");
}

TEST_CASE("A refused runner says why and keeps nothing; a stop ends the waiting") {
  const Scratch scratch;
  TokenService service;
  service.status = 403;
  OwnToken own(scratch / "token", service.url());
  CHECK_THROWS_WITH(own.enrol("once", "lab", {}),
                    Catch::Contains("cannot enrol at") && Catch::Contains("403: not now"));
  CHECK_FALSE(own.is_kept());
  std::stop_source stop;
  stop.request_stop();
  OwnToken nobody(scratch / "other", "http://127.0.0.1:1");
  CHECK_FALSE(nobody.enrol("once", "lab", stop.get_token()));
}

TEST_CASE(
    "A token that is not replaced stays, and the next attempt draws another after a refusal") {
  const Scratch scratch;
  TokenService service;
  OwnToken own(scratch / "token", service.url());
  REQUIRE(own.enrol("once", "lab", {}));
  const std::string first = own.read();
  service.status = 409;
  CHECK_FALSE(own.rotate());
  CHECK(own.error().find("409: not now") != std::string::npos);
  CHECK(own.read() == first);
  service.status = 503;
  CHECK_FALSE(own.rotate());
  CHECK(own.read() == first);
  REQUIRE(own.rotate());
  CHECK(own.read() != first);
  const auto posts = service.posts();
  REQUIRE(posts.size() == 4);
  CHECK(posts[1].body != posts[2].body);
  CHECK(posts[2].body == posts[3].body);  // the service may have stored it
  CHECK(mode_of(own.file()) == (fs::perms::owner_read | fs::perms::owner_write));
}
