// POST /enrolments and /agent/enrol: a one-time token becomes a runner's own. /agent/rotate
// replaces that one, /tokens/{id}/revoke ends it.
#include "service/api/enrolment.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "service/api/references.hpp"
#include "service/engine/jobs/live_runners.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/log.hpp"
#include "storage/jobs.hpp"
#include "storage/nights.hpp"
#include "storage/pools.hpp"
#include "storage/runners.hpp"
#include "storage/source_builds.hpp"
#include "web/jwt.hpp"
#include "web/secret.hpp"

namespace nightjar::service::api {
using storage::Database;
using storage::Enrolment;
using storage::EnrolmentState;
using storage::RunnerToken;
using storage::Transaction;
using web::Request;
namespace {

constexpr std::chrono::seconds usual_validity = std::chrono::hours(1);
constexpr int most_tokens = 100;  // of an enrolment within a day
constexpr std::size_t longest_jwt = 8192;
constexpr std::string_view oidc_actor = "oidc:";
constexpr int shortest_seconds = 1, longest_seconds = 30 * 24 * 3600;

struct EnrolmentRequest {
  std::optional<std::string> runner;
  std::optional<MachineId> machine;
  std::optional<bool> builder;
  std::optional<int> seconds;
};
BOOST_DESCRIBE_STRUCT(EnrolmentRequest, (), (runner, machine, builder, seconds))

Schema runner_name() {
  return named("Name", line_schema(200).with({{"minLength", 1}}));
}

const Described<EnrolmentRequest>& enrolment_request() {
  static const auto made =
      aggregate<EnrolmentRequest>(
          "", "",
          {{"runner",
            "The only name that it may take. What its tokens were before is revoked then. Default: "
            "any name that is free.",
            runner_name(), true},
           {"machine",
            "The only machine class that it may register. Default: that with which it registers "
            "first. Only a new enrolment lets it into another one.",
            {},
            true},
           {"builder",
            "Whether its runner may make wheels from source, which every runner then measures; "
            "default: no.",
            {},
            true},
           {"seconds",
            "How long the token can be used; default: an hour.",
            {{"minimum", shortest_seconds}, {"maximum", longest_seconds}},
            true}})
          .closed();
  return made;
}

struct NewEnrolment {
  Enrolment stored;
  std::string token;
};

const Described<NewEnrolment>& new_enrolment() {
  const auto stored = [](auto member) {
    return [member](const NewEnrolment& one) { return one.stored.*member; };
  };
  static const Described<NewEnrolment> made(
      "NewEnrolment", "A one-time token, which is told here and never again.",
      {{"id", stored(&Enrolment::id)},
       {"token", &NewEnrolment::token, "`nightjar-runner --enrol FILE` reads it from a file."},
       {"runner", [](const NewEnrolment& one) { return or_null(&Enrolment::runner)(one.stored); },
        "The only name that it may be used for; null: any that is free."},
       {"machine", [](const NewEnrolment& one) { return or_null(&Enrolment::machine)(one.stored); },
        "The only machine class of its runner; null: that with which it registers first."},
       {"builder", stored(&Enrolment::builder), "Its runner may make wheels."},
       {"ends_at", stored(&Enrolment::ends_at)}});
  return made;
}

const Row<Enrolment>& enrolment_row() {
  static const Row<Enrolment> made(
      "Enrolment", "A one-time token by which a runner enrols; it is not told again.",
      {{"id", &Enrolment::id},
       {"runner", or_null(&Enrolment::runner),
        "The only name that it may be used for; null: any that is free."},
       {"machine", or_null(&Enrolment::machine),
        "The only machine class of its runner; null: that with which it registers first."},
       {"builder", &Enrolment::builder, "Its runner may make wheels."},
       {"actor", &Enrolment::actor, "Who made it."},
       {"state",
        [](const Enrolment& one, Rows& rows) { return state_of(one, rows.context->clock.now()); }},
       {"made_at", &Enrolment::made_at},
       {"ends_at", &Enrolment::ends_at},
       {"used_at", &Enrolment::used_at},
       {"revoked_at", &Enrolment::revoked_at}});
  return made;
}

const Row<RunnerToken>& token_row() {
  static const Row<RunnerToken> made(
      "RunnerToken", "A token of one runner, which it got by enrolling.",
      {{"id", &RunnerToken::id},
       {"runner", &RunnerToken::runner, "The name that it is bound to."},
       {"enrolment", &RunnerToken::enrolment},
       {"builder", &RunnerToken::builder, "It may make wheels, as its enrolment says."},
       {"state",
        [](const RunnerToken& one, Rows& rows) { return state_of(one, rows.context->clock.now()); },
        "unused: the one before it is accepted until this one was used. ending: it was replaced, "
        "or it is a job's."},
       {"made_at", &RunnerToken::made_at},
       {"used_at", &RunnerToken::used_at, "For the first time."},
       {"ends_at", &RunnerToken::ends_at,
        "A job's from the beginning; another's once its successor was used."},
       {"revoked_at", &RunnerToken::revoked_at}});
  return made;
}

struct EnrolRequest {
  std::string enrolment, name;
  Sha256 sha256;
};
BOOST_DESCRIBE_STRUCT(EnrolRequest, (), (enrolment, name, sha256))

const Described<EnrolRequest>& enrol_request() {
  static const auto made = aggregate<EnrolRequest>(
      "EnrolRequest", "A runner presents a one-time token and the hash of one that it drew itself.",
      {{"enrolment", "The one-time token, or a JWT of an issuer that the service knows ([[oidc]]).",
        line_schema(longest_jwt)},
       {"name", "", runner_name()},
       {"sha256",
        "The hash of the token that becomes the runner's own. The service never sees the token."}});
  return made;
}

struct RotateRequest {
  Sha256 sha256;
};
BOOST_DESCRIBE_STRUCT(RotateRequest, (), (sha256))

const Described<RotateRequest>& rotate_request() {
  static const auto made = aggregate<RotateRequest>(
      "RotateRequest", "A runner replaces its own token by another one that it drew itself.",
      {{"sha256", "The hash of the new token. The service never sees the token."}});
  return made;
}

const Described<RunnerToken>& own_token() {
  static const Described<RunnerToken> made("OwnToken", "The token is this runner's from now on.",
                                           {{"id", &RunnerToken::id},
                                            {"runner", &RunnerToken::runner},
                                            {"made_at", &RunnerToken::made_at}});
  return made;
}

std::string subject_of(const Enrolment& enrolment) {
  return "enrolment/" + std::to_string(enrolment.id.value);
}
std::string subject_of(const RunnerToken& token) {
  return "token/" + std::to_string(token.id.value);
}

web::Response make_enrolment(Database& db, Context& context, const Request& request) {
  const auto asked = parse_body(request, enrolment_request());
  const Time now = context.clock.now();
  if (asked.machine) require_machine(db, *asked.machine);
  const auto validity = asked.seconds ? std::chrono::seconds(*asked.seconds) : usual_validity;
  const std::string token = web::random_token();
  NewEnrolment made{{{},
                     web::sha256(token),
                     asked.runner.value_or(""),
                     actor_of(request.principal),
                     now,
                     now + validity,
                     {},
                     {},
                     asked.machine.value_or(MachineId{}),
                     asked.builder.value_or(false)},
                    token};
  Transaction transaction(db);
  made.stored = storage::add_enrolment(transaction, made.stored);
  storage::add_audit(transaction,
                     {0, now, made.stored.actor, "make-enrolment", subject_of(made.stored)});
  transaction.commit();
  log::info("enrolment made enrolment={} by={} ends={}", made.stored.id.value, made.stored.actor,
            to_rfc3339(made.stored.ends_at));
  auto response = json_answer(new_enrolment().write(made), 201);
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

web::Response revoke_enrolment(Database& db, Context& context, const Request& request) {
  const auto id = path_id<storage::EnrolmentId>(request);
  const auto enrolment = storage::find_enrolment(db, id);
  if (!enrolment) refuse_unknown("enrolment", id.value);
  const std::string actor = actor_of(request.principal);
  Transaction transaction(db);
  if (!storage::revoke_enrolment(transaction, id, context.clock.now()))
    throw Refused(409, "Enrolment over",
                  "Enrolment " + std::to_string(id.value) +
                      " was used or revoked before. If it was used, revoke the runner's token.");
  storage::add_audit(transaction,
                     {0, context.clock.now(), actor, "revoke-enrolment", subject_of(*enrolment)});
  transaction.commit();
  log::info("enrolment revoked enrolment={} by={}", id.value, actor);
  Rows rows(db, &context);
  return json_answer(enrolment_row().write(*storage::find_enrolment(db, id), rows));
}

[[noreturn]] void refuse_enrolment(const std::string& why) {
  throw Refused(403, "Enrolment refused",
                why + " Ask an admin for a new one-time token (POST /api/v1/enrolments).");
}

// What does not let a runner in, and why.
void require_open(const Enrolment& enrolment, const EnrolRequest& asked, Time now) {
  switch (state_of(enrolment, now)) {
    case EnrolmentState::used:
      refuse_enrolment("This one-time token was used at " + to_rfc3339(*enrolment.used_at) + ".");
    case EnrolmentState::expired:
      refuse_enrolment("This one-time token expired at " + to_rfc3339(enrolment.ends_at) + ".");
    case EnrolmentState::revoked:
      refuse_enrolment("This one-time token was revoked at " + to_rfc3339(*enrolment.revoked_at) +
                       ".");
    case EnrolmentState::open:
      break;
  }
  if (!enrolment.runner.empty() && enrolment.runner != asked.name)
    refuse_enrolment("This one-time token is for a runner named '" + enrolment.runner + "', not '" +
                     asked.name + "'.");
}

// A one-time token, or a job's own one, which is used up by this request.
struct Permit {
  Enrolment enrolment;                              // id 0: not stored yet
  std::optional<std::chrono::hours> lifetime = {};  // of the runner's token; nullopt: no end
};

// Each JWT lets one runner in: what was signed is kept as an enrolment.
Permit permit_of_jwt(const Database& db, Issuers& issuers, const std::string& text, Time now) {
  try {
    const web::Jwt jwt = web::Jwt::parse(text);
    const auto verdict = issuers.judge(jwt, now);
    if (const auto* not_yet = std::get_if<Issuers::NotYet>(&verdict))
      throw Refused(503, "Keys not here yet", not_yet->reason + " Try again in a few seconds.");
    if (const auto* refused = std::get_if<Issuers::Refused>(&verdict))
      throw web::BadJwt(refused->reason);
    const web::JwtClaims& claims = jwt.claims();
    const Enrolment fresh{
        {},  web::sha256(jwt.signed_text()),
        "",  shortened(std::string(oidc_actor) + claims.issuer + " " + claims.subject, 300),
        now, std::max(claims.ends, now + std::chrono::seconds(1)),
        {},  {},
        {},  false};
    return {storage::find_enrolment(db, fresh.sha256).value_or(fresh),
            std::get<Issuers::Admitted>(verdict).by.lifetime};
  } catch (const web::BadJwt& bad) {
    throw Refused(403, "Enrolment refused",
                  std::string("This token of a job lets nobody in: ") + bad.what() + ".");
  }
}

Permit permit_of(const Database& db, Issuers& issuers, const std::string& token, Time now) {
  if (web::Jwt::is_like(token)) return permit_of_jwt(db, issuers, token, now);
  const auto enrolment = storage::find_enrolment(db, web::sha256(token));
  if (!enrolment) refuse_enrolment("This one-time token is not known here.");
  return {*enrolment};
}

// Whether all tokens of the runner's name came by the same issuer's word for the same subject.
bool is_same_subject(const Database& db, const std::vector<RunnerToken>& tokens,
                     const Enrolment& enrolment) {
  const bool by_issuer = enrolment.actor.starts_with(oidc_actor);
  return std::ranges::all_of(tokens, [&](const RunnerToken& token) {
    if (!by_issuer) return false;
    const auto before = storage::find_enrolment(db, token.enrolment);
    return before && before->actor == enrolment.actor;
  });
}

// An enrolment that names its runner may take over what has the name. One of an issuer may if the
// name was the same subject's, whose runner is gone; another one may not.
void require_free_name(const Database& db, const Context& context, const Enrolment& enrolment,
                       const EnrolRequest& asked) {
  if (!enrolment.runner.empty()) return;
  const Time now = context.clock.now();
  const auto known = storage::find_runner(db, asked.name);
  const bool live = known && is_live(*known, now, context.config);
  const auto tokens = storage::accepted_runner_tokens(db, asked.name, now);
  if (live || !is_same_subject(db, tokens, enrolment))
    throw Refused(409, "Name taken",
                  "There is a runner '" + asked.name +
                      "'. Take another --name, or ask an admin for a one-time token that names "
                      "this runner: it then takes the other's place.");
}

web::Response answer_own(const RunnerToken& token) {
  return json_answer(own_token().write(token));
}

[[noreturn]] void refuse_known() {
  throw Refused(409, "Token known", "A token with this hash was stored before; draw another one.");
}

// It would go on as a runner's when it is taken out of the configuration.
void refuse_configured(const Context& context, const Sha256& sha256) {
  for (const TokenConfig& token : context.config.tokens)
    if (token.sha256 == sha256.str()) refuse_known();
}

// A runner whose answer was lost asks again with the same hash: it has its token already.
std::optional<RunnerToken> stored_before(const Database& db, const Sha256& sha256,
                                         const std::string& runner, Time now) {
  auto known = storage::find_runner_token(db, sha256);
  if (!known) return std::nullopt;
  const auto state = state_of(*known, now);
  using enum storage::RunnerTokenState;
  if (known->runner != runner || state == ended || state == revoked) refuse_known();
  return known;
}

web::Response enrol(Database& db, Context& context, Tokens& tokens, const Request& request) {
  const auto asked = parse_body(request, enrol_request());
  const Time now = context.clock.now();
  const Permit permit = permit_of(db, tokens.issuers(), asked.enrolment, now);
  Enrolment enrolment = permit.enrolment;
  if (enrolment.used_at) {
    const auto known = stored_before(db, asked.sha256, asked.name, now);
    if (known && known->enrolment == enrolment.id) return answer_own(*known);
  }
  require_open(enrolment, asked, now);
  require_free_name(db, context, enrolment, asked);
  if (storage::find_runner_token(db, asked.sha256)) refuse_known();
  refuse_configured(context, asked.sha256);
  Transaction transaction(db);
  if (!enrolment.id) {
    enrolment = storage::add_enrolment(transaction, enrolment);
    storage::add_audit(transaction,
                       {0, now, enrolment.actor, "make-enrolment", subject_of(enrolment)});
  }
  storage::use_enrolment(transaction, enrolment.id, now);
  const int revoked = storage::revoke_runner_tokens(transaction, asked.name, now);
  const auto ends = permit.lifetime ? std::optional(now + *permit.lifetime) : std::nullopt;
  const RunnerToken token = storage::add_runner_token(
      transaction, {{}, asked.sha256, asked.name, enrolment.id, now, {}, ends, {}});
  storage::add_audit(transaction,
                     {0, now, subject_of(enrolment), "enrol-runner", subject_of(token)});
  transaction.commit();
  tokens.load(db);
  log::info("runner enrolled name={} token={} enrolment={} revoked_before={}", token.runner,
            token.id.value, enrolment.id.value, revoked);
  return answer_own(token);
}

// The token that a request was sent with.
std::optional<RunnerToken> own_token_of(const Database& db, const Request& request) {
  if (!bound_runner(request.principal.name)) return std::nullopt;
  const std::string header = request.header("authorization").value();
  return storage::find_runner_token(db, web::sha256(header.substr(sizeof "Bearer " - 1)));
}

web::Response rotate(Database& db, Context& context, Tokens& tokens, const Request& request) {
  const auto asked = parse_body(request, rotate_request());
  const Time now = context.clock.now();
  const auto old = own_token_of(db, request);
  if (!old)
    throw Refused(409, "Not a runner's own token",
                  "This token stands in the service's configuration and is replaced there. Only a "
                  "runner that has enrolled replaces its own.");
  if (const auto known = stored_before(db, asked.sha256, old->runner, now))
    return answer_own(*known);
  if (old->ends_at)
    throw Refused(409, "Token replaced",
                  "This token ends at " + to_rfc3339(*old->ends_at) +
                      ": it was replaced, or is a job's. It cannot be replaced (again).");
  refuse_configured(context, asked.sha256);
  if (storage::count_runner_tokens(db, old->enrolment, now - std::chrono::hours(24)) >= most_tokens)
    throw Refused(429, "Too many tokens",
                  "The runner '" + old->runner + "' was given " + std::to_string(most_tokens) +
                      " tokens within a day, and gets no more today.");
  Transaction transaction(db);
  storage::revoke_unused_successors(transaction, *old, now);
  const RunnerToken token = storage::add_runner_token(
      transaction, {{}, asked.sha256, old->runner, old->enrolment, now, {}, {}, {}});
  storage::add_audit(transaction,
                     {0, now, actor_of(request.principal), "rotate-token", subject_of(token)});
  transaction.commit();
  tokens.load(db);
  log::info("token rotated name={} token={} before={}", token.runner, token.id.value,
            old->id.value);
  return answer_own(token);
}

// What the runner holds is measured by others, and nothing waits for it any more.
void end_runner(Transaction& transaction, const std::string& name) {
  const auto runner = storage::find_runner(transaction, name);
  if (!runner || runner->token != principal_of_runner(name)) return;
  storage::PageRequest page;
  page.limit = 500;
  for (const Job& job : storage::list_jobs(transaction, {JobState::leased}, page).items)
    if (job.runner == runner->id) storage::release_job(transaction, job.id, job.attempt);
  storage::dismiss_runner(transaction, runner->id);
}

web::Response revoke_token(Database& db, Context& context, Tokens& tokens, const Request& request) {
  const auto id = path_id<storage::RunnerTokenId>(request);
  const auto token = storage::find_runner_token(db, id);
  if (!token) refuse_unknown("token", id.value);
  const Time now = context.clock.now();
  const std::string actor = actor_of(request.principal);
  Transaction transaction(db);
  if (storage::revoke_runner_tokens(transaction, token->runner, now) > 0) {
    end_runner(transaction, token->runner);
    storage::add_audit(transaction, {0, now, actor, "revoke-token", subject_of(*token)});
  }
  transaction.commit();
  tokens.load(db);
  log::info("tokens revoked name={} by={}", token->runner, actor);
  context.claims.notify();
  context.wake();
  Rows rows(db, &context);
  return json_answer(token_row().write(*storage::find_runner_token(db, id), rows));
}

// On the writer's executor.
void note_use(Context& context, Tokens& tokens, const Sha256& sha256) {
  try {
    const auto token = storage::find_runner_token(context.writer, sha256);
    if (!token || token->used_at) return;
    const Time now = context.clock.now();
    Transaction transaction(context.writer);
    storage::note_first_use(transaction, *token, now, token_grace);
    storage::add_audit(transaction, {0, now, "token:" + principal_of_runner(token->runner),
                                     "use-token", subject_of(*token)});
    transaction.commit();
    tokens.load(context.writer);
  } catch (const storage::Error& error) {  // the next request tries again
    log::error("the first use of a token is not stored error=\"{}\"", error.what());
  }
}

void add_admin_routes(Routes& routes, Tokens& tokens) {
  using enum Routes::Kept;
  Context& context = routes.context;
  const auto page = [](auto list) {
    return [list](Database& db, const Request&, const storage::PageRequest& of) {
      return list(db, of);
    };
  };
  // States change with the clock, so these are never kept.
  routes.list("enrolments", "One-time tokens for runners", enrolment_row(),
              page(storage::list_enrolments), {}, never, web::Role::admin);
  routes.list("tokens", "Tokens that runners got by enrolling", token_row(),
              page(storage::list_runner_tokens), {}, never, web::Role::admin);
  routes.write({.path = "/api/v1/enrolments",
                .id = "make_enrolment",
                .summary = "Make a one-time token, by which a runner gets a token of its own",
                .method = web::Method::post,
                .role = web::Role::admin,
                .body = Body{enrolment_request().schema()},
                .answers = {{.status = 201,
                             .text = "Made. The token is told here only.",
                             .schema = new_enrolment().schema()}},
                .problems = {{422, "MachineClassNotFound", "There is no such machine class."}}},
               [&context](Database& db, const Request& request) {
                 return make_enrolment(db, context, request);
               });
  routes.write({.path = "/api/v1/enrolments/{id}/revoke",
                .id = "revoke_enrolment",
                .summary = "End a one-time token that was not used",
                .method = web::Method::post,
                .role = web::Role::admin,
                .answers = {{.text = "Revoked.", .schema = enrolment_row().schema()}},
                .problems = {no_such_id, {409, "EnrolmentOver", "It was used or revoked before."}}},
               [&context](Database& db, const Request& request) {
                 return revoke_enrolment(db, context, request);
               });
  routes.write({.path = "/api/v1/tokens/{id}/revoke",
                .id = "revoke_token",
                .summary = "End all tokens of the runner that this one belongs to, at once",
                .method = web::Method::post,
                .role = web::Role::admin,
                .answers = {{.text = "Revoked. What the runner holds is queued again.",
                             .schema = token_row().schema()}},
                .problems = {no_such_id}},
               [&context, &tokens](Database& db, const Request& request) {
                 return revoke_token(db, context, tokens, request);
               });
}

void add_runner_routes(Routes& routes, Tokens& tokens) {
  Context& context = routes.context;
  constexpr std::size_t body_bytes = longest_jwt + (1 << 12);
  routes.write(
      {.path = "/api/v1/agent/enrol",
       .id = "enrol",
       .summary = "Present a one-time token, and get a token of one's own",
       .method = web::Method::post,
       .role = web::Role::none,
       .body = Body{enrol_request().schema()},
       .answers = {{.schema = own_token().schema()}},
       .problems =
           {{403, "EnrolmentRefused",
             "The one-time token is unknown, used, expired, revoked, or for another name; or a "
             "JWT lets nobody in."},
            {503, "KeysNotHereYet", "The issuer's keys are being fetched."},
            {409, "NameOrTokenTaken", "The name or the token is taken."}}},
      [&context, &tokens](Database& db, const Request& request) {
        return enrol(db, context, tokens, request);
      },
      body_bytes);
  routes.write(
      {.path = "/api/v1/agent/rotate",
       .id = "rotate_token",
       .summary = "Replace a runner's own token; the old one is accepted until the new "
                  "one was used, and ten minutes more",
       .method = web::Method::post,
       .role = web::Role::runner,
       .body = Body{rotate_request().schema()},
       .answers = {{.schema = own_token().schema()}},
       .problems = {{409, "TokenNotReplaceable",
                     "It stands in the configuration, or was replaced before."},
                    {429, "TooManyTokens", "Within a day this runner was given too many."}}},
      [&context, &tokens](Database& db, const Request& request) {
        return rotate(db, context, tokens, request);
      },
      body_bytes);
}

}  // namespace

void require_own_name(const Database& db, const web::Principal& sender, const std::string& runner,
                      Time now) {
  const auto bound = bound_runner(sender.name);
  if (bound && *bound != runner)
    throw Refused(403, "Another runner's name",
                  "This token is bound to the name '" + std::string(*bound) + "', not '" + runner +
                      "'. Start the runner under its own --name, or enrol it again.");
  if (!bound && !storage::accepted_runner_tokens(db, runner, now).empty())
    throw Refused(
        403, "Another runner's name",
        "The runner '" + runner + "' has enrolled, so only its own token may register that name.");
}

void require_may_build(const web::Principal& sender, const Runner& runner) {
  if (!storage::is_builder(runner) || web::may_act_as(sender, web::Role::builder)) return;
  throw Refused(403, "Insufficient role",
                "Runner '" + runner.name +
                    "' asks for builds, which needs a token of role builder; this one has role " +
                    std::string(name_of(sender.role)) +
                    ". Start the runner without --builder, or " +
                    (bound_runner(sender.name)
                         ? "enrol it again under its name with \"builder\": true "
                           "(POST /api/v1/enrolments)."
                         : "let the [[token]] '" + sender.name + "' have role = \"builder\"."));
}

namespace {

// "cpu_model=..., gpu=...": a class as a person knows it.
std::string class_line(const MachineClass& machine) {
  std::string line = class_text(machine.facts);
  line.resize(std::min<std::size_t>(line.size(), 400));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return "'" + line.substr(0, line.find_last_not_of(' ') + 1) + "'";
}

// The enrolment that the sender's own token came from.
std::optional<Enrolment> enrolment_of(const Database& db, std::string_view runner, Time now) {
  const auto tokens = storage::accepted_runner_tokens(db, runner, now);
  return tokens.empty() ? std::nullopt : storage::find_enrolment(db, tokens.back().enrolment);
}

}  // namespace

void require_own_class(Transaction& transaction, const Context& context,
                       const web::Principal& sender, const MachineClass& machine) {
  for (const TokenConfig& token : context.config.tokens)
    if (token.name == sender.name && !token.is_of(machine.fingerprint))
      throw Refused(403, "Another machine class",
                    "The token '" + token.name + "' may not register a machine of class " +
                        machine.fingerprint.str() + " " + class_line(machine) +
                        ". An admin adds it to the machine_classes of that [[token]].");
  const auto own = bound_runner(sender.name);
  if (!own) return;
  const auto enrolment = enrolment_of(transaction, *own, context.clock.now());
  if (!enrolment) return;
  if (!enrolment->machine) storage::bind_enrolment(transaction, enrolment->id, machine.id);
  if (enrolment->machine && enrolment->machine != machine.id)
    throw Refused(403, "Another machine class",
                  "The runner '" + std::string(*own) + "' is of machine class " +
                      std::to_string(enrolment->machine.value) +
                      ", and now registers a machine of another class, " + class_line(machine) +
                      ". If that is right, an admin enrols it again under its name "
                      "(POST /api/v1/enrolments).");
}

void add_enrolment_routes(Routes& routes, Tokens& tokens) {
  Context& context = routes.context;
  tokens.load(context.writer);
  tokens.on_first_use([&context, &tokens](const Sha256& sha256) {
    boost::asio::post(context.write,
                      [&context, &tokens, sha256] { note_use(context, tokens, sha256); });
  });
  add_admin_routes(routes, tokens);
  add_runner_routes(routes, tokens);
}

}  // namespace nightjar::service::api
