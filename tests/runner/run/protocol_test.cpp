#include "runner/run/protocol.hpp"

#include <catch2/catch.hpp>

#include "storage/model/json.hpp"
#include "tests/support/scratch.hpp"

using namespace nightjar;
using namespace nightjar::runner;

namespace {

const std::string ready_line =
    R"({"event": "ready", "torch": {"version": "2.15.0", "git_version": "abc", "path": "/env/torch"},)"
    R"( "packages": {"python": "3.11.7"}, "memory_after_import": 1000})"
    "\n";
const std::string sample_line = R"({"event": "sample", "latency": 0.5, "cpu": 0.4, "wait": 0.1})"
                                "\n";
const std::string result_line =
    R"({"event": "result", "warmup_iterations": 6, "metrics": {"peak_cpu_memory": [2000]},)"
    R"( "checksum": 1.5})"
    "\n";

ProcessResult said(const std::string& protocol) {
  ProcessResult process;
  process.exit_code = 0;
  process.protocol = protocol;
  return process;
}

}  // namespace

TEST_CASE("What a compiled workload says of its accuracy is kept, of a result and of an error") {
  const auto with = [](std::string text) {
    return text.insert(text.find('}', text.size() - 3), R"(, "accuracy": "pass")");
  };
  CHECK(parse_run(said(ready_line + sample_line + with(result_line)), {}).result.accuracy ==
        Accuracy::pass);
  CHECK_FALSE(parse_run(said(ready_line + sample_line + result_line), {}).result.accuracy);
  const ParsedRun failed = parse_run(
      said(
          ready_line +
          R"({"event": "error", "status": "wrong_result", "reason": "x", "accuracy": "fail_accuracy"})"),
      {});
  CHECK(failed.result.accuracy == Accuracy::fail_accuracy);
  CHECK(failed.result.status == RunStatus::wrong_result);
  std::string foreign = with(result_line);
  foreign.replace(foreign.find("pass"), 4, "fine");
  const ParsedRun unknown = parse_run(said(ready_line + sample_line + foreign), {});
  CHECK_FALSE(unknown.result.accuracy);
  CHECK(unknown.result.status == RunStatus::measured);
  CHECK(unknown.settings.at("no accuracy") == "'fine' is no word of dynamo's");
}

TEST_CASE("A good answer becomes a measured run with all samples") {
  const ParsedRun run = parse_run(said(ready_line + sample_line + sample_line + result_line),
                                  {"/env", "2.15.0", "abc"});
  CHECK(run.result.reason == "");
  CHECK(run.result.status == RunStatus::measured);
  CHECK(run.result.samples.at("latency") == std::vector<double>{0.5, 0.5});
  CHECK(run.result.samples.at("peak_cpu_memory") == std::vector<double>{2000});
  CHECK(run.result.samples.at("memory_after_import") == std::vector<double>{1000});
  CHECK(run.result.cpu_seconds == std::vector<double>{0.4, 0.4});
  CHECK(run.result.wait_seconds == std::vector<double>{0.1, 0.1});
  CHECK(run.result.slowdown == std::vector<double>{1, 1});  // a program need not probe
  CHECK(run.result.warmup_iterations == 6);
  CHECK(run.result.checksum == 1.5);
  CHECK(run.packages.at("python") == "3.11.7");
  CHECK(run.torch.git_version == "abc");
}

