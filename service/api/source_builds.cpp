// The protocol of builders: the wheel in parts, the log, and what came of the build. And the logs
// for whoever reads about a build.
#include "storage/source_builds.hpp"

#include "service/api/agent_messages.hpp"
#include "service/api/claimant.hpp"
#include "service/api/result_reader.hpp"
#include "service/api/routes.hpp"
#include "service/builds/artifacts.hpp"
#include "service/builds/uploads.hpp"
#include "storage/base/log.hpp"
#include "storage/jobs.hpp"
#include "storage/runners.hpp"

namespace nightjar::service::api {
using nlohmann::json;
using storage::Database;
using web::Request;
namespace {

constexpr std::size_t part_bytes = 8u << 20;
constexpr std::size_t log_bytes = 16u << 20;
constexpr std::uint64_t most_log_bytes = 4ull << 30;  // of all logs

struct WheelPart {
  std::uint64_t received = 0;
  bool complete = false;
};

const Described<WheelPart>& wheel_part() {
  static const Described<WheelPart> made(
      "WheelPart", "How much of a wheel is here.",
      {{"received", &WheelPart::received, "The next part begins here."},
       {"complete", &WheelPart::complete, "All of it is here, and its hash is right."}});
  return made;
}

Query<std::int64_t> number_query(const char* name, const char* text) {
  const auto parse = [](const std::string& given) -> std::optional<std::int64_t> {
    if (given == "0") return 0;
    return parse_id(given);
  };
  Query<std::int64_t> made{name, text, Schema{{"type", "integer"}, {"minimum", 0}},
                           "a whole number from 0", parse};
  made.required = true;
  return made;
}

Query<Sha256> hash_query() {
  Query<Sha256> made{"sha256", "The hash of the whole wheel.", schema_of<Sha256>(),
                     "64 hexadecimal digits",
                     [](const std::string& given) { return Sha256::parse(given); }};
  made.required = true;
  return made;
}

const Query<std::string> nonce_query{"nonce", "As the claim was answered.",
                                     schema_of<std::string>(), "what the claim was answered with",
                                     [](const std::string& given) { return std::optional(given); }};
const Query<std::int64_t> attempt_query = number_query("attempt", "That holds the lease.");
const Query<std::int64_t> offset_query = number_query("offset", "Where this part begins.");
const Query<std::int64_t> size_query =
    number_query("size", "The size of the whole wheel, in bytes.");
const Query<Sha256> sha256_query = hash_query();

template <class T>
T required(const Query<T>& query, const Request& request) {
  if (auto value = query(request)) return *std::move(value);
  throw Refused(400, "Missing query parameter",
                request.path + " needs the query parameter '" + query.name + "'.");
}

// The build job of the path. 409 unless the sender made its latest claim and it still waits for an
// answer.
Job held_build(const Database& db, const Request& request, std::int64_t attempt) {
  const auto id = path_id<JobId>(request);
  auto job = storage::find_job(db, id);
  if (!job || job->spec.kind != JobKind::build) refuse_unknown("build job", id.value);
  const auto nonce = nonce_query(request);
  const auto claim = storage::claim_of(*job);
  const bool held = made_claim(db, claim, static_cast<int>(attempt), nonce, request.principal);
  if (!claim.is_open() || !held) refuse_lost(*job, static_cast<int>(attempt));
  return *std::move(job);
}

// By the head: whether this sender may send something for the job.
std::optional<web::Response> judge_build(const Database& db, const Request& request) {
  held_build(db, request, required(attempt_query, request));
  return std::nullopt;
}

// On a reader's thread: a wheel has hundreds of megabytes, so the writer never sees them.
web::Response take_part(Context& context, const Request& request) {
  const auto attempt = required(attempt_query, request);
  const auto offset = static_cast<std::uint64_t>(required(offset_query, request));
  const auto size = static_cast<std::uint64_t>(required(size_query, request));
  const Sha256 sha256 = required(sha256_query, request);
  if (size > context.uploads.limits().each)
    throw Refused(422, "Wheel too large",
                  "A wheel has at most " + std::to_string(context.uploads.limits().each) +
                      " bytes here; half of artifact_bytes is for wheels on their way.");
  if (size == 0 || offset > size || request.body.size() > size - offset)
    throw Refused(422, "Bad part", "The part does not lie within a wheel of this size.");
  const Job job = [&] {
    const auto reader = context.readers.borrow();
    return held_build(*reader, request, attempt);
  }();
  if (context.artifacts.holds(sha256)) return json_answer(wheel_part().write({size, true}));
  const Upload upload{job.id, *job.runner, sha256};
  const std::uint64_t received = context.uploads.append(upload, offset, request.body);
  context.artifacts.count_too(context.uploads.size_bytes());
  if (received > size) {
    context.uploads.remove(job.id);
    throw Refused(422, "Bad wheel", "More is here than the wheel has; send it again.");
  }
  if (received < size) return json_answer(wheel_part().write({received, false}));
  if (!context.uploads.finish(upload))
    throw Refused(422, "Bad wheel",
                  "What came has another hash than " + sha256.str() + "; send it again.");
  log::info("wheel received job={} sha256={} bytes={}", job.id.value, sha256.brief(), size);
  return json_answer(wheel_part().write({size, true}));
}

web::Response take_log(Context& context, const Request& request) {
  const Job job = [&] {
    const auto reader = context.readers.borrow();
    return held_build(*reader, request, required(attempt_query, request));
  }();
  store_log(context.config.service.data, job.id, request.body, most_log_bytes);
  return json_answer(done().write({}));
}

struct OutcomeRequest {
  int attempt;
  std::optional<std::string> nonce;
  json result;
};
BOOST_DESCRIBE_STRUCT(OutcomeRequest, (), (attempt, nonce, result))

const Described<OutcomeRequest>& outcome_request() {
  static const auto made = aggregate<OutcomeRequest>(
      "OutcomeRequest", "What came of a build.",
      {attempt_note(), nonce_note(), {"result", "", schema_of<SourceResult>()}});
  return made;
}

// "torch-2.15.0a0+git1234-cp311-cp311-linux_x86_64.whl" is version 2.15.0a0+git1234.
std::string version_in(const std::string& wheel_file) {
  const auto begin = wheel_file.find('-') + 1;
  const auto end = wheel_file.find('-', begin);
  if (begin == 0 || end == std::string::npos) return {};
  return wheel_file.substr(begin, end - begin);
}

Build build_of(const storage::SourceBuild& asked, const SourceResult& result, Time now) {
  Build build;
  build.kind = BuildKind::source;
  build.version = version_in(result.wheel_file);
  build.variant = asked.variant;
  build.url = "job:" + std::to_string(asked.job.value) + "/" + result.wheel_file;
  build.sha256 = result.sha256;
  build.found_at = now;
  return build;
}

// The wheel of a job whose outcome is taken becomes an artifact. It was hashed when its last part
// came.
void keep_wheel(Context& context, const Upload& upload) {
  if (context.artifacts.holds(upload.sha256)) return;
  const auto file = context.artifacts.temporary();
  if (!context.uploads.take(upload, file))
    throw Refused(409, "Wheel missing", "Send the wheel first, then what came of the build.");
  context.artifacts.count_too(context.uploads.size_bytes());
  context.artifacts.add(file, upload.sha256);
}

web::Response take_outcome(Database& db, Context& context, const Request& request) {
  const auto asked = parse_body(request, outcome_request());
  const auto id = path_id<JobId>(request);
  const auto source = storage::find_source_build(db, id);
  const auto job = storage::find_job(db, id);
  if (!source || !job) refuse_unknown("build job", id.value);
  SourceResult result;
  try {
    from_json(asked.result, result);
    cut(result.reason);
  } catch (const json::exception& error) {
    throw Refused(422, "Bad result", cause_of(error));
  }
  std::optional<Build> build;
  if (result.outcome == SourceOutcome::built) {
    build = build_of(*source, result, context.clock.now());
    if (build->version.empty())
      throw Refused(422, "Bad result", "'" + result.wheel_file + "' is no wheel's name.");
  }
  storage::Transaction transaction(db);
  auto accepted = storage::Accepted::stale;
  if (made_claim(db, storage::claim_of(*job), asked.attempt, asked.nonce, request.principal)) {
    accepted = storage::store_source_result(transaction, id, asked.attempt, result, build,
                                            context.clock.now());
    if (accepted == storage::Accepted::stored && build)
      keep_wheel(context, {id, *job->runner, *result.sha256});
    storage::touch_runner(transaction, *job->runner, context.clock.now());
  }
  transaction.commit();
  log::info("build ended job={} attempt={} accepted={} outcome={} reason=\"{}\"", id.value,
            asked.attempt, name_of(accepted), name_of(result.outcome), result.reason);
  if (accepted == storage::Accepted::stored) {
    context.uploads.remove(id);
    const auto state =
        result.outcome == SourceOutcome::infrastructure ? JobState::queued : JobState::done;
    context.events.publish("job", json{{"id", id}, {"state", state}}.dump());
    context.wake();
  }
  return json_answer(result_answer().write({accepted}));
}

web::Response show_log(Context& context, const Request& request) {
  const auto id = path_id<JobId>(request);
  const auto path = log_file(context.config.service.data, id);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw Refused(404, "Not found",
                  "Job " + std::to_string(id.value) + " is no build, or none of it has ended.");
  web::Response response;
  response.content_type = "text/plain; charset=utf-8";
  response.file = path;
  return response;
}

// Any error becomes the answer. A builder sends again what a full disk refused.
web::Handler handler(Context& context, web::Response (*work)(Context&, const Request&)) {
  return [&context, work](const Request& request, web::Respond respond) {
    try {
      respond(work(context, request));
    } catch (const Refused& refused) {
      respond(refused.response());
    } catch (const storage::Error& error) {
      respond(database_failed(context, error));
    } catch (const UploadsFull& full) {
      respond(web::problem(507, "Not stored",
                           "The part was not stored: " + std::string(full.what()) + "."));
    } catch (const std::exception& error) {
      log::error("a build's file was not taken path={} error=\"{}\"", request.path, error.what());
      respond(web::problem(507, "Not stored",
                           "The file could not be stored; the service's log "
                           "says why. Send it again later."));
    }
  };
}

}  // namespace

void add_source_build_routes(Routes& routes) {
  Context& context = routes.context;
  const Schema bytes{{"type", "string"}, {"format", "binary"}};
  const Schema text = schema_of<std::string>();
  constexpr Problem no_job{404, "BuildJobNotFound", "There is no such build job."};
  constexpr Problem lost{409, "BuildLeaseLost",
                         "The attempt does not hold the build any more, or its wheel is missing."};
  constexpr Problem wrong{422, "InvalidWheel",
                          "The wheel has another hash, or the result contradicts itself."};
  constexpr Problem full{507, "StorageFull", "The file was not stored; send it later."};
  routes.add_reading(
      {.path = "/api/v1/agent/jobs/{id}/wheel",
       .id = "send_wheel",
       .summary = "Send the next part of a wheel; an empty part asks where to go on",
       .method = web::Method::put,
       .role = web::Role::builder,
       .parameters = {attempt_query, nonce_query, offset_query, size_query, sha256_query},
       .body = Body{.schema = bytes, .required = false, .type = "application/octet-stream"},
       .answers = {{.schema = wheel_part().schema()}},
       .problems = {no_job, lost, wrong, full}},
      handler(context, take_part), part_bytes, judge_build);
  routes.add_reading({.path = "/api/v1/agent/jobs/{id}/log",
                      .id = "send_log",
                      .summary = "Send a build's log",
                      .method = web::Method::put,
                      .role = web::Role::builder,
                      .parameters = {attempt_query, nonce_query},
                      .body = Body{.schema = text, .type = "text/plain"},
                      .answers = {{.schema = done().schema()}},
                      .problems = {no_job, lost, full}},
                     handler(context, take_log), log_bytes, judge_build);
  routes.write({.path = "/api/v1/agent/jobs/{id}/outcome",
                .id = "send_outcome",
                .summary = "Say what came of a build",
                .method = web::Method::post,
                .role = web::Role::builder,
                .body = Body{outcome_request().schema()},
                .answers = {{.schema = result_answer().schema()}},
                .problems = {no_job, lost, wrong}},
               [&context](Database& db, const Request& request) {
                 return take_outcome(db, context, request);
               });
  routes.add_reading({.path = "/api/v1/jobs/{id}/log",
                      .id = "get_job_log",
                      .summary = "The log of a build's last attempt",
                      .answers = {{.text = "The log.", .schema = text, .type = "text/plain"}},
                      .problems = {no_job}},
                     handler(context, show_log));
}

}  // namespace nightjar::service::api
