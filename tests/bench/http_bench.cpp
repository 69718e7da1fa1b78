// Requests per second at 32 connections over 1 M stored runs: /healthz and /api/v1/regressions,
// each against a bare Beast handler that answers the same bytes. Both in turn, several times; the
// median of the ratios counts. `http_bench [RUNS|--ratio]`.
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "bisect/statistics.hpp"
#include "service/api/api.hpp"
#include "service/builds/artifacts.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/nights.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"
#include "tests/bench/ratio.hpp"
#include "tests/support/any_state.hpp"
#include "tests/support/autocommit.hpp"
#include "tests/support/literal_graph.hpp"
#include "web/client.hpp"

using namespace nightjar;
using nightjar::bisect::median;
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

namespace {

// How many runs are stored, and how often and for how long each side is asked.
struct Size {
  int runs = 1'000'000;
  int rounds = 9;
  std::chrono::milliseconds round{700};
};

constexpr Size short_size{5'000, 7, std::chrono::milliseconds(120)};
constexpr int connection_count = 32;
constexpr int session_runs = 1000;
constexpr int regression_count = 100;
constexpr double bound_share = .5;

// ---- what both answer from

JobSpec session_spec(storage::Database& db) {
  JobSpec spec;
  for (int i = 0; i < 2; ++i) {
    Build build;
    build.version = "2.15.0.dev2026082" + std::to_string(i) + "+cpu";
    build.variant = "cpu";
    build.date = "2026-08-2" + std::to_string(i);
    build.commit = CommitSha::parse(std::string(40, static_cast<char>('a' + i)));
    const auto id = storage::add_build(storage::Autocommit(db), build).id;
    spec.environments.push_back({id, "", "", *Sha256::parse(std::string(64, '2')), {}, "", ""});
  }
  for (int i = 0; i < 20; ++i) {
    const auto name = "python/m" + std::to_string(i) + "/eval/cpu/fp32/b4/eager";
    spec.workloads.push_back(
        storage::intern_workload(storage::Autocommit(db), *WorkloadName::parse(name), 1));
  }
  for (int i = 0; i < session_runs; ++i) spec.order.push_back({i % 2, i / 2 % 20});
  return spec;
}

void store_runs(storage::Database& db, int runs) {
  Job job;
  job.spec = session_spec(db);
  Runner runner;
  runner.name = "bench";
  runner.machine = job.machine =
      storage::intern_machine(storage::Autocommit(db),
                              {{}, *Sha256::parse(std::string(64, '1')), {}})
          .id;
  for (const auto& workload : job.spec.workloads) runner.workloads.add(workload.name.str() + "@1");
  runner = storage::register_runner(storage::Autocommit(db), runner);
  job.night = storage::add_night(storage::Autocommit(db), {}).id;
  SessionResult session;
  for (int order = 0; order < session_runs; ++order) {
    RunResult run;
    run.order = order;
    run.samples["latency"] = {.01, .0101, .0102, .0103, .0104, .0105, .0106, .0107, .0108, .0109};
    session.runs.push_back(std::move(run));
  }
  for (int stored = 0; stored < runs; stored += session_runs) {
    job.key = std::to_string(stored);
    storage::add_job(storage::Autocommit(db), job);
    const auto claimed =
        storage::claim_job(storage::Autocommit(db), runner, Time{}, Time{} + std::chrono::hours(1));
    storage::store_result(storage::Autocommit(db), claimed->id, 1, session, Time{});
  }
  for (int i = 0; i < regression_count; ++i) {
    Regression made;
    made.night = job.night;
    made.machine = job.machine;
    made.good = job.spec.environments[0].build;
    made.bad = job.spec.environments[1].build;
    made.part = i;
    for (const Series& series : storage::list_series(db, {}, {5, {}}).items)
      made.series.push_back({series.id, 1, 1.1, 1.1, 1.05, 1.15});
    made = storage::add_regression(storage::Autocommit(db), made,
                                   {RegressionState::suspected, Time{}, "{}"});
    made.culprit = Culprit{{*CommitSha::parse(std::string(40, 'c'))}, .995, 1.1, 1.05, 1.15};
    nightjar::test::change_to_any(storage::Autocommit(db), made,
                                  {RegressionState::blamed, Time{}, "{}"});
  }
}

// ---- the comparator: Beast's own parser and serializer, nothing else

class BareSession : public std::enable_shared_from_this<BareSession> {
 public:
  BareSession(tcp::socket socket, const std::string& body)
      : stream_(std::move(socket)), body_(body) {}
  void read() {
    request_ = {};
    stream_.expires_after(std::chrono::seconds(30));
    http::async_read(stream_, buffer_, request_, [self = shared_from_this()](auto error, auto) {
      if (!error) self->write();
    });
  }

 private:
  void write() {
    response_ = {http::status::ok, 11};
    response_.set(http::field::server, "bare");
    response_.set(http::field::content_type, "application/json");
    response_.keep_alive(request_.keep_alive());
    response_.body() = body_;
    response_.prepare_payload();
    http::async_write(stream_, response_, [self = shared_from_this()](auto error, auto) {
      if (!error) self->read();
    });
  }
  beast::tcp_stream stream_;
  const std::string& body_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

class BareServer {
 public:
  explicit BareServer(std::string body)
      : body_(std::move(body)), acceptor_(io_, {asio::ip::make_address("127.0.0.1"), 0}) {
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~BareServer() {
    io_.stop();
    thread_.join();
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  void accept() {
    acceptor_.async_accept([this](auto error, tcp::socket socket) {
      if (error) return;
      socket.set_option(tcp::no_delay(true));
      std::make_shared<BareSession>(std::move(socket), body_)->read();
      accept();
    });
  }
  std::string body_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  std::thread thread_;
};

// ---- the load: each connection asks, reads the whole answer, asks again

class Asker : public std::enable_shared_from_this<Asker> {
 public:
  Asker(asio::io_context& io, std::uint16_t port, const std::string& target, long& count)
      : socket_(io), request_("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n"), count_(count) {
    socket_.connect({asio::ip::make_address("127.0.0.1"), port});
    socket_.set_option(tcp::no_delay(true));
    asio::write(socket_, asio::buffer(request_));
    std::string head;
    const auto size = asio::read_until(socket_, asio::dynamic_buffer(head), "\r\n\r\n");
    const auto at = head.find("Content-Length: ");
    const auto length = std::stoul(head.substr(at + 16));
    answer_.resize(size + length);  // the same each time
    asio::read(socket_, asio::buffer(answer_.data(), answer_.size() - head.size()));
  }
  void ask() {
    asio::async_write(
        socket_, asio::buffer(request_), [self = shared_from_this()](auto error, auto) {
          if (error) return;
          asio::async_read(self->socket_, asio::buffer(self->answer_), [self](auto failed, auto) {
            if (failed) return;
            ++self->count_;
            self->ask();
          });
        });
  }

 private:
  tcp::socket socket_;
  std::string request_, answer_;
  long& count_;
};

double rate(std::uint16_t port, const std::string& target, std::chrono::milliseconds round) {
  asio::io_context io{1};
  long count = 0;
  for (int i = 0; i < connection_count; ++i)
    std::make_shared<Asker>(io, port, target, count)->ask();
  const auto start = std::chrono::steady_clock::now();
  io.run_for(round);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return static_cast<double>(count) / seconds.count();
}

struct Comparison {
  std::size_t bytes = 0;
  double ours = 0, bare = 0, ratio = 0;  // answers per second
  double first_ms = 0;                   // the first answer of all
};

// nullopt without an answer.
std::optional<Comparison> compare(std::uint16_t port, const std::string& target, const Size& size) {
  web::Client client;
  web::ClientRequest request;
  request.url = "http://127.0.0.1:" + std::to_string(port) + target;
  const auto start = std::chrono::steady_clock::now();
  const auto first = client.send(request);
  const std::chrono::duration<double, std::milli> alone = std::chrono::steady_clock::now() - start;
  if (!first || first.response->status != 200) return std::nullopt;
  BareServer bare(first.response->body);
  std::vector<double> ours, theirs, ratios;
  for (int round = 0; round < size.rounds; ++round) {
    ours.push_back(rate(port, target, size.round));
    theirs.push_back(rate(bare.port(), target, size.round));
    ratios.push_back(ours.back() / theirs.back());
  }
  return Comparison{first.response->body.size(), median(ours), median(theirs), median(ratios),
                    alone.count()};
}

// True if ours is at least the bound of the bare one.
bool print(const char* target, const std::optional<Comparison>& seen) {
  if (!seen) {
    std::printf("%-22s gave no answer\n", target);
    return false;
  }
  std::printf(
      "%-22s %7zu bytes  nightjar %8.0f/s  bare Beast %8.0f/s  ratio %.2f (at least %.2f)  "
      "first answer %.1f ms\n",
      target, seen->bytes, seen->ours, seen->bare, seen->ratio, bound_share, seen->first_ms);
  return seen->ratio >= bound_share;
}

}  // namespace

int main(int argc, char** argv) {
  const bool only_ratio = nightjar::test::wants_ratio(argc, argv);
  Size size = only_ratio ? short_size : Size{};
  if (!only_ratio && argc > 1) size.runs = std::atoi(argv[1]);
  const auto folder = std::filesystem::temp_directory_path() /
                      ("nightjar-http-bench-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  bool enough = true;
  {
    auto db = storage::Database::open_writer(folder / "bench.sqlite");
    store_runs(db, size.runs);
    if (!only_ratio) std::printf("%d runs stored\n", size.runs);
    service::Config config;
    config.service.data = folder;
    config.service.port = 0;
    SystemClock clock;
    service::Artifacts artifacts(folder / "artifacts", 1 << 20, clock);
    web::EventStream events;
    asio::thread_pool writer{1}, readers{2}, intake{1};
    asio::io_context io{1};
    git::LiteralGraph commits;
    service::api::Context context(config, clock, db, folder / "bench.sqlite", commits, artifacts,
                                  events, io.get_executor(), writer.get_executor(),
                                  readers.get_executor(), intake.get_executor(), [] {});
    web::Server server(io, service::api::server_config(config));
    service::api::add_routes(server, context);
    server.start();
    std::thread thread([&] { io.run(); });
    for (const auto& [name, target] :
         {std::pair("http_healthz", "/healthz"), std::pair("http_list", "/api/v1/regressions")}) {
      const auto seen = compare(server.port(), target, size);
      if (!only_ratio)
        enough = print(target, seen) && enough;
      else if (seen)
        nightjar::test::print_ratio(name, seen->ratio);
    }
    server.stop();
    thread.join();
    intake.join();
    writer.join();
    readers.join();
  }
  std::filesystem::remove_all(folder);
  return enough ? 0 : 1;
}