TEST_CASE("An answer that breaks the protocol is a failed run that says why") {
  struct Case {
    const char* name;
    std::string protocol, reason;
  };
  const Case cases[] = {
      {"nothing", "", "without a result"},
      {"no result", ready_line + sample_line, "without a result"},
      {"no sample", ready_line + result_line, "no sample"},
      {"no JSON", ready_line + "Segfault imminent\n", "line 2 of the workload's answer: no JSON"},
      {"a line without end", ready_line + "[" + std::string(17 << 20, '1') + "]",
       "line 2 of the workload's answer: it has more than 16777216 bytes"},
      {"half a line", ready_line + R"({"event": "sam)", "no JSON"},
      {"a list", "[1]\n", "no JSON object"},
      {"NaN", ready_line + R"({"event": "sample", "latency": NaN, "cpu": 0, "wait": 0})",
       "no JSON"},
      {"null", R"({"event": "sample", "latency": null, "cpu": 0, "wait": 0})",
       "latency is missing"},
      {"overflow", R"({"event": "sample", "latency": 1e999, "cpu": 0, "wait": 0})", "no JSON"},
      {"negative latency", R"({"event": "sample", "latency": -1, "cpu": 0, "wait": 0})",
       "latency is not positive"},
      {"zero latency", R"({"event": "sample", "latency": 0, "cpu": 0, "wait": 0})",
       "latency is not positive"},
      {"absurd latency", R"({"event": "sample", "latency": 1e300, "cpu": 0, "wait": 0})",
       "metric latency cannot be 1"},
      {"negative memory",
       sample_line +
           R"({"event":"result","warmup_iterations":1,"metrics":{"peak_cpu_memory":[-1]}})",
       "metric peak_cpu_memory cannot be -1"},
      {"negative wait", R"({"event": "sample", "latency": 1, "cpu": 0, "wait": -1})",
       "wait is negative"},
      {"text for a number", R"({"event": "sample", "latency": "1", "cpu": 0, "wait": 0})",
       "latency is missing or no number"},
      {"unknown event", R"({"event": "hello"})", "no event is called 'hello'"},
      {"metrics of words",
       sample_line + R"({"event":"result","warmup_iterations":1,"metrics":{"m":["x"]}})",
       "metric m holds"},
      {"a metric without a name",
       sample_line + R"({"event":"result","warmup_iterations":1,"metrics":{"":[1]}})",
       "no metric can be called ''"},
      {"a metric with NUL",
       sample_line + R"({"event":"result","warmup_iterations":1,"metrics":{"a\u0000":[1]}})",
       "no metric can be called 'a '"},
      {"a latency of nothing", R"({"event":"sample","latency":5e-324,"cpu":0,"wait":0})",
       "metric latency cannot be"},
      {"empty metric",
       sample_line + R"({"event":"result","warmup_iterations":1,"metrics":{"m":[]}})",
       "metric m is no list"},
      {"checksum of words",
       sample_line + R"({"event":"result","warmup_iterations":1,"checksum":"x"})", "checksum"},
      {"after the end", sample_line + result_line + sample_line, "something follows the result"},
      {"an error that is none", R"({"event": "error", "status": "measured", "reason": "x"})",
       "error with status"},
      {"endless warm-up", sample_line + R"({"event":"result","warmup_iterations":1e10})",
       "warmup_iterations cannot be 10000000000"},
      {"half a warm-up", sample_line + R"({"event":"result","warmup_iterations":0.5})",
       "warmup_iterations cannot be 0.5"},
      {"warm-up of words", sample_line + R"({"event":"result","warmup_iterations":"6"})",
       "warmup_iterations is missing or no number"},
      {"less than no warm-up", sample_line + R"({"event":"result","warmup_iterations":-1})",
       "warmup_iterations cannot be -1"},
      {"warm-up beyond all", sample_line + R"({"event":"result","warmup_iterations":1e400})",
       "no JSON"},
      {"absurd wait", R"({"event": "sample", "latency": 1, "cpu": 0, "wait": 1e300})",
       "wait cannot be 1"},
      {"absurd probe",
       sample_line + R"({"event":"result","warmup_iterations":1,"fastest_probe":1e9})",
       "fastest_probe cannot be"},
      {"nested without end", std::string(100'000, '['), "no JSON"},
      {"binary", std::string("\0\xff\xfe", 3), "no JSON"},
  };
  for (const Case& one : cases) {
    INFO(one.name);
    const ParsedRun run = parse_run(said(one.protocol), {});
    CHECK(run.result.status == RunStatus::failed);
    CHECK(run.result.reason.find(one.reason) != std::string::npos);
    INFO(run.result.reason);
  }
}

TEST_CASE("What a run says is one line without control characters, wherever it is kept") {
  const ParsedRun run =
      parse_run(said(R"({"event":"ready","packages":{"a\u001b":"\u202eb"},"settings":{"c":"d\ne"}})"
                     "\n"
                     R"({"event":"error","status":"failed","reason":"\u001b[31mred\u0000"})"),
                {});
  CHECK(run.result.reason == " [31mred ");
  CHECK(run.packages.at("a ") == " b");
  CHECK(run.settings.at("c") == "d e");
}

TEST_CASE("What a run says without end is a failed run, and does not fill the result") {
  std::string much = ready_line;
  for (int i = 0; i < 20'000; ++i) much += sample_line;
  const ParsedRun samples = parse_run(said(much + result_line), {});
  CHECK(samples.result.status == RunStatus::failed);
  CHECK(samples.result.reason.find("latency has more than 10000 values") != std::string::npos);
  // What a session of such runs would be too large with.
  std::string wide = R"({"event":"result","warmup_iterations":1,"metrics":{)";
  for (int metric = 0; metric < 60; ++metric) {
    wide += (metric == 0 ? "\"m" : ",\"m") + std::to_string(metric) + "\":[1";
    for (int i = 1; i < 1000; ++i) wide += ",1";
    wide += "]";
  }
  const ParsedRun many = parse_run(said(ready_line + sample_line + wide + "}}\n"), {});
  CHECK(many.result.status == RunStatus::failed);
  CHECK(many.result.reason.find("more than 40000 values together") != std::string::npos);
  CHECK(nlohmann::json(samples.result).dump().size() < 2'000'000);

  nlohmann::json ready = {{"event", "ready"}, {"settings", {{"long", std::string(1 << 20, 'x')}}}};
  const ParsedRun settings = parse_run(said(ready.dump() + "\n" + sample_line + result_line), {});
  CHECK(settings.result.status == RunStatus::measured);
  CHECK(settings.settings.at("long") == std::string(999, 'x') + "…");
  for (int i = 0; i < 1000; ++i) ready["settings"][std::to_string(i)] = "x";
  CHECK(parse_run(said(ready.dump() + "\n" + sample_line + result_line), {})
            .result.reason.find("settings are too many") != std::string::npos);
}

TEST_CASE("A workload that says why it cannot is believed") {
  const auto run =
      parse_run(said(ready_line +
                     R"({"event": "error", "status": "unavailable", "reason": "no CUDA device"})"),
                {});
  CHECK(run.result.status == RunStatus::unavailable);
  CHECK(run.result.reason == "no CUDA device");
}

TEST_CASE("A run that ended with an error after its first samples says which") {
  ProcessResult process;
  process.protocol = ready_line + sample_line;
  process.exit_code = 1;
  process.output = "OSError: [Errno 28] No space left on device\n";
  const auto run = parse_run(process, {});
  CHECK(run.result.status == RunStatus::failed);
  CHECK(run.result.reason == "ended with exit code 1: OSError: [Errno 28] No space left on device");
}

TEST_CASE("How the process ended outweighs what it said") {
  const std::string good = ready_line + sample_line + result_line;
  const auto status_after = [&](auto change) {
    ProcessResult process = said(good);
    change(process);
    return parse_run(process, {}).result.status;
  };
  CHECK(status_after([](ProcessResult& p) { p.timed_out = true; }) == RunStatus::timed_out);
  CHECK(status_after([](ProcessResult& p) { p.out_of_memory = true; }) == RunStatus::out_of_memory);
  CHECK(status_after([](ProcessResult& p) { p.flooded = "output"; }) == RunStatus::failed);
  CHECK(status_after([](ProcessResult& p) { p.exit_code = 1; }) == RunStatus::failed);
  CHECK(status_after([](ProcessResult& p) { p.start_error = "none"; }) == RunStatus::failed);
  CHECK(status_after([](ProcessResult& p) {
          p.exit_code.reset();
          p.signal = 11;
        }) == RunStatus::crashed);
}

TEST_CASE("A run in another torch than the environment's is a broken environment") {
  const std::string good = ready_line + sample_line + result_line;
  struct Case {
    ExpectedTorch expected;
    std::string reason;
  };
  const Case cases[] = {
      {{"/other", "", ""}, "torch was loaded from '/env/torch' instead of /other"},
      {{"/en", "", ""}, "torch was loaded from '/env/torch' instead of /en"},
      {{"/env", "2.16.0", ""}, "torch says it is version '2.15.0' instead of 2.16.0"},
      {{"/env", "2.15.0", "abd"}, "torch says it is commit 'abc' instead of abd"},
  };
  for (const Case& one : cases) {
    const auto run = parse_run(said(good), one.expected);
    CHECK(run.result.status == RunStatus::broken_environment);
    CHECK(run.result.reason == one.reason);
  }
}

TEST_CASE("A run of another module has to show that it loaded it from the environment") {
  const ExpectedTorch expected{"/env", "", "", "torch_scatter"};
  const auto run_of = [&](const std::string& ready) {
    return parse_run(said(ready + sample_line + result_line), expected).result;
  };
  // ready_line has a torch below /env, which proves nothing of the module.
  CHECK(run_of(ready_line).status == RunStatus::broken_environment);
  CHECK(run_of(ready_line).reason ==
        "the workload does not say which torch_scatter it loaded; \"ready\" has to name its path, "
        "under \"module\"");
  const std::string other =
      "{\"event\": \"ready\", \"module\": {\"path\": \"/usr/torch_scatter\"}}\n";
  CHECK(run_of(other).reason ==
        "torch_scatter was loaded from '/usr/torch_scatter' instead of /env");
  CHECK(run_of("{\"event\": \"ready\", \"module\": {\"path\": \"/env/torch_scatter\"}}\n").status ==
        RunStatus::measured);
}

TEST_CASE("The request holds what the workload needs, and the control's says so") {
  RunLimits limits;
  limits.threads = 2;
  const Workload workload{{}, *WorkloadName::parse("python/resnet18/eval/cpu/fp32/b4/eager"), 3};
  const auto request_of = [&](const RunTask& task) {
    return nlohmann::json::parse(request_json(task, limits, 2e-5));
  };
  const auto request = request_of({.workload = &workload});
  CHECK(request.at("workload") == "python/resnet18/eval/cpu/fp32/b4/eager");
  CHECK(request.at("version") == 3);
  CHECK(request.at("threads") == 2);
  CHECK(request.at("seed") == 0);
  CHECK(request.at("min_iterations") == 10);
  CHECK(request.at("seconds") == 2.0);
  CHECK_FALSE(request.contains("module"));
  EnvironmentSpec scatter{{}, "", "", Sha256::parse(std::string(64, '0')).value(), {}, "", ""};
  scatter.module = "torch_scatter";
  CHECK(request_of({.environment = &scatter, .workload = &workload})["module"] == "torch_scatter");
  CHECK(request_of({}).at("workload") == "control");
  CHECK_FALSE(request_of({}).contains("device"));
  CHECK(request_of({.gpu = true}).at("device") == "cuda");
}

TEST_CASE("A run for peak_memory is short, whatever the limits of others") {
  const Workload workload{{}, *WorkloadName::parse("python/dlrm/eval/cpu/fp32/b128/eager"), 1};
  const auto request_of = [&](bool blocks) {
    return nlohmann::json::parse(
        request_json({.workload = &workload, .blocks = blocks}, RunLimits{}, 0));
  };
  const auto request = request_of(true);
  CHECK(request.at("peak_at") == 8);
  CHECK(request.at("min_iterations") == 1);
  CHECK(request.at("seconds") == 0);
  CHECK_FALSE(request_of(false).contains("peak_at"));
}

TEST_CASE("Kernels are asked for on a device only, and why they are missing is kept") {
  RunLimits limits;
  limits.kernel_iterations = 10;
  const auto request_of = [&](const char* name) {
    const Workload workload{{}, *WorkloadName::parse(name), 1};
    return nlohmann::json::parse(request_json({.workload = &workload}, limits, 0));
  };
  CHECK(request_of("python/resnet18/eval/cuda/fp32/b4/eager").at("kernel_iterations") == 10);
  CHECK_FALSE(request_of("python/resnet18/eval/cpu/fp32/b4/eager").contains("kernel_iterations"));
  const std::string result = R"({"event": "result", "warmup_iterations": 3, )";
  const std::string times = R"("metrics": {"kernel_time": [0.002, 0.0021]}})",
                    none = R"("missing": {"kernel_time": "CUPTI is in use"}})";
  ParsedRun run = parse_run(said(ready_line + sample_line + result + times + "\n"), {});
  CHECK(run.result.samples.at("kernel_time") == std::vector{0.002, 0.0021});
  run = parse_run(said(ready_line + sample_line + result + none + "\n"), {});
  CHECK(run.result.status == RunStatus::measured);
  CHECK_FALSE(run.result.samples.contains("kernel_time"));
  CHECK(run.settings.at("no kernel_time") == "CUPTI is in use");
}
