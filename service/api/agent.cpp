// The protocol of the runner agent: register, claim, renew, result, fail, release.
#include <algorithm>
#include <spdlog/spdlog.h>

#include "service/api/query.hpp"
#include "service/api/respond.hpp"
#include "service/api/routes.hpp"
#include "storage/jobs.hpp"
#include "storage/model/json_io.hpp"
#include "storage/nights.hpp"
#include "storage/runners.hpp"
#include "storage/sessions.hpp"
#include "web/secret.hpp"

namespace nightjar::service::api {
using nlohmann::json;
using storage::Database;
using web::Request;
namespace {

constexpr double longest_wait_seconds = 60;
constexpr std::size_t result_bytes = 128u << 20;

// The fingerprint of a machine class: SHA-256 of "name=value\n" over the sorted facts.
MachineClass machine_of(const std::map<std::string, std::string>& facts) {
  std::string text;
  for (const auto& [name, value] : facts) text += name + "=" + value + "\n";
  return {{}, web::sha256(text), facts};
}

web::Response register_runner(Database& db, Context& context, const Request& request) {
  const auto body = parse_body(request, "register_runner");
  Runner runner;
  runner.name = field<std::string>(body, "name");
  runner.labels = field<std::map<std::string, std::string>>(body, "labels");
  runner.version = field<std::string>(body, "version");
  runner.workloads = field<std::vector<std::string>>(body, "workloads");
  storage::Transaction transaction(db);
  runner.machine =
      storage::intern_machine(transaction,
                              machine_of(field<std::map<std::string, std::string>>(body, "facts")))
          .id;
  runner.seen_at = context.clock.now();
  runner.token = request.principal.name;
  // A new process under the old name and token: what the old one held will never come back by
  // itself.
  const auto before = storage::find_runner(db, runner.name);
  if (before && before->token == runner.token) storage::return_jobs(transaction, before->id);
  runner = storage::register_runner(transaction, runner);
  storage::add_audit(transaction, {0, runner.seen_at, "token:" + request.principal.name,
                                   "register-runner", "runner/" + std::to_string(runner.id.value)});
  transaction.commit();
  spdlog::info("runner registered runner={} name={} workloads={}", runner.id.value, runner.name,
               runner.workloads.size());
  context.wake();
  return json_answer(json{{"runner", runner.id}, {"machine", runner.machine}});
}

// Of the job's path and the attempt in the body.
struct Attempt {
  Job job;
  int attempt = 0;
  json body;
};

Attempt attempt_of(Database& db, const Request& request, std::string_view operation_id) {
  const auto id = path_id<JobId>(request);
  auto body = parse_body(request, operation_id);
  const int attempt = field<int>(body, "attempt");
  auto job = storage::find_job(db, id);
  if (!job) refuse_unknown("job", id.value);
  return {*std::move(job), attempt, std::move(body)};
}

// Whoever speaks of a job it holds is alive, though it claims nothing meanwhile.
void touch(storage::Transaction& transaction, const Context& context, const Attempt& made) {
  if (made.job.runner && made.job.attempt == made.attempt)
    storage::touch_runner(transaction, *made.job.runner, context.clock.now());
}

[[noreturn]] void refuse_lost(const Attempt& made) {
  if (made.job.state == JobState::cancelled)
    throw Refused(409, "Job cancelled",
                  "Job " + std::to_string(made.job.id.value) +
                      " was cancelled: " + made.job.reason + "; stop working on it.");
  throw Refused(409, "Lease lost",
                "Attempt " + std::to_string(made.attempt) + " does not hold job " +
                    std::to_string(made.job.id.value) + " any more; stop working on it.");
}

web::Response renew(Database& db, Context& context, const Request& request) {
  const auto made = attempt_of(db, request, "renew_lease");
  const auto lease = context.config.queue.lease;
  storage::Transaction transaction(db);
  if (!storage::renew_lease(transaction, made.job.id, made.attempt, context.clock.now() + lease))
    refuse_lost(made);
  touch(transaction, context, made);
  transaction.commit();
  return json_answer(json{{"lease_seconds", lease.count()}});
}

web::Response take_result(Database& db, Context& context, const Request& request) {
  const auto made = attempt_of(db, request, "send_result");
  SessionResult result;
  storage::Accepted accepted = storage::Accepted::stale;
  storage::Transaction transaction(db);
  try {
    from_json(made.body.at("result"), result);
    accepted =
        storage::store_result(transaction, made.job.id, made.attempt, result, context.clock.now());
  } catch (const json::exception& error) {
    throw Refused(422, "Bad result", cause_of(error));
  } catch (const std::invalid_argument& error) {
    throw Refused(422, "Bad result", error.what());
  }
  touch(transaction, context, made);
  transaction.commit();
  const char* names[] = {"stored", "already_stored", "stale"};
  const char* name = names[static_cast<int>(accepted)];
  spdlog::info("result job={} attempt={} accepted={} runs={}", made.job.id.value, made.attempt,
               name, result.runs.size());
  if (accepted == storage::Accepted::stored) {
    context.events.publish("job", json{{"id", made.job.id}, {"state", JobState::done}}.dump());
    context.wake();
  }
  return json_answer(json{{"accepted", name}});
}

web::Response fail(Database& db, Context& context, const Request& request) {
  const auto made = attempt_of(db, request, "fail_job");
  const auto reason = field<std::string>(made.body, "reason");
  storage::Transaction transaction(db);
  if (!storage::fail_job(transaction, made.job.id, made.attempt, reason)) refuse_lost(made);
  touch(transaction, context, made);
  transaction.commit();
  spdlog::warn("job failed job={} attempt={} reason=\"{}\"", made.job.id.value, made.attempt,
               reason);
  context.events.publish("job", json{{"id", made.job.id}, {"state", JobState::failed}}.dump());
  context.wake();
  return json_answer(json{{"done", true}});
}

web::Response release(Database& db, Context& context, const Request& request) {
  const auto made = attempt_of(db, request, "release_job");
  storage::Transaction transaction(db);
  if (!storage::release_job(transaction, made.job.id, made.attempt)) refuse_lost(made);
  transaction.commit();
  spdlog::info("job released job={} attempt={}", made.job.id.value, made.attempt);
  context.claims.notify();
  context.wake();
  return json_answer(json{{"done", true}});
}

void claim(Context& context, const Request& request, web::Respond respond) {
  try {
    const auto body = parse_body(request, "claim_job");
    const auto runner = field<RunnerId>(body, "runner");
    const double wait = std::clamp(field<double>(body, "wait_seconds"), 0.0, longest_wait_seconds);
    context.claims.claim(request, runner, std::chrono::milliseconds(static_cast<long>(wait * 1000)),
                         respond);
  } catch (const Refused& refused) {
    respond(refused.response());
  } catch (const storage::Error& error) {
    respond(database_failed(context, error));
  } catch (const json::exception& error) {
    respond(web::problem(400, "Bad body", cause_of(error)));
  }
}

}  // namespace

void add_agent_routes(web::Server& server, Context& context) {
  const auto add = [&](const char* path, auto* work, std::size_t body_limit) {
    add_write(
        server, context, std::string("/api/v1/agent/") + path, web::Role::runner,
        [&context, work](Database& db, const Request& request) {
          return work(db, context, request);
        },
        body_limit);
  };
  add("register", register_runner, 1 << 20);
  add("jobs/{id}/renew", renew, 1 << 16);
  add("jobs/{id}/result", take_result, result_bytes);
  add("jobs/{id}/fail", fail, 1 << 20);
  add("jobs/{id}/release", release, 1 << 16);
  web::Route claims;
  claims.method = web::Method::post;
  claims.pattern = "/api/v1/agent/claim";
  claims.role = web::Role::runner;
  claims.executor = context.write;
  claims.handler = [&context](const Request& request, web::Respond respond) {
    claim(context, request, std::move(respond));
  };
  server.add(std::move(claims));
  server.on_stop([&context] { context.claims.stop(); });
}

}  // namespace nightjar::service::api
