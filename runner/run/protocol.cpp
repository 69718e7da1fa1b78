#include "runner/run/protocol.hpp"

#include <cmath>
#include <stdexcept>
#include <string_view>

#include "storage/base/foreign_number.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/job.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"
#include "storage/model/possible.hpp"

namespace nightjar::runner {
using Json = nlohmann::json;
namespace {

constexpr int blocks_peak_at = 8;  // iterations
// Far above what a workload says, and so little that a session of such runs is still taken.
constexpr std::size_t most_samples = 10'000;  // of one metric
constexpr std::size_t most_numbers = 40'000;  // of all; 200 such runs are one result
constexpr std::size_t most_metrics = 64;
constexpr std::size_t most_texts = 512;                   // packages, or settings
constexpr std::size_t most_word = 200, most_text = 1000;  // characters
constexpr const char* no_result = "the workload ended without a result";

// A line that breaks the protocol; becomes the run's reason.
struct Garbage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

double number_in(const Json& event, const char* name) {
  const auto found = event.find(name);
  if (found == event.end() || !found->is_number())
    throw Garbage(std::string(name) + " is missing or no number");
  const double value = found->get<double>();
  if (!std::isfinite(value)) throw Garbage(std::string(name) + " is not finite");
  return value;
}

// A time, or a ratio of times.
double span_in(const Json& event, const char* name) {
  const double value = number_in(event, name);
  if (value < 0) throw Garbage(std::string(name) + " is negative");
  if (!is_possible_duration(value))
    throw Garbage(std::string(name) + " cannot be " + std::to_string(value));
  return value;
}

int count_in(const Json& event, const char* name) {
  const double value = number_in(event, name);
  if (const auto count = integer_in<int>(value, 0)) return *count;
  throw Garbage(std::string(name) + " cannot be " + std::to_string(value));
}

class AnswerReader {
 public:
  explicit AnswerReader(ParsedRun& run) : run_(run) {}

  void take(const Json& event) {
    if (!event.is_object()) throw Garbage("no JSON object");
    const std::string kind = text_in(event, "event");
    if (ended_) throw Garbage("something follows the result");
    if (kind == "ready") return ready(event);
    if (kind == "sample") return sample(event);
    if (kind == "result") return result(event);
    if (kind == "error") return error(event);
    throw Garbage("no event is called '" + kind.substr(0, 40) + "'");
  }
  bool ended() const { return ended_; }

 private:
  void ready(const Json& event) {
    if (const auto torch = event.find("torch"); torch != event.end() && torch->is_object())
      run_.torch = {text_in(*torch, "version"), text_in(*torch, "git_version"),
                    text_in(*torch, "path")};
    if (const auto module = event.find("module"); module != event.end() && module->is_object())
      run_.module.path = text_in(*module, "path");
    take_texts(event, "packages", run_.packages);
    take_texts(event, "settings", run_.settings);
    if (const auto memory = event.find("memory_after_import");
        memory != event.end() && !memory->is_null()) {
      const double bytes = number_in(event, "memory_after_import");
      require_possible("memory_after_import", bytes);
      run_.result.samples["memory_after_import"] = {bytes};
    }
  }

  static void take_texts(const Json& event, const char* name,
                         std::map<std::string, std::string>& to) {
    const auto found = event.find(name);
    if (found == event.end() || !found->is_object()) return;
    if (found->size() > most_texts) throw Garbage(std::string(name) + " are too many");
    for (const auto& [key, value] : found->items())
      if (value.is_string() && key.size() <= most_word)
        to[one_line(key)] = shortened(value.get<std::string>(), most_text);
  }

  void sample(const Json& event) {
    const double latency = number_in(event, "latency");
    if (latency <= 0) throw Garbage("latency is not positive");
    require_possible("latency", latency);
    add(run_.result.samples["latency"], "latency", latency);
    run_.result.cpu_seconds.push_back(span_in(event, "cpu"));
    run_.result.wait_seconds.push_back(span_in(event, "wait"));
    const bool probed = event.contains("slowdown");
    run_.result.slowdown.push_back(probed ? span_in(event, "slowdown") : 1);
  }

  void result(const Json& event) {
    ended_ = true;
    run_.result.warmup_iterations = count_in(event, "warmup_iterations");
    if (const auto sum = event.find("checksum"); sum != event.end() && !sum->is_null())
      run_.result.checksum = number_in(event, "checksum");
    accuracy(event);
    if (event.contains("fastest_probe")) run_.fastest_probe = span_in(event, "fastest_probe");
    // A metric that could not be read ends no run; its series says so by having no value.
    std::map<std::string, std::string> missing;
    take_texts(event, "missing", missing);
    for (const auto& [metric, reason] : missing) run_.lacks(metric, reason);
    const auto metrics = event.find("metrics");
    if (metrics == event.end()) return;
    if (!metrics->is_object()) throw Garbage("metrics is no object");
    if (metrics->size() > most_metrics) throw Garbage("metrics are too many");
    for (const auto& [name, values] : metrics->items()) {
      if (!is_metric_name(name))
        throw Garbage("no metric can be called '" + shortened(name, most_word) + "'");
      if (!values.is_array() || values.empty()) throw Garbage("metric " + name + " is no list");
      for (const auto& value : values) {
        if (!value.is_number() || !std::isfinite(value.get<double>()))
          throw Garbage("metric " + name + " holds something that is no number");
        require_possible(name, value.get<double>());
        add(run_.result.samples[name], name, value.get<double>());
        if (++numbers_ > most_numbers)
          throw Garbage("metrics have more than " + std::to_string(most_numbers) +
                        " values together");
      }
    }
  }

