#include "service/api/agent_messages.hpp"

#include "service/api/respond.hpp"

namespace nightjar::service::api {

BOOST_DESCRIBE_STRUCT(RegisterRequest, (), (name, labels, version, workloads, facts, instance))
BOOST_DESCRIBE_STRUCT(Registered, (), (runner, machine))
BOOST_DESCRIBE_STRUCT(ClaimRequest, (), (runner, instance, wait_seconds))
BOOST_DESCRIBE_STRUCT(LeaveRequest, (), (runner, instance))
BOOST_DESCRIBE_STRUCT(AttemptRequest, (), (attempt, nonce))
BOOST_DESCRIBE_STRUCT(FailRequest, (), (attempt, nonce, reason, transient))
BOOST_DESCRIBE_STRUCT(ResultRequest, (), (attempt, nonce, result))
BOOST_DESCRIBE_STRUCT(Lease, (), (lease_seconds))
BOOST_DESCRIBE_STRUCT(ResultAnswer, (), (accepted))
BOOST_DESCRIBE_STRUCT(Done, (), (done))

const Described<RegisterRequest>& register_request() {
  const auto name = named("Name", line_schema(200).with({{"minLength", 1}}));
  auto texts = map_of(named("Line", line_schema(4000)))
                   .with({{"description", "Texts by name."}, {"propertyNames", name.text}});
  texts.named.merge(std::map(name.named));
  const auto facts = named("Facts", texts);
  static const auto made = aggregate<RegisterRequest>(
      "RegisterRequest", "A runner presents itself.",
      {{"name", "", name},
       {"labels", "", facts},
       {"version", "", named("Line", line_schema(4000))},
       {"workloads", "<name>@<version>", list_of(name).with({{"maxItems", 2000}})},
       {"facts", "", facts},
       {"instance",
        "A random id that this host keeps. While it is live no other host may take its name.",
        named("Line", line_schema(4000)), true}});
  return made;
}

const Described<Registered>& registered() {
  static const auto made = aggregate<Registered>("Registered", "The runner and its machine class.");
  return made;
}

const Described<ClaimRequest>& claim_request() {
  static const auto made = aggregate<ClaimRequest>(
      "ClaimRequest", "A runner asks for work and waits for it.",
      {{"instance", "As it registered.", {}, true},
       {"wait_seconds", "How long to wait for work; at most 60.", {{"minimum", 0}}}});
  return made;
}

const Described<LeaveRequest>& leave_request() {
  static const auto made =
      aggregate<LeaveRequest>("LeaveRequest", "A runner ends and holds no job any more.",
                              {{"instance", "As it registered.", {}, true}});
  return made;
}

Note attempt_note() {
  return {
      "attempt", "",
      named("Attempt",
            {{"type", "integer"}, {"minimum", 1}, {"maximum", std::numeric_limits<int>::max()}})};
}

Note nonce_note() {
  return {"nonce", "As the claim was answered. Without it a job is not held.", {}, true};
}

const Described<AttemptRequest>& attempt_request() {
  static const auto made = aggregate<AttemptRequest>(
      "AttemptRequest", "Names the attempt that holds the lease.", {attempt_note(), nonce_note()});
  return made;
}

const Described<FailRequest>& fail_request() {
  static const auto made = aggregate<FailRequest>(
      "FailRequest", "The job cannot be done by this runner.",
      {attempt_note(),
       nonce_note(),
       {"reason", "", reason_schema()},
       {"transient",
        "Something on the runner's side was in the way: the job is queued again, and the runner "
        "gets no job for a while if it says so again and again.",
        {},
        true}});
  return made;
}

const Described<ResultRequest>& result_request() {
  static const auto made = aggregate<ResultRequest>(
      "ResultRequest", "The result of an attempt.",
      {attempt_note(), nonce_note(), {"result", "", schema_of<SessionResult>()}});
  return made;
}

const Described<ResultAnswer>& result_answer() {
  static const auto made = aggregate<ResultAnswer>("ResultAnswer", "What became of the result.");
  return made;
}

const Described<Lease>& lease_row() {
  static const auto made = aggregate<Lease>("Lease", "How long the lease holds from now.");
  return made;
}

const Described<Done>& done() {
  static const auto made = aggregate<Done>("Done", "It is done.");
  return made;
}

const Described<ClaimedJob>& claimed_job() {
  const auto of_job = [](auto get) {
    return [get](const ClaimedJob& claimed) { return std::invoke(get, claimed.job); };
  };
  static const Described<ClaimedJob> made(
      "ClaimedJob", "A job under a lease of this attempt.",
      {{"id", of_job(&Job::id)},
       {"attempt", of_job(&Job::attempt)},
       {"nonce", of_job(&Job::nonce), "To be said in all that is said of this attempt."},
       {"lease_seconds", &ClaimedJob::lease_seconds},
       {"spec", of_job(&Job::spec)}});
  return made;
}

}  // namespace nightjar::service::api
