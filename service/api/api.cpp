#include "service/api/api.hpp"

#include <algorithm>

#include "service/api/enrolment.hpp"
#include "service/builds/artifacts.hpp"
#include "web/secret.hpp"
#include "web/text.hpp"

namespace nightjar::service::api {
namespace asio = boost::asio;

namespace {

constexpr std::uint64_t most_of_a_wheel = 16ull << 30;  // bytes; the largest known have four

// Wheels on their way never take more than half of what is meant for all of them.
UploadLimits upload_limits(const Artifacts& artifacts) {
  const std::uint64_t all = artifacts.limit_bytes() / 2;
  return {std::min(most_of_a_wheel, all), all};
}

}  // namespace

double Heartbeat::age_seconds(Instant now) const {
  const Instant last = last_;
  return last == Instant::min() ? -1 : std::chrono::duration<double>(now - last).count();
}

void Obstacles::set(std::vector<Obstacle> found) {
  const std::lock_guard lock(mutex_);
  found_ = std::move(found);
}

std::vector<Obstacle> Obstacles::get() const {
  const std::lock_guard lock(mutex_);
  return found_;
}

Context::Context(const Config& with, const Clock& time, storage::Database& writer_database,
                 const std::filesystem::path& database_file, const git::CommitGraph& with_commits,
                 Artifacts& with_artifacts, web::EventStream& with_events,
                 asio::any_io_executor io_executor, asio::any_io_executor write_executor,
                 asio::any_io_executor read_executor, asio::any_io_executor intake_executor,
                 std::function<void()> wake_engine)
    : config(with),
      clock(time),
      writer(writer_database),
      commits(with_commits),
      artifacts(with_artifacts),
      events(with_events),
      io(io_executor),
      write(write_executor),
      read(std::move(read_executor)),
      intake(std::move(intake_executor)),
      wake(std::move(wake_engine)),
      webhook_secret(service::webhook_secret(with)),
      readers(database_file),
      reads(read, Turns::Order::by_role),
      writes(write, Turns::Order::equal),
      bodies(intake, Turns::Order::equal),
      cache(database_file),
      claims(writer_database, time, with, std::move(io_executor), std::move(write_executor)),
      uploads(with.service.data / "uploads", upload_limits(with_artifacts)) {}

namespace {

web::ServerConfig without_tokens(const Config& config) {
  web::ServerConfig server;
  server.address = config.service.address;
  server.port = config.service.port;
  server.open_reads = config.service.open_reads;
  server.trusted_proxies = config.service.trusted_proxies;
  server.host_names = config.service.host_names;
  if (auto host = web::host_of(config.service.public_url.text()))
    server.host_names.push_back(*std::move(host));
  return server;
}

void add_all(Routes& routes, Tokens* tokens) {
  Context& context = routes.context;
  add_about_routes(routes);
  add_list_routes(routes);
  add_evidence_routes(routes);
  add_calibration_routes(routes);
  add_trust_routes(routes);
  add_cost_routes(routes);
  add_beside_routes(routes);
  add_suite_routes(routes);
  add_profile_routes(routes);
  add_extent_routes(routes);
  add_author_routes(routes);
  add_triage_routes(routes);
  add_comparison_routes(routes);
  add_series_history_routes(routes);
  add_night_routes(routes);
  add_job_routes(routes);
  add_report_routes(routes);
  add_mark_routes(routes);
  add_import_routes(routes);
  add_webhook_routes(routes);
  add_agent_routes(routes);
  if (tokens) add_enrolment_routes(routes, *tokens);
  add_sign_in_routes(routes, tokens ? &tokens->sign_in() : nullptr);
  add_source_build_routes(routes);
  add_artifact_routes(routes);
  add_demand_routes(routes);
  add_operation_routes(routes);
  routes.server.add_events("/api/v1/events", web::Role::read, context.events);
  routes.describe({.path = "/api/v1/events",
                   .id = "events",
                   .summary = "What happens, as server-sent events; Last-Event-ID resumes",
                   .answers = {{.text = "A stream that does not end.",
                                .schema = schema_of<std::string>(),
                                .type = "text/event-stream"}}});
  add_page_routes(routes);
  add_document_route(routes);
}

}  // namespace

web::ServerConfig server_config(const Config& config) {
  web::ServerConfig server = without_tokens(config);
  server.authenticate = [configured = config.tokens](std::string_view token) {
    return configured_principal(configured, web::sha256(token));
  };
  return server;
}

web::ServerConfig server_config(const Config& config, const Tokens& tokens) {
  web::ServerConfig server = without_tokens(config);
  server.authenticate = [&tokens](std::string_view token) { return tokens.principal_of(token); };
  if (config.sign_in.is_on())
    server.sessions = {
        std::string(session_cookie), browser_origin(config.service.public_url),
        [&tokens](std::string_view session) { return tokens.sign_in().sessions().find(session); }};
  return server;
}

void add_routes(web::Server& server, Context& context) {
  Routes routes(server, context);
  add_all(routes, nullptr);
}

void add_routes(web::Server& server, Context& context, Tokens& tokens) {
  Routes routes(server, context);
  add_all(routes, &tokens);
}

}  // namespace nightjar::service::api
