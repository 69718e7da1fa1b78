#include "tests/simulation/service.hpp"

#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <sqlite3.h>

#include "service/api/routes.hpp"
#include "service/engine/engine.hpp"
#include "storage/builds.hpp"
#include "storage/connection.hpp"
#include "storage/jobs.hpp"
#include "storage/outbox.hpp"
#include "storage/regressions.hpp"

namespace nightjar::simulation {
namespace asio = boost::asio;
namespace {

std::filesystem::path database_file(const service::Config& config) {
  return config.service.data / "nightjar.sqlite";
}

// Reads the length from a head like "HTTP/1.1 200 OK\r\nContent-Length: 17\r\n...".
std::size_t content_length(const std::string& head) {
  constexpr std::string_view name = "Content-Length: ";
  const auto at = head.find(name);
  return at == std::string::npos ? 0 : std::stoul(head.substr(at + name.size()));
}

}  // namespace

Service::Service(const service::Config& config, const WallClock& clock,
                 const git::CommitGraph& graph, service::IssueTracker& tracker,
                 service::Artifacts& artifacts, FaultyDisk* disk)
    : config_(config),
      clock_(clock),
      disk_(disk),
      db_(storage::Database::open_writer(database_file(config))),
      artifacts_(artifacts),
      sender_(tracker, config.report.labels, clock),
      engine_{db_, graph, artifacts, config, clock, [](std::string_view, const std::string&) {}},
      context_(config, clock, db_, database_file(config), graph, artifacts, events_,
               io_.get_executor(), io_.get_executor(), io_.get_executor(), io_.get_executor(),
               [this] { woken_ = true; }),
      server_(io_, service::api::server_config(config)),
      clock_follower_(config.queue.lease) {
  service::api::Routes routes(server_, context_);
  service::api::add_agent_routes(routes);
  server_.start();
  guarded([&] {
    // Nobody else has the file: locking it for each query took a fifth of the time.
    db_.impl().execute("PRAGMA locking_mode = exclusive");
    storage::write(db_, storage::forget_unclaimable);
  });
}

Service::~Service() {
  sqlite3_commit_hook(db_.impl().connection, nullptr, nullptr);
  boost::system::error_code ignored;
  client_.set_option(asio::socket_base::linger(true, 0), ignored);
  client_.close(ignored);
  server_.stop();
  io_.poll();
}

// Works like the daemon: what fails because of the disk is tried again at the next tick.
template <class Act>
bool Service::guarded(Act act) {
  try {
    act();
    return true;
  } catch (const storage::Error&) {
    if (!dead_ && !disk_) throw;
    return false;
  }
}

bool Service::discover(const std::vector<Build>& wheels) {
  woken_ = true;
  return guarded([&] {
    storage::write(db_, [&](storage::Transaction& transaction) {
      for (const Build& build : wheels) storage::add_build(transaction, build);
    });
  });
}

void Service::follow_clock() {
  follows_clock_ = guarded([&] { clock_follower_.follow(db_, clock_.now(), clock_.steady()); });
}

bool Service::tick() {
  woken_ = false;
  if (!follows_clock_) return false;
  const bool changed = service::tick(engine_, true).changed;
  if (is_dead()) return changed;
  guarded([&] { service::pin_artifacts(engine_); });
  guarded([&] { send_next(); });
  return changed;
}

// The daemon's sender, without its thread. What cannot be recorded now is not sent again.
void Service::send_next() {
  if (unrecorded_) return record();
  const auto due = service::next_due(db_, clock_.now());
  if (!due) return;
  storage::write(db_, [&](storage::Transaction& transaction) {
    service::note_attempt(transaction, due->message, sender_, clock_.now());
  });
  unrecorded_.emplace(due->message, sender_.send(due->message, due->issue));
  record();
}

void Service::record() {
  storage::write(db_, [&](storage::Transaction& transaction) {
    service::store(transaction, unrecorded_->first, unrecorded_->second);
  });
  unrecorded_.reset();
  woken_ = true;
}

void Service::die_after(int survives) {
  commits_left_ = survives;
  sqlite3_commit_hook(db_.impl().connection, &on_commit, this);
}

int Service::on_commit(void* self) {
  auto& service = *static_cast<Service*>(self);
  if (service.commits_left_-- > 0) return 0;
  service.commits_left_ = 0;
  service.dead_ = true;
  return 1;
}

void Service::connect() {
  client_ = asio::ip::tcp::socket(io_);
  client_.connect({asio::ip::address_v4::loopback(), server_.port()});
  client_.set_option(asio::ip::tcp::no_delay(true));
}

namespace {

// Writes the claim into the head as an agent does; empty if the body has none, as with older
// agents.
std::string claim_head(const std::string& path, const std::string& body) {
  if (!path.ends_with("/result")) return {};
  const auto sent = nlohmann::json::parse(body, nullptr, false);
  if (!sent.is_object() || !sent.contains("attempt") || !sent.contains("nonce")) return {};
  return "Nightjar-Attempt: " + sent["attempt"].dump() +
         "\r\nNightjar-Nonce: " + sent["nonce"].get<std::string>() + "\r\n";
}

}  // namespace

Answer Service::post(const std::string& path, const std::string& body, const std::string& token) {
  const std::string request =
      "POST " + path + " HTTP/1.1\r\nHost: simulation\r\nAuthorization: " + "Bearer " + token +
      "\r\nContent-Type: application/json\r\n" + claim_head(path, body) +
      "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  Answer answer = exchange(request);
  if (is_dead()) return {};  // it died before it could answer
  return answer;
}

Answer Service::exchange(const std::string& request) {
  if (!client_.is_open()) connect();
  Answer answer;
  std::string text;
  bool over = false;
  boost::system::error_code failure;
  const auto rest = [&](boost::system::error_code error, std::size_t) {
    failure = error;
    over = true;
  };
  const auto head = [&](boost::system::error_code error, std::size_t size) {
    if (error) return rest(error, 0);
    answer.status = static_cast<unsigned>(std::stoul(text.substr(text.find(' ') + 1, 3)));
    const std::size_t whole = size + content_length(text.substr(0, size));
    const std::size_t missing = whole - std::min(whole, text.size());
    const auto keep = [&, size](boost::system::error_code read_error, std::size_t count) {
      if (!read_error) answer.json = nlohmann::json::parse(text.substr(size), nullptr, false);
      rest(read_error, count);
    };
    asio::async_read(client_, asio::dynamic_buffer(text), asio::transfer_exactly(missing), keep);
  };
  asio::async_write(client_, asio::buffer(request),
                    [&](boost::system::error_code error, std::size_t) {
                      if (error) return rest(error, 0);
                      asio::async_read_until(client_, asio::dynamic_buffer(text), "\r\n\r\n", head);
                    });
  while (!over) io_.run_one();
  // What was refused by its head alone ends the connection.
  if (text.substr(0, text.find("\r\n\r\n")).find("Connection: close") != text.npos) client_.close();
  if (failure) throw boost::system::system_error(failure, "simulated request");
  return answer;
}

}  // namespace nightjar::simulation
