#include "web/index_mirror.hpp"

#include <catch2/catch.hpp>

#include "storage/base/guarded_child.hpp"
#include "tests/web/bad_peer.hpp"
#include "tests/web/served.hpp"
#include "web/client.hpp"

using namespace nightjar;
using namespace nightjar::web;
using Catch::Contains;

namespace {

Handler page_of(std::string html) {
  return [html](const Request&, Respond respond) {
    Response response;
    response.content_type = "text/html";
    response.body = html;
    respond(response);
  };
}

// What another program gets by way of the mirror: curl, with the mirror's environment.
std::string asked(const IndexMirror& mirror, const std::string& url, bool knows_password = true) {
  auto environment = private_environment("/tmp");
  for (std::string variable : mirror.environment()) {
    if (const auto at = variable.find("uv:"); !knows_password && at != std::string::npos)
      variable.erase(at, variable.find('@') + 1 - at);
    environment.push_back(variable);
  }
  return run_guarded({"curl", "-s", "-m", "20", "-w", "%{http_code}", url}, environment, {}, {})
      .output;
}

}  // namespace

TEST_CASE("An installer sees the wheels of an index and nothing else") {
  Served index, trap;
  trap.server->add(route(Method::get, "/stolen-1-py3-none-any.whl", page_of("stolen")));
  trap.start();
  const std::string elsewhere = "http://127.0.0.1:" + std::to_string(trap.server->port());
  index.server->add(route(
      Method::get, "/simple/helper/",
      page_of(
          "<a href=\"helper-1-py3-none-any.whl#sha256=" + std::string(64, 'a') +
          "\" data-requires-python=\"&gt;=3.8\">x</a><a href=\"file:///etc/b-1-py3-none-any.whl\">"
          "<a href=\"helper-1.tar.gz\"><a href=\"" +
          elsewhere + "/stolen-1-py3-none-any.whl\"><a href=\"moved-1-py3-none-any.whl\">")));
  index.server->add(
      route(Method::get, "/simple/helper/helper-1-py3-none-any.whl", page_of("the wheel")));
  index.server->add(route(
      Method::get, "/simple/helper/moved-1-py3-none-any.whl", [&](const Request&, Respond respond) {
        Response response;
        response.status = 302;
        response.headers.emplace_back("Location", elsewhere + "/stolen-1-py3-none-any.whl");
        respond(response);
      }));
  index.start();
  const std::string address =
      "http://127.0.0.1:" + std::to_string(index.server->port()) + "/simple";
  const IndexMirror mirror({Address(address)}, Reach({address}));
  const std::string page = asked(mirror, mirror.urls().at(0) + "/helper/");
  CHECK_THAT(page, Contains("/helper-1-py3-none-any.whl#sha256=aaaa") &&
                       Contains("data-requires-python=\"&gt;=3.8\"") && Contains("200"));
  CHECK_THAT(page, !Contains("file:") && !Contains("tar.gz") && !Contains("127.0.0.1"));

  const auto href = [&](const std::string& name) {
    const auto end = page.find(name), begin = page.rfind('"', end) + 1;
    return "http://indexes.invalid" + page.substr(begin, end - begin) + name;
  };
  CHECK(asked(mirror, href("helper-1-py3-none-any.whl")) == "the wheel200");
  CHECK(mirror.failure().empty());
  CHECK_THAT(asked(mirror, href("stolen-1-py3-none-any.whl")), !Contains("stolen"));
  CHECK_THAT(mirror.failure(), Contains("which is an internal address"));
  CHECK_THAT(asked(mirror, href("moved-1-py3-none-any.whl")), !Contains("stolen"));
  CHECK(trap.server->counters().connections == 0);

  CHECK_THAT(asked(mirror, elsewhere + "/stolen-1-py3-none-any.whl"), Contains("403"));
  CHECK_THAT(asked(mirror, mirror.urls().at(0) + "/helper/", false), Contains("407"));
  CHECK_THAT(asked(mirror, mirror.urls().at(0) + "/none/"), Contains("404"));
  CHECK_THAT(asked(mirror, mirror.urls().at(0) + "/..%2F..%2F/"), Contains("404"));
  trap.stop();
  index.stop();
}

TEST_CASE("An index that stands still does not keep the mirror from its end") {
  const BadPeer index(Manner::stalls,
                      "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n");
  const auto begin = std::chrono::steady_clock::now();
  {
    const IndexMirror mirror({Address(index.url())}, Reach({index.url()}));
    auto environment = private_environment("/tmp");
    for (const std::string& variable : mirror.environment()) environment.push_back(variable);
    run_guarded({"curl", "-s", "-m", "1", mirror.urls().at(0) + "/helper/"}, environment, {}, {});
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}
