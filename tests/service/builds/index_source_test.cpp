#include "service/builds/index_source.hpp"

#include <catch2/catch.hpp>

#include "bisect/git/repository.hpp"
#include "service/builds/discovery.hpp"
#include "tests/service/builds/support.hpp"
#include "tests/support/loop_thread.hpp"
#include "tests/support/manual_clock.hpp"
#include "web/secret.hpp"
#include "web/server/server.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using nightjar::test::ScratchFolder;

namespace {

// An index on loopback: serves `page` for /cpu/torch/ and the files of `folder` below /files/.
struct LoopbackIndex {
  ScratchFolder folder;
  nightjar::test::LoopThread loop;
  web::Server server{loop.io, {}};
  std::string page;
  unsigned status = 200;
  std::string base = "http://127.0.0.1:" + std::to_string(server.port());

  LoopbackIndex() {
    web::Route list;
    list.pattern = "/cpu/torch/";
    list.handler = [this](const web::Request&, const web::Respond& respond) {
      web::Response response;
      response.status = status;
      response.content_type = "text/html";
      response.body = page;
      respond(response);
    };
    server.add(list);
    web::Route file;
    file.pattern = "/files/{name}";
    file.handler = [this](const web::Request& request, const web::Respond& respond) {
      web::Response response;
      const auto path = folder / request.parameters.at("name");
      if (std::filesystem::exists(path)) {
        response.content_type = "application/octet-stream";
        response.file = path;
      } else {
        response = web::problem(404, "Not found", "no such wheel");
      }
      respond(response);
    };
    server.add(file);
    server.start();
  }
  ~LoopbackIndex() {
    server.stop();
    loop.end();
  }
};

void git(const std::filesystem::path& folder, const std::string& arguments) {
  const std::string command =
      "git -C '" + folder.string() +
      "' -c user.name=Tester -c user.email=t@example.test -c init.defaultBranch=main " + arguments +
      " >/dev/null 2>&1";
  REQUIRE(std::system(command.c_str()) == 0);
}

}  // namespace

TEST_CASE_METHOD(LoopbackIndex, "an index over HTTP is listed and its wheels are downloaded") {
  nightjar::test::write_file(folder / "torch-2.15.0.dev20260820+cpu-cp311-cp311-linux_x86_64.whl",
                             "wheel");
  page =
      "<a href=\"../../files/torch-2.15.0.dev20260820%2Bcpu-cp311-cp311-linux_x86_64.whl\">"
      "<a href=\"" +
      base + "/files/torch-2.15.0.dev20260821%2Bcpu-cp311-cp311-any.whl\">";
  IndexSource source(base + "/cpu", {}, {"cpu", "cp311"});
  const auto wheels = source.list();
  REQUIRE(wheels.size() == 2);
  CHECK(source.problems().empty());
  CHECK(source.fetch(wheels[0], folder / "got") == web::sha256("wheel"));
  CHECK(nightjar::test::read_file(folder / "got") == "wheel");
  CHECK_THROWS_WITH(source.fetch(wheels[1], folder / "none"), Contains(wheels[1].url));
  CHECK_THROWS_AS(source.fetch(wheels[1], folder / "none"), WheelGone);
  CHECK_FALSE(std::filesystem::exists(folder / "none"));
}

TEST_CASE_METHOD(LoopbackIndex, "an index that answers with an error or with no index says which") {
  IndexSource source(base + "/cpu", {}, {"cpu", "cp311"});
  page = "<html>maintenance</html>";
  CHECK_THROWS_WITH(source.list(), Contains(base + "/cpu/torch/") && Contains("no index"));
  status = 503;
  CHECK_THROWS_WITH(source.list(), Contains(base + "/cpu/torch/ answered 503"));
  IndexSource elsewhere(base + "/cu130", {}, {"cu130", "cp311"});
  CHECK_THROWS_WITH(elsewhere.list(), Contains("/cu130/torch/ answered 404"));
}

TEST_CASE_METHOD(LoopbackIndex, "a nightly of an index and a git repository is found and proved") {
  const auto origin = folder / "origin";
  std::filesystem::create_directories(origin);
  git(origin, "init");
  nightjar::test::write_file(origin / "torch/__init__.py", "a = 1\n");
  git(origin, "add .");
  git(origin, "commit -m 'Begin (#1)'");
  git::RepositoryOptions copied;
  copied.url = origin.string();
  copied.path = folder / "copy.git";
  git::Repository graph(copied);
  git(origin, "branch nightly");
  graph.fetch();
  const CommitSha main_commit = *graph.resolve("main");
  git(origin, "checkout nightly");
  git(origin, "commit --allow-empty -m '2026-08-20 nightly release (" + main_commit.str() + ")'");
  graph.fetch();
  nightjar::test::WheelRecipe recipe;
  recipe.git_version = graph.resolve("nightly")->str();
  recipe.write(folder.path());
  page = "<a href='/files/torch-2.15.0.dev20260820%2Bcpu-cp311-cp311-linux_x86_64.whl'>";

  const ManualClock clock(*parse_rfc3339("2026-08-20T12:00:00Z"));
  Config config;
  IndexSource source(base + "/cpu", {}, {"cpu", "cp311"});
  Artifacts artifacts(folder / "artifacts", 1 << 20, clock);
  auto db = storage::Database::open_writer(":memory:");
  Discovery discovery(source, graph, artifacts, config, clock);
  const Changes changes = discovery.tick(db);
  REQUIRE(changes.settled);
  INFO(changes.settled->reason);
  CHECK(changes.settled->state == BuildState::proved);
  CHECK(changes.settled->commit == main_commit);
  CHECK(artifacts.holds(*changes.settled->sha256));
}