  static void add(std::vector<double>& samples, const std::string& metric, double value) {
    if (samples.size() == most_samples)
      throw Garbage(metric + " has more than " + std::to_string(most_samples) + " values");
    samples.push_back(value);
  }

  // The service would refuse the whole session for it.
  static void require_possible(const std::string& name, double value) {
    const Metric* metric = find_metric(name);
    if (metric && !is_possible(*metric, value))
      throw Garbage("metric " + name + " cannot be " + std::to_string(value));
  }

  void accuracy(const Json& event) {
    if (!event.contains("accuracy")) return;
    const std::string word = text_in(event, "accuracy").substr(0, 40);
    run_.result.accuracy = enum_from<Accuracy>(word);
    if (!run_.result.accuracy) run_.lacks("accuracy", "'" + word + "' is no word of dynamo's");
  }

  void error(const Json& event) {
    ended_ = true;
    accuracy(event);
    const std::string status = text_in(event, "status");
    const auto known = enum_from<RunStatus>(status);
    if (!known || *known == RunStatus::measured)
      throw Garbage("error with status '" + status + "'");
    run_.result.status = *known;
    run_.result.reason = text_in(event, "reason");
    if (run_.result.reason.empty()) run_.result.reason = "the workload gave no reason";
  }

  ParsedRun& run_;
  std::size_t numbers_ = 0;
  bool ended_ = false;
};

void fail(RunResult& result, RunStatus status, std::string reason) {
  result.status = status;
  result.reason = std::move(reason);
}

// nlohmann accepts no NaN or Infinity literal, so those end as garbage too.
void read_lines(std::string_view text, ParsedRun& run) {
  constexpr std::size_t longest_line = 16u << 20;  // bytes; as JSON it takes ten times as much
  AnswerReader reader(run);
  for (int line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (one.empty()) continue;
    try {
      if (one.size() > longest_line)
        throw Garbage("it has more than " + std::to_string(longest_line) + " bytes");
      const Json event = parse_foreign(one);
      if (event.is_discarded()) throw Garbage("no JSON: '" + std::string(one.substr(0, 80)) + "'");
      reader.take(event);
    } catch (const std::exception& error) {
      return fail(run.result, RunStatus::failed,
                  "line " + std::to_string(line) + " of the workload's answer: " + error.what());
    }
  }
  if (!reader.ended()) fail(run.result, RunStatus::failed, no_result);
}

}  // namespace

void ParsedRun::lacks(const std::string& metric, const std::string& reason) {
  settings["no " + metric] = shortened(reason, 400);
}

std::string request_json(const RunTask& task, const RunLimits& limits, double fastest_probe) {
  const Workload* workload = task.workload;
  Json request{{"workload", workload ? workload->name.str() : "control"},
               {"version", workload ? workload->version : 1},
               {"seed", limits.seed},
               {"threads", limits.threads},
               {"min_iterations", limits.min_iterations},
               {"seconds", limits.seconds},
               {"fastest_probe", fastest_probe}};
  if (task.slow != 0) request["slow"] = task.slow;
  if (task.gpu) request["device"] = "cuda";
  if (workload && workload->name.device() == "cuda" && limits.kernel_iterations > 0)
    request["kernel_iterations"] = limits.kernel_iterations;
  if (task.blocks) {  // iterations with mapped blocks are slow, and the first ones have the peak
    request["peak_at"] = blocks_peak_at;
    request["min_iterations"] = 1;
    request["seconds"] = 0;
  }
  if (task.environment && task.environment->module != "torch")
    request["module"] = task.environment->module;
  return request.dump() + "\n";
}

namespace {

ParsedRun run_of(const ProcessResult& process, const ExpectedTorch& expected) {
  ParsedRun run;
  RunResult& result = run.result;
  result.seconds = process.seconds;
  read_lines(process.protocol, run);
  if (process.program_missing)
    fail(result, RunStatus::unavailable, process.start_error);
  else if (process.out_of_memory)
    fail(result, RunStatus::out_of_memory, process.describe());
  else if (process.timed_out)
    fail(result, RunStatus::timed_out, process.describe());
  else if (!process.flooded.empty() || process.stopped || !process.start_error.empty())
    fail(result, RunStatus::failed, process.describe());
  else if (process.signal != 0)
    fail(result, RunStatus::crashed, process.describe());
  else if (process.exit_code != 0 &&
           (result.status == RunStatus::measured || result.reason == no_result))
    fail(result, RunStatus::failed, process.describe());
  if (result.status != RunStatus::measured) return run;
  if (const auto wrong = mismatch(expected.is_torch() ? run.torch : run.module, expected);
      !wrong.empty())
    fail(result, RunStatus::broken_environment, wrong);
  else if (!result.samples.contains("latency"))
    fail(result, RunStatus::failed, "the workload gave a result but no sample");
  return run;
}

}  // namespace

ParsedRun parse_run(const ProcessResult& process, const ExpectedTorch& expected) {
  ParsedRun run = run_of(process, expected);
  run.result.reason = shortened(run.result.reason, longest_reason);
  if (run.result.status != RunStatus::measured) run.details = process.end_of_output();
  return run;
}

}  // namespace nightjar::runner
