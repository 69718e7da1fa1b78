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
  // Returns the proof of the claim that it holds itself.
  json proof() const { return {{"attempt", self.held()->attempt}, {"nonce", self.held()->nonce}}; }
  // Returns the attempt that another runner holds, with a wrong nonce.
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

// One value of an honest result is replaced.
struct Nonsense {
  const char* place;
  json value;
  // run: the first run's own, which fails. raw: the value is not as JSON writes one.
  enum class Kind { session, run, raw } kind = Kind::session;
};

Lie nonsense(const Liar& liar) {
  using enum Nonsense::Kind;
  static const std::vector<Nonsense> all = {
      {"/runs/0/samples/latency/0", -.01, run},
      {"/runs/0/samples/latency/0", 0.0, run},
      {"/runs/0/samples/latency/0", 1e300, run},
      {"/runs/0/samples/latency/0", nullptr},
      {"/runs/0/samples/latency/0", "NaN"},
      {"/runs/0/samples/latency/0", json::array({1})},
      {"/runs/0/samples/latency/0", "NaN", raw},
      {"/runs/0/samples/latency/0", "-Infinity", raw},
      {"/runs/0/samples/latency/0", "1e999", raw},
      {"/runs/0/samples/latency/0", std::string(100, '['), raw},
      {"/runs/0/samples/peak_cpu_memory", json::array({-1.0}), run},
      {"/runs/0/warmup_iterations", 1e10, run},
      {"/runs/0/warmup_iterations", -1, run},
      {"/runs/0/warmup_iterations", .5, run},
      {"/runs/0/checksum", "much", run},
      {"/runs/0/accuracy", "fine", run},
      {"/runs/0/profile", json{{"runs", 1}}, run},
      {"/runs/0/seconds", -1e9, run},
      {"/runs/0/order", 100000},
      {"/runs/0/order", -1},
      {"/runs/0/order", 1e10},
      {"/runs/0/status", "splendid"},
      {"/runs/0/reason", std::string(100'000, 'x')},
      {"/runs/0/reason", 7},
      {"/runs/0/started_at", "yesterday"},
      {"/runs/0/samples", 7, run},
      {"/runs/0", "run"},
      {"/runs/1", json()},
      {"/runs", 7},
      {"/before", json()},
      {"/before/load1", "high"},
      {"/after/gpus", json::object()},
      {"/packages", json::array()},
      {"/settings", "none"},
      {"/setup_seconds", json::object()},
      {"/setup_seconds/0/seconds", 1e300},
  };
  const auto& held = liar.self.held();
  if (!held || held->spec.environments.empty()) return {};
  json body = liar.proof();
  json& result = body["result"] = liar.measure(*held);
  // The first run is the control.
  if (result["runs"].size() < 2 || !result["runs"][0]["samples"].contains("latency")) return {};
  const Nonsense& one =
      all[static_cast<std::size_t>(liar.random.between(0, static_cast<int>(all.size()) - 1))];
  const json::json_pointer place(one.place);
  const std::string what = one.kind == raw ? one.value.get<std::string>() : one.value.dump();
  result[place] = one.kind == raw ? json("raw") : one.value;
  Message message =
      message_to(held->job, "result", body, held, what.substr(0, 40) + " at " + one.place);
  if (one.kind == raw) message.body.replace(message.body.find("\"raw\""), 5, what);
  message.is_of_run = one.kind == run;
  return message;
}

// Bodies that are none, for the job that it holds.
Lie no_result(const Liar& liar) {
  const auto& held = liar.self.held();
  if (!held) return {};
  const std::vector<std::string> all = {"",
                                        "{",
                                        "[]",
                                        "null",
                                        "{}",
                                        std::string(5'000, '['),
                                        R"({"attempt": 1, "result": {}})",
                                        R"({"attempt": 1e99, "result": {}})",
                                        std::string(200'000, ' ') + "x"};
  const auto drawn =
      all[static_cast<std::size_t>(liar.random.between(0, static_cast<int>(all.size()) - 1))];
  return Message{path_of(held->job, "result"), drawn, "runner", held, "no result"};
}

Lie word_on_unknown_job(const Liar& liar) {
  const JobId job{liar.random.between(1'000'000, 2'000'000)};
  const int what = liar.random.between(0, 3);
  json body{{"attempt", 1}, {"nonce", std::string(32, '0')}};
  if (what == 0) body["reason"] = "no";
  if (what == 1) body["result"] = std::string(50'000, 'x');
  static const char* const actions[] = {"fail", "result", "renew", "release"};
  return message_to(job, actions[what], body, {}, "a word on an unknown job");
}

}  // namespace

Lie make_lie(const Agent& liar, const Agent& other, const Truth& truth, Time now, Random& random) {
  static const std::vector<Lie (*)(const Liar&)> all = {
      result_of_another_job,   result_for_another_runner, old_result, result_of_another_build,
      claim_of_another_runner, word_on_another_lease,     nonsense,   no_result,
      word_on_unknown_job};
  const auto drawn =
      all[static_cast<std::size_t>(random.between(0, static_cast<int>(all.size()) - 1))];
  return drawn({liar, other, truth, now, random});
}

}  // namespace nightjar::simulation
