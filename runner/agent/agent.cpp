#include "runner/agent/agent.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "runner/process/failure.hpp"
#include "runner/process/wait.hpp"
#include "runner/run/session.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"
#include "storage/base/log.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"
#include "web/secret.hpp"

namespace nightjar::runner {

namespace {

constexpr std::chrono::minutes too_large_pause{10};  // until a proxy may have been mended

// Returns this agent's id. It is kept in the cache, so that it is the same after a restart.
std::string own_instance(const std::filesystem::path& cache) {
  const auto file = cache / "instance";
  if (const auto kept = read_file(file); kept && !kept->empty()) return *kept;
  std::filesystem::create_directories(cache);
  const std::string made = web::random_token();
  write_durably(file, made);
  return made;
}

// The claim that a kept result belongs to.
Claim claim_of(const Spool::Entry& entry, const std::string& text) {
  Claim claim;
  claim.job = entry.job;
  claim.attempt = entry.attempt;
  const auto kept = parse_foreign(text);
  if (kept.is_object()) claim.nonce = text_in(kept, "nonce");
  return claim;
}

}  // namespace

Agent::Agent(AgentConfig config, Executor& executor, const Clock& clock)
    : config_(std::move(config)),
      executor_(executor),
      clock_(clock),
      coordinator_(config_.service, config_.token),
      spool_(config_.cache / "spool"),
      outbox_(config_.cache / "spool/builds"),
      instance_(own_instance(config_.cache)) {}

void Agent::run(std::stop_token stop) {
  enroll(stop);
  Time worked_at = clock_.now();
  while (!stop.stop_requested() && !is_over()) {
    if (!send_spooled() || !outbox_.send(coordinator_, stop)) {
      back_off("sending results", stop);
      continue;
    }
    Claim claim;
    switch (coordinator_.claim(runner_, instance_, claim_wait(), claim)) {
      case Answer::done:
        failures_ = 0;
        work_on(claim, stop);
        worked_at = clock_.now();
        break;
      case Answer::nothing:
        failures_ = 0;
        if (config_.idle && clock_.now() - worked_at >= *config_.idle) {
          log::info("ending cause=\"no job for {} s\"", config_.idle->count());
          return leave();
        }
        break;
      case Answer::refused:  // the service restarted with an empty memory
        log::warn("registering again cause=\"{}\"", coordinator_.error());
        back_off("claiming a job", stop);
        enroll(stop);
        break;
      case Answer::away:
        back_off("claiming a job", stop);
        break;
    }
  }
  if (is_over()) log::info("ending cause=\"it is {}\"", to_rfc3339(*config_.until));
  if (!send_spooled()) log::warn("results stay on disk until the next start");
  leave();
}

// Where no service is, its name stays taken until the service has not seen it for a while.
void Agent::leave() {
  if (runner_.value > 0) coordinator_.leave(runner_, instance_);
}

bool Agent::is_over() const {
  return config_.until && clock_.now() >= *config_.until;
}

// No claim is answered more than a second after the end.
std::chrono::seconds Agent::claim_wait() const {
  if (!config_.until) return config_.claim_wait;
  const auto left = std::chrono::ceil<std::chrono::seconds>(*config_.until - clock_.now());
  return std::clamp(left, std::chrono::seconds(0), config_.claim_wait);
}

void Agent::enroll(std::stop_token stop) {
  auto facts = executor_.facts();
  for (const auto& [name, version] : config_.packages) facts["package " + name] = version;
  const Registration registration{config_.name, config_.labels, executor_.workloads(),
                                  std::move(facts), instance_};
  while (!stop.stop_requested() && !is_over()) {
    switch (coordinator_.enroll(registration, runner_)) {
      case Answer::done:
        failures_ = 0;
        log::info("registered runner={} name={} service={}", runner_.value, config_.name,
                  config_.service);
        return;
      case Answer::nothing:
      case Answer::refused:
        throw std::runtime_error("cannot register at " + config_.service + ": " +
                                 coordinator_.error());
      case Answer::away:
        back_off("registering", stop);
    }
  }
}

bool Agent::send_spooled() {
  for (const auto& entry : spool_.pending()) {
    const auto kept = too_large_until_.find(entry.path);
    if (kept != too_large_until_.end() && clock_.now() < kept->second) continue;
    const auto text = read_file(entry.path);
    const Answer answer = text ? coordinator_.send_result(entry.job, *text) : Answer::refused;
    if (answer == Answer::away) return false;
    if (answer == Answer::refused && coordinator_.is_too_large_for_proxy()) {
      keep_for_later(entry);
      continue;
    }
    if (answer == Answer::refused) {
      if (text && coordinator_.may_be_lifted()) return false;
      const std::string cause = text ? coordinator_.error() : "its file cannot be read";
      log::error("result refused job={} attempt={} cause=\"{}\" kept=rejected/", entry.job.value,
                 entry.attempt, cause);
      // At once and with the reason, or the job would wait for its lease and be tried again.
      if (text)
        coordinator_.fail(claim_of(entry, *text), "its result was refused: " + cause,
                          Coordinator::Failure::final);
      spool_.reject(entry);
      continue;
    }
    failures_ = 0;
    spool_.remove(entry);
    too_large_until_.erase(entry.path);
    log::info("result accepted job={} attempt={}", entry.job.value, entry.attempt);
  }
  return true;
}

// Other results and jobs go on meanwhile.
void Agent::keep_for_later(const Spool::Entry& entry) {
  too_large_until_[entry.path] = clock_.now() + too_large_pause;
  log::error(
      "result kept job={} attempt={} cause=\"a proxy refuses its size; raise the proxy's "
      "limit of bodies, then it is sent\" answer=\"{}\"",
      entry.job.value, entry.attempt, coordinator_.error());
}

void Agent::work_on(const Claim& claim, std::stop_token stop) {
  try {
    const auto spec = parse_foreign_or_throw(claim.spec).get<JobSpec>();
    if (spec.source) return build(claim, *spec.source, stop);
    if (const auto problem = problem_of(spec); !problem.empty()) throw std::runtime_error(problem);
    measure(claim, spec, stop);
  } catch (const TransientFailure& error) {
    put_off(claim, error.what(), stop);
  } catch (const std::system_error& error) {
    put_off(claim, error.what(), stop);  // a full disk, and files that cannot be read or written
  } catch (const std::bad_alloc& error) {
    put_off(claim, error.what(), stop);
  } catch (const std::exception& error) {
    log::error("job failed job={} attempt={} cause=\"{}\"", claim.job.value, claim.attempt,
               error.what());
    coordinator_.fail(claim, error.what(), Coordinator::Failure::final);
  }
}

// Another runner may do better. This one waits the longer the more jobs it could not measure.
void Agent::put_off(const Claim& claim, const char* cause, std::stop_token stop) {
  log::warn("job put off job={} attempt={} cause=\"{}\"", claim.job.value, claim.attempt, cause);
  coordinator_.fail(claim, cause, Coordinator::Failure::transient);
  pause_after(put_off_++, stop);
}

void Agent::measure(const Claim& claim, const JobSpec& spec, std::stop_token stop) {
  log::info("job begins job={} attempt={} kind={} environments={} runs={}", claim.job.value,
            claim.attempt, name_of(spec.kind), spec.environments.size(), spec.order.size());
  LeaseKeeper lease(config_.service, config_.token, claim);
  const std::stop_callback forward(stop, [&] { lease.stop_job(); });
  try {
    SessionResult result = run_session(claim.job, spec, executor_, clock_, lease.job_token());
    if (!config_.doctor_note.empty()) result.settings["doctor"] = config_.doctor_note;
    spool_.put(claim, result);
    put_off_ = 0;
  } catch (const Stopped&) {
    give_back(claim, lease);
  }
}

void Agent::give_back(const Claim& claim, const LeaseKeeper& lease) {
  if (lease.lost()) {
    log::warn("lease lost job={} attempt={}", claim.job.value, claim.attempt);
    return;
  }
  const Answer answer = coordinator_.release(claim);
  log::info("job given back job={} attempt={} answer={}", claim.job.value, claim.attempt,
            name_of(answer));
}

void Agent::build(const Claim& claim, const SourceSpec& spec, std::stop_token stop) {
  log::info("build begins job={} attempt={} commit={}", claim.job.value, claim.attempt,
            spec.commit.brief());
  LeaseKeeper lease(config_.service, config_.token, claim);
  const std::stop_callback forward(stop, [&] { lease.stop_job(); });
  try {
    const MadeWheel made = make(claim, spec, lease.job_token());
    outbox_.put(claim, made);
    // Here and not only in the loop, so that the lease is kept while a large wheel travels.
    outbox_.send(coordinator_, lease.job_token());
  } catch (const Stopped&) {
    give_back(claim, lease);
  }
}

// What cannot even be begun is the infrastructure's fault, too.
MadeWheel Agent::make(const Claim& claim, const SourceSpec& spec, std::stop_token stop) {
  MadeWheel failed{spec.commit, {}, {}, {}};
  try {
    if (!config_.builder) throw WrongUse("this runner builds nothing");
    if (digest_of(spec.recipe) != spec.recipe_sha256)
      throw WrongUse("the recipe has another hash than the job says");
    const std::string where = "recipe of job " + std::to_string(claim.job.value);
    const MakeWheel order{parse_recipe(spec.recipe, where),
                          spec.repository,
                          spec.commit.str(),
                          config_.builder->work,
                          config_.builder->work / "wheels",
                          config_.builder->python,
                          [&](const std::string& progress) {
                            log::info("build job={} \"{}\"", claim.job.value, progress);
                          }};
    const auto machine = executor_.lock_machine("builds " + spec.commit.brief(), stop);
    return make_wheel(order, stop);
  } catch (const WrongUse& error) {
    failed.result.reason = error.what();
  }
  return failed;
}

void Agent::back_off(const char* attempted, std::stop_token stop) {
  if (failures_ == 0)
    log::warn("service away attempted=\"{}\" cause=\"{}\"", attempted, coordinator_.error());
  pause_after(failures_++, stop);
}

// Doubles up to the most, each pause between a half and the whole of it, so that a hundred runners
// do not come back in one moment.
void Agent::pause_after(int failures, std::stop_token stop) {
  const auto whole = std::min<std::int64_t>(
      config_.backoff_most.count(), config_.backoff_first.count() << std::min(failures, 16));
  const auto pause =
      whole / 2 + static_cast<std::int64_t>(jitter_() % static_cast<unsigned>(whole / 2 + 1));
  wait_for(std::chrono::milliseconds(pause), stop);
}

}  // namespace nightjar::runner
