// A whole API on loopback over a database in a temporary folder, and a day's worth of rows in it.
#pragma once

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <filesystem>
#include <fstream>
#include <future>

#include <catch2/catch.hpp>

#include "service/api/api.hpp"
#include "service/api/tokens.hpp"
#include "service/builds/artifacts.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"
#include "storage/nights.hpp"
#include "storage/outbox.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"
#include "tests/support/literal_graph.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/web/served.hpp"
#include "web/client.hpp"
#include "web/secret.hpp"

namespace nightjar::service::api {

inline const Time evening = *parse_rfc3339("2026-08-20T20:00:00Z");
inline const std::string workload_text = "python/resnet18/eval/cpu/fp32/b4/eager";

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("nightjar-api-" + web::random_token().substr(0, 12));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

struct Reply {
  unsigned status = 0;
  std::map<std::string, std::string> headers;
  std::string text;
  nlohmann::json json;
};

class World {
 public:
  explicit World(std::vector<OidcConfig> oidc = {})
      : config(make_config(folder.path, std::move(oidc))),
        clock(evening),
        db(storage::Database::open_writer(folder.path / "nightjar.sqlite")),
        artifacts(folder.path / "artifacts", 1 << 30, clock),
        context(config, clock, db, folder.path / "nightjar.sqlite", commits, artifacts, events,
                io.get_executor(), writer.get_executor(), readers.get_executor(),
                intake.get_executor(), [this] { ++wakes; }),
        tokens(config, clock),
        server(io, server_config(config, tokens)) {
    add_routes(server, context, tokens);
    context.heartbeat.beat(std::chrono::steady_clock::now());
    server.start();
    thread = std::thread([this] { io.run(); });
  }
  ~World() {
    stop();
    intake.join();
    writer.join();
    readers.join();
  }
  void stop() {
    if (!thread.joinable()) return;
    server.stop();
    thread.join();
  }

  // Runs `work` where the engine would.
  template <class Work>
  auto on_writer(Work work) {
    std::packaged_task<decltype(work())()> task(std::move(work));
    auto result = task.get_future();
    boost::asio::post(writer, std::move(task));
    return result.get();
  }
  Reply send(const std::string& method, const std::string& target, const std::string& token = "",
             const std::string& body = "",
             std::vector<std::pair<std::string, std::string>> headers = {}) {
    web::Client client;
    web::ClientRequest request;
    request.method = method;
    request.url = "http://127.0.0.1:" + std::to_string(server.port()) + target;
    request.headers = std::move(headers);
    if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
    request.body = body;
    const auto result = client.send(request);
    if (!result) throw std::runtime_error(result.failure.what);
    return {result.response->status, result.response->headers, result.response->body,
            nlohmann::json::parse(result.response->body, nullptr, false)};
  }
  Reply get(const std::string& target) { return send("GET", target); }
  Reply post(const std::string& target, const nlohmann::json& body,
             const std::string& token = "runner") {
    return send("POST", target, token, body.dump());
  }

  static Config make_config(const std::filesystem::path& data, std::vector<OidcConfig> oidc) {
    Config made;
    made.oidc = std::move(oidc);
    made.service.data = data;
    made.service.port = 0;
    for (const auto role : {web::Role::read, web::Role::import, web::Role::runner,
                            web::Role::builder, web::Role::admin})
      made.tokens.push_back(
          {"t-" + std::string(name_of(role)), role, web::sha256(std::string(name_of(role))).str()});
    made.webhook.secret_file = data / "secret";
    std::ofstream(made.webhook.secret_file) << "hush\n";
    made.webhook.repository = "octo/pytorch";
    return made;
  }

  Folder folder;
  Config config;
  ManualClock clock;
  storage::Database db;
  git::LiteralGraph commits;
  Artifacts artifacts;
  web::EventStream events;
  std::atomic<int> wakes{0};
  boost::asio::thread_pool writer{1}, readers{2}, intake{1};
  boost::asio::io_context io{1};
  Context context;
  Tokens tokens;
  web::Server server;
  std::thread thread;
};

}  // namespace nightjar::service::api
