#include "tests/simulation/lies.hpp"

#include <algorithm>

#include "storage/model/json.hpp"

namespace nightjar::simulation {
namespace {
using nlohmann::json;

struct Liar {
  const Agent& self;
  const Agent& other;
  const Truth& truth;
  Time now;
  Random& random;

  json measure(const Held& held) const {
    return truth.measure(held.spec, held.positions, now, random);
  }
  // Of the claim that it holds itself.
  json proof() const { return {{"attempt", self.held()->attempt}, {"nonce", self.held()->nonce}}; }
  // An attempt that another runner holds, without its nonce.
  json forged_proof() const {
    return {{"attempt", other.held()->attempt}, {"nonce", std::string(32, '0')}};
  }
};
using Lie = std::optional<Message>;

std::string path_of(JobId job, const char* action) {
  return "/api/v1/agent/jobs/" + std::to_string(job.value) + "/" + action;
}

Message message_to(JobId job, const char* action, const json& body,
                   std::shared_ptr<const Held> about, std::string lie) {
  return {path_of(job, action), body.dump(), "runner", std::move(about), std::move(lie)};
}

bool is_of_another(const Liar& liar) {
  return liar.other.held() && liar.other.runner() != liar.self.runner();
}

Lie result_of_another_job(const Liar& liar) {
  const auto& held = liar.self.held();
  if (!held) return {};
  const JobId other = liar.other.held() ? liar.other.held()->job
                                        : JobId{held->job.value + liar.random.between(1, 9)};
  if (other == held->job) return {};
  json body = liar.proof();
  body["result"] = liar.measure(*held);
  return message_to(other, "result", body, held, "the result of another job");
}

Lie result_for_another_runner(const Liar& liar) {
  if (!is_of_another(liar)) return {};
  const auto& held = liar.other.held();
  json body = liar.forged_proof();
  body["result"] = liar.measure(*held);
  return message_to(held->job, "result", body, held, "a result for another runner's job");
}

Lie old_result(const Liar& liar) {
  const auto& last = liar.self.last_result();
  if (!last) return {};
  Message again = *last;
  again.lie = "an old result";
  if (!liar.random.chance(.5)) return again;
  json body = json::parse(again.body);
  body["attempt"] = body["attempt"].get<int>() + 1;
  again.body = body.dump();
  again.lie = "an old result as a new attempt";
  return again;
}

Lie result_of_another_build(const Liar& liar) {
  const auto& held = liar.self.held();
  const auto& last = liar.self.last_result();
  if (!held || !last) return {};
  const auto& asked = held->spec.environments;
  const auto& measured = last->held->spec.environments;
  const bool another =
      std::any_of(measured.begin(), measured.end(), [&](const EnvironmentSpec& one) {
        return std::none_of(asked.begin(), asked.end(), [&](const EnvironmentSpec& environment) {
          return environment.key() == one.key();
        });
      });
  if (!another) return {};
  json body = liar.proof();
  body["result"] = json::parse(last->body).at("result");
  return message_to(held->job, "result", body, held, "the result of another build");
}

Lie claim_of_another_runner(const Liar& liar) {
  if (!liar.other.runner() || liar.other.runner() == liar.self.runner()) return {};
  const json body{{"runner", liar.other.runner().value},
                  {"instance", liar.self.instance()},
                  {"wait_seconds", 0}};
  return Message{"/api/v1/agent/claim", body.dump(), "runner", {}, "a claim as another runner"};
}

Lie word_on_another_lease(const Liar& liar) {
  if (!is_of_another(liar)) return {};
  const auto& held = liar.other.held();
  json body = liar.forged_proof();
  const int what = liar.random.between(0, 2);
  if (what == 2) {
    body["reason"] = "no";
    body["transient"] = liar.random.chance(.5);
  }
  const char* action = what == 0 ? "renew" : what == 1 ? "release" : "fail";
  return message_to(held->job, action, body, held,
                    std::string(action) + " of another runner's lease");
}

// One number of an honest result is replaced. `raw`: not as JSON writes a value.
struct Nonsense {
  const char* place;
  json value;
  const char* raw = nullptr;
};

Lie nonsense(const Liar& liar) {
  static const std::vector<Nonsense> all = {
      {"/runs/0/samples/latency/0", -.01},
      {"/runs/0/samples/latency/0", 0.0},
      {"/runs/0/samples/latency/0", 1e300},
      {"/runs/0/samples/latency/0", nullptr},
      {"/runs/0/samples/latency/0", "NaN"},
      {"/runs/0/samples/latency/0", "raw", "NaN"},
      {"/runs/0/samples/latency/0", "raw", "-Infinity"},
      {"/runs/0/samples/latency/0", "raw", "1e999"},
      {"/runs/0/samples/peak_cpu_memory", json::array({-1.0})},
      {"/runs/0/order", 100000},
      {"/runs/0/order", -1},
      {"/runs/0/seconds", -1e9},
      {"/setup_seconds/0/seconds", 1e300},
  };
  const auto& held = liar.self.held();
  if (!held || held->spec.environments.empty()) return {};
  json body = liar.proof();
  json& result = body["result"] = liar.measure(*held);
  // The first run is the control.
  if (result["runs"].empty() || !result["runs"][0]["samples"].contains("latency")) return {};
  const Nonsense& one =
      all[static_cast<std::size_t>(liar.random.between(0, static_cast<int>(all.size()) - 1))];
  result[json::json_pointer(one.place)] = one.value;
  const std::string what = one.raw ? one.raw : one.value.dump();
  Message message = message_to(held->job, "result", body, held, what + " at " + one.place);
  if (one.raw) message.body.replace(message.body.find("\"raw\""), 5, one.raw);
  return message;
}

}  // namespace

Lie make_lie(const Agent& liar, const Agent& other, const Truth& truth, Time now, Random& random) {
  static const std::vector<Lie (*)(const Liar&)> all = {
      result_of_another_job,   result_for_another_runner, old_result, result_of_another_build,
      claim_of_another_runner, word_on_another_lease,     nonsense};
  const auto drawn =
      all[static_cast<std::size_t>(random.between(0, static_cast<int>(all.size()) - 1))];
  return drawn({liar, other, truth, now, random});
}

}  // namespace nightjar::simulation
