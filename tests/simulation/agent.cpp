#include "tests/simulation/agent.hpp"

#include <algorithm>

#include "storage/model/json.hpp"

namespace nightjar::simulation {
using namespace std::chrono_literals;
using nlohmann::json;
namespace {

constexpr auto idle_poll = 40min;  // of an idle agent; a job that was queued ends it
constexpr auto setup = 60s;        // of a session
constexpr auto run_time = 10s;

bool is_success(const Answer& answer) {
  return answer.status == 200 || answer.status == 201 || answer.status == 204;
}
bool is_away(const Answer& answer) {
  return answer.status == 0 || answer.status >= 500;
}

}  // namespace

Agent::Agent(const PlannedRunner& planned, std::string instance, std::uint64_t seed,
             Surroundings& around)
    : planned_(planned), instance_(std::move(instance)), around_(around), random_(seed, 50) {}

void Agent::start() {
  if (up_) return;
  up_ = true;
  ++life_;
  failures_ = put_off_ = 0;
  well_since_ = around_.timeline.now();
  enroll();
}

void Agent::crash() {
  up_ = idle_ = false;
  held_.reset();
  ++life_;
}

void Agent::preempt() {
  if (!up_) return;
  if (held_)
    ask(path_of(*held_, "release"), {{"attempt", held_->attempt}, {"nonce", held_->nonce}},
        [](const Answer&) {});
  crash();
}

void Agent::wake() {
  if (!idle_) return;
  idle_ = false;
  ++life_;  // the long poll that it waited for is over
  later(random_.seconds(0s, 2s), [this] { work(); });
}

void Agent::set_sick(bool sick) {
  if (sick_ && !sick) well_since_ = around_.timeline.now();
  sick_ = sick;
}

bool Agent::can_run(const JobSpec& spec) const {
  return std::all_of(spec.workloads.begin(), spec.workloads.end(), [&](const Workload& workload) {
    const std::string name = workload.name.str() + "@" + std::to_string(workload.version);
    return std::find(planned_.workloads.begin(), planned_.workloads.end(), name) !=
           planned_.workloads.end();
  });
}

void Agent::enroll() {
  const json body{{"name", planned_.name},
                  {"labels", json::object()},
                  {"version", "simulated"},
                  {"workloads", planned_.workloads},
                  {"facts",
                   {{"cpu_model", "class " + std::to_string(planned_.machine_class)},
                    {"kernel", std::to_string(kernel_)}}},
                  {"instance", instance_}};
  ask("/api/v1/agent/register", body, [this](const Answer& answer) {
    if (is_success(answer)) {
      runner_.value = answer.json.at("runner").get<std::int64_t>();
      machine_.value = answer.json.at("machine").get<std::int64_t>();
      failures_ = 0;
      around_.heard(*this);
      return work();
    }
    // The real one ends when it is refused; whoever started it tries again.
    later(is_away(answer) ? 30s : 3600s, [this] { enroll(); });
  });
}

void Agent::work() {
  if (spool_.empty())
    claim();
  else
    send_spooled();
}

void Agent::send_spooled() {
  const auto key = spool_.begin()->first;
  const int life = life_;
  around_.network.post(spool_.begin()->second, [this, key, life](const Answer& answer) {
    if (life != life_) return;
    if (is_away(answer)) return back_off();
    failures_ = 0;
    if (is_success(answer)) last_result_ = std::make_shared<Message>(spool_.at(key));
    spool_.erase(key);  // taken, or rejected and kept for a person
    work();
  });
}

void Agent::claim() {
  const json body{{"runner", runner_.value}, {"instance", instance_}, {"wait_seconds", 0}};
  ask("/api/v1/agent/claim", body, [this](const Answer& answer) {
    if (is_away(answer)) return back_off();
    failures_ = 0;
    if (answer.status == 200) return begin(answer.held);
    if (answer.status != 204) return later(30s, [this] { enroll(); });
    around_.heard(*this);
    idle_ = true;
    later(idle_poll, [this] {
      idle_ = false;
      work();
    });
  });
}

void Agent::begin(std::shared_ptr<Held> held) {
  around_.heard(*this);
  held_ = std::move(held);
  held_->positions.machine_class = machine_class();
  if (sick_) {
    const json body{{"attempt", held_->attempt},
                    {"nonce", held_->nonce},
                    {"reason", "No space left on device"},
                    {"transient", true}};
    around_.network.post({path_of(*held_, "fail"), body.dump(), "runner", held_},
                         [](const Answer&) {});
    held_.reset();
    return later(std::min<std::chrono::seconds>(30s, 1s * (1 << std::min(put_off_++, 5))),
                 [this] { work(); });
  }
  keep_lease();
  const auto runs = static_cast<int>(held_->spec.order.size());
  later(setup + run_time * runs, [this, held = held_] {
    if (held_ == held) finish();
  });
}

void Agent::keep_lease() {
  later(200s, [this, held = held_] {
    if (held_ != held) return;
    ask(path_of(*held, "renew"), {{"attempt", held->attempt}, {"nonce", held->nonce}},
        [this, held](const Answer& answer) {
          if (held_ != held || is_away(answer) || is_success(answer)) return;
          held_.reset();  // the lease is lost
          work();
        });
    keep_lease();
  });
}

void Agent::finish() {
  SessionResult result = around_.truth.measure(held_->spec, held_->positions,
                                               around_.timeline.now() + clock_ahead_, random_);
  if (stolen_ && random_.chance(.15)) result.after.steal_share = .3;
  const json body{{"attempt", held_->attempt}, {"nonce", held_->nonce}, {"result", result}};
  spool_[{held_->job.value, held_->attempt}] = {path_of(*held_, "result"), body.dump(), "runner",
                                                held_};
  held_.reset();
  put_off_ = 0;
  work();
}

void Agent::back_off() {
  const auto pause = std::min<std::chrono::seconds>(30s, 1s * (1 << std::min(failures_++, 5)));
  later(pause, [this] { work(); });
}

void Agent::ask(const std::string& path, const json& body,
                std::function<void(const Answer&)> answered) {
  around_.network.post({path, body.dump(), "runner"},
                       [this, life = life_, answered](const Answer& answer) {
                         if (life == life_) answered(answer);
                       });
}

void Agent::later(std::chrono::microseconds wait, std::function<void()> act) {
  around_.timeline.after(wait, [this, life = life_, act] {
    if (life == life_) act();
  });
}

std::string Agent::path_of(const Held& held, const char* action) {
  return "/api/v1/agent/jobs/" + std::to_string(held.job.value) + "/" + action;
}

}  // namespace nightjar::simulation
