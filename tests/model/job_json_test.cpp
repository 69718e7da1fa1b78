#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "storage/model/job.hpp"
#include "storage/model/json_io.hpp"
#include "tests/support/source_tree.hpp"

using namespace nightjar;
using nlohmann::json;

namespace {

// A golden file is what another version of runner or service may send: it changes only on purpose.
std::string golden(const std::string& name) {
  std::ifstream file(nightjar::test::source_tree() / "tests/model/golden" / name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

JobSpec sample_spec() {
  const Sha256 wheel = *Sha256::parse(std::string(64, 'a')),
               tar = *Sha256::parse(std::string(64, 'b'));
  JobSpec spec;
  spec.kind = JobKind::bisect;
  spec.environments = {
      {BuildId{1}, "/api/v1/artifacts/" + wheel.str(), "torch-2.13.0-cp311-cp311-linux_x86_64.whl",
       wheel, std::nullopt, "2.13.0", ""},
      {BuildId{2}, "https://example.org/torch.whl", "torch.whl", wheel,
       OverlaySpec{"/api/v1/artifacts/" + tar.str(), tar, {"torch/old.py"}}, "",
       std::string(40, 'c')}};
  spec.workloads = {{WorkloadId{3}, *WorkloadName::parse("python/dlrm/eval/cpu/fp32/b4/eager"), 2}};
  spec.order = {{}, {0, 0}, {1, 0}, {}};
  spec.limits = {60.5, 1 << 30, 4096, 1, 2.0, 10, 18446744073709551615u};
  return spec;
}

GpuState sample_gpu() {
  GpuState gpu{"NVIDIA H100 80GB HBM3",
               "GPU-0a",
               "00000000:3B:00.0",
               "580.65.06",
               true,
               1980,
               2619,
               310.5,
               64,
               0,
               true,
               {},
               {},
               {},
               {},
               {},
               {},
               {}};
  gpu.clock_events = {ClockEvent::gpu_idle, ClockEvent::hw_thermal_slowdown};
  gpu.others = {{4242, "python3", std::int64_t{1} << 30}};
  return gpu;
}

SessionResult sample_session() {
  SessionResult session;
  RunResult run;
  run.order = 1;
  run.samples = {{"latency", {0.001, 0.00125}}, {"peak_cpu_memory", {237e6}}};
  run.cpu_seconds = {0.001, 0.0012};
  run.wait_seconds = {0, 0.00005};
  run.slowdown = {1, 1.5};
  run.checksum = -1.5;
  run.warmup_iterations = 3;
  run.started_at = *parse_rfc3339("2026-08-20T07:30:00.25Z");
  run.seconds = 1.75;
  RunResult crashed;
  crashed.order = 2;
  crashed.status = RunStatus::crashed;
  crashed.reason = "signal 11";
  crashed.started_at = *parse_rfc3339("2026-08-20T07:30:02Z");
  session.runs = {run, crashed};
  session.before = {0.25, 0, 2400, {{"throttled", "no"}}, {}};
  session.after = {1.5, 0.0625, 0, {}, {sample_gpu()}};
  session.settings = {{"threads", "1"}};
  session.packages = {{"numpy", "2.3.1"}, {"python", "3.11.2"}};
  session.setup_seconds = {{std::string(64, 'a'), 6.5}};
  return session;
}

template <class T>
void check_golden(const std::string& name, const T& value) {
  const std::string text = golden(name);
  CHECK(json(value).dump(2) + "\n" == text);
  CHECK(json(json::parse(text).get<T>()) == json::parse(text));
}

// Removes or spoils one field after the other, everywhere, and wants each refused.
template <class T>
void check_strict(const json& root, const json& good, const json::json_pointer& at) {
  for (const auto& [key, value] : root.items()) {
    const auto here = root.is_array() ? at / std::stoul(key) : at / key;
    INFO(here.to_string());
    if (value.is_structured()) check_strict<T>(value, good, here);
    json spoiled = good;
    spoiled[here] = value.is_string() ? json(17) : json("17");
    CHECK_THROWS_AS(spoiled.get<T>(), json::exception);
    const std::string parent = at.empty() ? "" : at.back();
    const bool free_key =
        parent == "extra" || parent == "packages" || parent == "samples" || parent == "settings";
    if (!root.is_object() || free_key) continue;
    json missing = good;
    missing[at].erase(key);
    CHECK_THROWS_WITH(missing.get<T>(), Catch::Contains("'" + key + "' is missing"));
  }
}

}  // namespace

TEST_CASE("a run of a job of profiles carries its profile, and others say nothing of one") {
  RunResult run = sample_session().runs[0];
  CHECK_FALSE(json(run).contains("profile"));
  Profile& profile = run.profile.emplace();
  profile.workload = "python/x/eval/cpu/fp32/b1/eager";
  profile.runs = {{.01, {.01, .01}, {.002, .002}, {1, 1}, {}, {}, {}}};
  const json written = run;
  CHECK(json(written.get<RunResult>()) == written);
  json spoiled = written;
  spoiled["profile"]["runs"][0]["slowdown"] = {1};
  CHECK_THROWS_WITH(spoiled.get<RunResult>(), Catch::Contains("differ in length"));
}

TEST_CASE("a run carries its accuracy, and one without says nothing of it") {
  RunResult run = sample_session().runs[0];
  CHECK_FALSE(json(run).contains("accuracy"));
  run.accuracy = Accuracy::eager_two_runs_differ;
  const json written = run;
  CHECK(written.at("accuracy") == "eager_two_runs_differ");
  CHECK(written.get<RunResult>().accuracy == run.accuracy);
  json spoiled = written;
  spoiled["accuracy"] = "fine";
  CHECK_THROWS_AS(spoiled.get<RunResult>(), json::exception);
}

TEST_CASE("a job's specification is written as its golden file says") {
  check_golden("job_spec.json", sample_spec());
}

TEST_CASE("a session's result is written as its golden file says") {
  check_golden("session_result.json", sample_session());
}

TEST_CASE("a run's result is written as its golden file says") {
  check_golden("run_result.json", sample_session().runs[0]);
}

TEST_CASE("a message with a missing field or a wrong type is refused") {
  check_strict<JobSpec>(json(sample_spec()), json(sample_spec()), json::json_pointer());
  check_strict<SessionResult>(json(sample_session()), json(sample_session()), json::json_pointer());
}

TEST_CASE("a field that is not known is left alone, so that fields may be added") {
  json session = sample_session();
  session["mood"] = "good";
  session["runs"][0]["colour"] = nullptr;
  CHECK(json(session.get<SessionResult>()) == json(sample_session()));
}

TEST_CASE("a message says where it is wrong") {
  json spec = sample_spec();
  spec["environments"][1]["overlay"]["sha256"] = "abc";
  CHECK_THROWS_WITH(spec.get<JobSpec>(),
                    Catch::Contains("in 'environments': in 'overlay': in 'sha256': "
                                    "64 hexadecimal digits are wanted, not 'abc'"));
}

TEST_CASE("a run that points nowhere is refused") {
  for (const auto& [environment, workload] :
       std::vector<std::pair<int, int>>{{2, 0}, {0, 1}, {-1, 0}, {0, -1}, {-2, -2}}) {
    json spec = sample_spec();
    spec["order"][1] = {{"environment", environment}, {"workload", workload}};
    INFO(environment << ' ' << workload);
    CHECK_THROWS_WITH(spec.get<JobSpec>(), Catch::Contains("in 'order'"));
  }
}

TEST_CASE("a run that comes twice in a session is refused") {
  json session = sample_session();
  session["runs"][1]["order"] = 1;
  CHECK_THROWS_WITH(session.get<SessionResult>(), Catch::Contains("comes twice"));
  session["runs"][1]["order"] = -1;
  CHECK_THROWS_WITH(session.get<SessionResult>(), Catch::Contains("negative"));
}

TEST_CASE("numbers keep their range and their kind") {
  json spec = sample_spec();
  spec["limits"]["threads"] = 5000000000;
  CHECK_THROWS_WITH(spec.get<JobSpec>(), Catch::Contains("'threads'"));
  spec["limits"]["threads"] = 1.5;
  CHECK_THROWS_WITH(spec.get<JobSpec>(), Catch::Contains("'threads'"));
  spec["limits"]["threads"] = true;
  CHECK_THROWS_WITH(spec.get<JobSpec>(), Catch::Contains("'threads'"));
  spec["limits"]["threads"] = 2;
  spec["limits"]["seed"] = -1;
  CHECK_THROWS_WITH(spec.get<JobSpec>(), Catch::Contains("'seed'"));
  spec["limits"]["seed"] = 7;
  spec["limits"]["seconds"] = 2;  // a whole number is a number
  CHECK(spec.get<JobSpec>().limits.seconds == 2.0);
}

TEST_CASE("an environment says its module only where that is not torch") {
  JobSpec spec = sample_spec();
  CHECK_FALSE(json(spec)["environments"][0].contains("module"));
  CHECK(json(spec).get<JobSpec>().environments[0].module == "torch");
  spec.environments[0].module = "torch_scatter";
  CHECK(json(spec)["environments"][0]["module"] == "torch_scatter");
  CHECK(json(spec).get<JobSpec>().environments[0].module == "torch_scatter");
}

TEST_CASE("an environment is named by its wheel and its overlay") {
  const JobSpec spec = sample_spec();
  CHECK(spec.environments[0].key() == std::string(64, 'a'));
  CHECK(spec.environments[1].key() == std::string(64, 'a') + "-" + std::string(64, 'b'));
}
