// The protocol of the runner agent: register, claim, renew, result, fail, release, leave.
#include <algorithm>

#include "service/api/agent_messages.hpp"
#include "service/api/claimant.hpp"
#include "service/api/enrolment.hpp"
#include "service/api/registrations.hpp"
#include "service/api/result_check.hpp"
#include "service/api/result_reader.hpp"
#include "service/api/routes.hpp"
#include "service/engine/jobs/live_runners.hpp"
#include "storage/base/foreign_number.hpp"
#include "storage/base/log.hpp"
#include "storage/base/machine_class.hpp"
#include "storage/jobs.hpp"
#include "storage/nights.hpp"
#include "storage/pools.hpp"
#include "storage/runners.hpp"
#include "storage/sessions.hpp"
#include "storage/source_builds.hpp"
#include "web/secret.hpp"

namespace nightjar::service::api {
using nlohmann::json;
using storage::Database;
using web::Request;
namespace {

constexpr double longest_wait_seconds = 60;
constexpr std::size_t registration_bytes = 1 << 19;

// Two hosts under one name would take turns in being one runner.
void refuse_twin(const Context& context, const Runner& known, const std::string& instance) {
  if (known.instance.empty() || known.instance == instance ||
      !is_live(known, context.clock.now(), context.config))
    return;
  throw Refused(409, "Name taken",
                "Another host works as runner '" + known.name +
                    "' and was seen lately. Start this one with a --name of its own.");
}

web::Response register_runner(Database& db, Context& context, Registrations& registrations,
                              const web::Principal& sender, const RegisterRequest& asked) {
  Runner runner;
  runner.name = asked.name;
  require_own_name(db, sender, runner.name, context.clock.now());
  runner.labels = asked.labels;
  require_may_build(sender, runner);
  runner.version = asked.version;
  runner.workloads = asked.workloads;
  storage::Transaction transaction(db);
  const MachineClass machine = storage::intern_machine(transaction, machine_class(asked.facts));
  require_own_class(transaction, context, sender, machine);
  runner.machine = machine.id;
  runner.seen_at = context.clock.now();
  runner.token = sender.name;
  runner.instance = asked.instance.value_or("");
  const bool is_new = registrations.add(db, runner);
  runner.facts = storage::intern_facts(transaction, machine, runner.seen_at);
  // A new process under the old name and token: what the old one held will never come back by
  // itself.
  const auto before = storage::find_runner(db, runner.name);
  if (before) refuse_twin(context, *before, runner.instance);
  if (before && before->token == runner.token && before->instance == runner.instance)
    storage::return_jobs(transaction, before->id);
  runner = storage::register_runner(transaction, runner);
  if (is_new || !before)  // or a runner could fill the audit
    storage::add_audit(transaction, {0, runner.seen_at, actor_of(sender), "register-runner",
                                     "runner/" + std::to_string(runner.id.value)});
  transaction.commit();
  log::info("runner registered runner={} name={} workloads={}", runner.id.value, runner.name,
            runner.workloads.size());
  context.wake();
  return json_answer(registered().write({runner.id, runner.machine}));
}

Routes::ReadBody read_registrations(Context& context) {
  return [&context, all = std::make_shared<Registrations>()](const Request& request) {
    auto asked = std::make_shared<const RegisterRequest>(parse_body(request, register_request()));
    return [&context, all, asked = std::move(asked), sender = request.principal](Database& db) {
      return register_runner(db, context, *all, sender, *asked);
    };
  };
}

// The job of the path, and the body, which names an attempt. `held`: the sender made the claim.
template <class Body>
struct Attempt {
  Body body;
  Job job;
  bool held = false;
  int attempt() const { return body.attempt; }
};

template <class Body>
Attempt<Body> attempt_of(Database& db, const Request& request, const Described<Body>& described) {
  const auto id = path_id<JobId>(request);
  auto body = parse_body(request, described);
  auto job = storage::find_job(db, id);
  if (!job) refuse_unknown("job", id.value);
  const bool held =
      made_claim(db, storage::claim_of(*job), body.attempt, body.nonce, request.principal);
  return {std::move(body), *std::move(job), held};
}

// Counts a runner that reports on its job as alive, although it claims nothing meanwhile.
template <class Body>
void touch(storage::Transaction& transaction, const Context& context, const Attempt<Body>& made) {
  if (made.held) storage::touch_runner(transaction, *made.job.runner, context.clock.now());
}

web::Response renew(Database& db, Context& context, const Request& request) {
  const auto made = attempt_of(db, request, attempt_request());
  if (!made.held) refuse_lost(made.job, made.attempt());
  const auto lease = context.config.queue.lease;
  storage::Transaction transaction(db);
  if (!storage::renew_lease(transaction, made.job.id, made.attempt(), context.clock.now() + lease))
    refuse_lost(made.job, made.attempt());
  touch(transaction, context, made);
  transaction.commit();
  return json_answer(lease_row().write({lease.count()}));
}

web::Response said_of_result(storage::Accepted accepted) {
  return json_answer(result_answer().write({accepted}));
}

[[noreturn]] void refuse_build_job() {
  throw Refused(422, "Bad result", "A build job has an outcome, not a session's result.");
}

// By the head: whether there is such a job, and whether its claim was made by this sender. The
// agents of one version before say attempt and nonce in the body alone.
std::optional<web::Response> judge_result(const Database& db, const Request& request) {
  const auto id = path_id<JobId>(request);
  const auto job = storage::find_claim(db, id);
  if (!job) refuse_unknown("job", id.value);
  if (job->kind == JobKind::build) refuse_build_job();
  const auto attempt = attempt_header(request);
  const bool held = attempt
                        ? made_claim(db, *job, *attempt, nonce_header(request), request.principal)
                        : registered_claimant(db, *job, request.principal);
  if (held && job->is_open()) return std::nullopt;
  return said_of_result(job->state == JobState::done ? storage::Accepted::already_stored
                                                     : storage::Accepted::stale);
}

web::Response store_result(Database& db, Context& context, const Request& asked,
                           const ReadResult& read) {
  const auto id = path_id<JobId>(asked);
  const auto job = storage::find_job(db, id);
  if (!job) refuse_unknown("job", id.value);
  if (job->spec.kind == JobKind::build) refuse_build_job();
  if (const auto found = impossible_in(job->spec, read.result); !found.empty())
    throw Refused(422, "Bad result", "The result cannot be one of this job: " + found + ".");
  const bool held =
      made_claim(db, storage::claim_of(*job), read.attempt, read.nonce, asked.principal);
  storage::Accepted accepted = storage::Accepted::stale;
  storage::Transaction transaction(db);
  try {
    if (held)
      accepted =
          storage::store_result(transaction, id, read.attempt, read.result, context.clock.now());
  } catch (const std::invalid_argument& error) {
    throw Refused(422, "Bad result", error.what());
  }
  if (held) storage::touch_runner(transaction, *job->runner, context.clock.now());
  transaction.commit();
  log::info("result job={} attempt={} accepted={} runs={} bad_runs={}", id.value, read.attempt,
            name_of(accepted), read.result.runs.size(), read.bad_runs);
  if (accepted == storage::Accepted::stored) {
    context.events.publish("job", json{{"id", id}, {"state", JobState::done}}.dump());
    context.wake();
  }
  return said_of_result(accepted);
}

Routes::Store take_result(Context& context, const Request& request) {
  auto read = std::make_shared<const ReadResult>(read_result(request));
  Request asked;  // without its body
  asked.path = request.path;
  asked.parameters = request.parameters;
  asked.principal = request.principal;
  return [&context, read = std::move(read), asked = std::move(asked)](Database& db) {
    return store_result(db, context, asked, *read);
  };
}

web::Response fail(Database& db, Context& context, const Request& request) {
  const auto made = attempt_of(db, request, fail_request());
  if (!made.held) refuse_lost(made.job, made.attempt());
  const std::string& reason = made.body.reason;
  const JobId id = made.job.id;
  const Time now = context.clock.now();
  storage::Transaction transaction(db);
  // If a runner gives a build up, the commit is not to blame.
  const bool taken = made.job.spec.kind == JobKind::build
                         ? storage::put_off_build(transaction, id, made.attempt(), reason, now)
                     : made.body.transient
                         ? storage::put_off_job(transaction, id, made.attempt(), reason, now)
                         : storage::fail_job(transaction, id, made.attempt(), reason);
  if (!taken) refuse_lost(made.job, made.attempt());
  touch(transaction, context, made);
  const JobState state = storage::find_job(transaction, id).value().state;
  transaction.commit();
  context.uploads.remove(id);  // a build's wheel goes with it
  log::warn("job {} job={} attempt={} reason=\"{}\"",
            state == JobState::failed ? "failed" : "put off", id.value, made.attempt(), reason);
  context.events.publish("job", json{{"id", id}, {"state", state}}.dump());
  context.wake();
  return json_answer(done().write({}));
}

web::Response release(Database& db, Context& context, const Request& request) {
  const auto made = attempt_of(db, request, attempt_request());
  if (!made.held) refuse_lost(made.job, made.attempt());
  storage::Transaction transaction(db);
  if (!storage::release_job(transaction, made.job.id, made.attempt()))
    refuse_lost(made.job, made.attempt());
  transaction.commit();
  log::info("job released job={} attempt={}", made.job.id.value, made.attempt());
  context.claims.notify();
  context.wake();
  return json_answer(done().write({}));
}

// Another host or another token may have registered the name since. nullopt: there is no such
// runner.
template <class Asked>
std::optional<Runner> require_registered(const Context& context, const Request& request,
                                         const Asked& asked) {
  auto runner = storage::find_runner(context.writer, asked.runner);
  if (!runner) return std::nullopt;
  const bool same_token = runner->token.empty() || runner->token == request.principal.name;
  if (!same_token || runner->instance != asked.instance.value_or(""))
    throw Refused(404, "Unknown runner",
                  "Runner " + std::to_string(asked.runner.value) + " was registered by another " +
                      (same_token ? "host" : "token") + "; register again.");
  return runner;
}

web::Response leave(Database& db, Context& context, const Request& request) {
  const auto asked = parse_body(request, leave_request());
  if (!require_registered(context, request, asked)) refuse_unknown("runner", asked.runner.value);
  storage::Transaction transaction(db);
  storage::dismiss_runner(transaction, asked.runner);
  transaction.commit();
  log::info("runner left runner={}", asked.runner.value);
  context.claims.notify();
  return json_answer(done().write({}));
}

void claim(Context& context, const Request& request, web::Respond respond) {
  try {
    const auto asked = parse_body(request, claim_request());
    const auto runner = require_registered(context, request, asked);
    // It may have registered before its token lost the role, or before there was one.
    if (runner) require_may_build(request.principal, *runner);
    const double wait = std::clamp(asked.wait_seconds, 0.0, longest_wait_seconds);
    context.claims.claim(request, asked.runner,
                         std::chrono::milliseconds(clamped_integer<long>(wait * 1000)), respond);
  } catch (const Refused& refused) {
    respond(refused.response());
  } catch (const storage::Error& error) {
    respond(database_failed(context, error));
  } catch (const json::exception& error) {
    respond(web::problem(400, "Bad body", cause_of(error)));
  }
}

}  // namespace

void add_agent_routes(Routes& routes) {
  Context& context = routes.context;
  const auto operation = [](const char* path, const char* id, const char* summary,
                            const Schema& body, const Schema& answer,
                            std::vector<Problem> problems = {}) {
    return Operation{.path = std::string("/api/v1/agent/") + path,
                     .id = id,
                     .summary = summary,
                     .method = web::Method::post,
                     .role = web::Role::runner,
                     .body = Body{body},
                     .answers = {{.schema = answer}},
                     .problems = std::move(problems)};
  };
  const auto add = [&](Operation made, auto* work, std::size_t body_limit) {
    routes.write(
        std::move(made),
        [&context, work](Database& db, const Request& request) {
          return work(db, context, request);
        },
        body_limit);
  };
  constexpr Problem no_job{404, "JobNotFound", "There is no such job."};
  constexpr Problem lost{409, "LeaseLost", "The lease is lost: stop the job."};
  constexpr Problem unknown{422, "UnprocessableBody",
                            "The body is well-formed, but names what there is not or was not asked "
                            "for; detail says what."};
  // Its workloads are many, so that the writer only stores them.
  routes.take(
      operation("register", "register_runner", "Present a runner", register_request().schema(),
                registered().schema(),
                {{409, "NameTaken", "Another live host works under this name."},
                 {429, "TooManyRegistrations",
                  "The token's runners, machine classes or workloads of a day are too many; "
                  "detail says which."}}),
      {}, read_registrations(context), registration_bytes);
  add(operation("jobs/{id}/renew", "renew_lease", "Keep the lease", attempt_request().schema(),
                lease_row().schema(), {no_job, lost}),
      renew, 1 << 16);
  auto result = operation("jobs/{id}/result", "send_result", "Send the result",
                          result_request().schema(), result_answer().schema(), {no_job, unknown});
  result.parameters = claim_headers();
  routes.take(
      std::move(result), judge_result,
      [&context](const Request& request) { return take_result(context, request); }, result_bytes);
  add(operation("jobs/{id}/fail", "fail_job", "Give a job up for good", fail_request().schema(),
                done().schema(), {no_job, lost}),
      fail, 1 << 20);
  add(operation("jobs/{id}/release", "release_job", "Give a job back to the queue",
                attempt_request().schema(), done().schema(), {no_job, lost}),
      release, 1 << 16);
  constexpr Problem not_registered{404, "RunnerNotRegistered",
                                   "The runner is not registered: register again."};
  add(operation("leave", "leave", "Say that this runner ends", leave_request().schema(),
                done().schema(), {not_registered}),
      leave, 1 << 16);
  auto claims = operation("claim", "claim_job", "Ask for a job; waits for one",
                          claim_request().schema(), claimed_job().schema(), {not_registered});
  claims.answers.push_back({.status = 204, .text = "Nothing to do."});
  routes.add(std::move(claims),
             context.writes.in_turn([&context](const Request& request, web::Respond respond) {
               claim(context, request, std::move(respond));
             }));
  routes.server.on_stop([&context] { context.claims.stop(); });
}

}  // namespace nightjar::service::api
