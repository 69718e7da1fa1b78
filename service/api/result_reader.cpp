#include "service/api/result_reader.hpp"

#include <algorithm>
#include <array>

#include "service/api/respond.hpp"
#include "service/api/result_check.hpp"
#include "storage/model/foreign_stream.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

using Samples = std::map<std::string, std::vector<double>>;

constexpr std::array list_fields{"cpu_seconds", "wait_seconds", "slowdown"};

// What a build can make its run say, however honest its runner is.
constexpr std::array fields_of_builds{"samples",  "cpu_seconds",       "wait_seconds",
                                      "slowdown", "checksum",          "accuracy",
                                      "profile",  "warmup_iterations", "seconds"};

bool is_of_build(const std::string& name) {
  return std::find(fields_of_builds.begin(), fields_of_builds.end(), name) !=
         fields_of_builds.end();
}

// "#/samples/latency" is of the field "samples".
std::string field_of_pointer(const std::string& pointer) {
  const std::string path = pointer.substr(std::min<std::size_t>(pointer.size(), 2));
  return path.substr(0, path.find('/'));
}

// Keeps the run's place and its times, and nothing that it measured.
void spoil(json& run, std::string reason) {
  run["status"] = RunStatus::failed;
  run["reason"] = "the service does not take what it says: " + std::move(reason);
  run["samples"] = json::object();
  for (const char* name : list_fields) run[name] = json::array();
  run["checksum"] = nullptr;
  run["warmup_iterations"] = 0;
  run["seconds"] = 0;
  run.erase("accuracy");
  run.erase("profile");
}

void cut_all(std::map<std::string, std::string>& texts) {
  while (texts.size() > most_texts) texts.erase(std::prev(texts.end()));
  for (auto& [name, text] : texts) cut(text);
  std::erase_if(texts, [](const auto& one) { return one.first.size() > longest_line; });
}

class ResultReader {
 public:
  explicit ResultReader(const web::Request& request) : request_(request) {}

  ReadResult read() {
    StreamSink sink;
    sink.numbers = [this](const JsonPath& path) { return list_at(path); };
    sink.take = [this](const JsonPath& path, json& run) { return take(path, run); };
    const StreamLimits limits{run_held_bytes, longest_text, most_samples};
    const json frame = checked(request_, rest_of(limits, sink), result_request().schema());
    const ResultRequest asked = result_request().read(frame);
    ReadResult made{asked.attempt, asked.nonce, {}, bad_runs_};
    try {
      json session = asked.result;
      session["runs"] = json::array();
      made.result = session.get<SessionResult>();
    } catch (const json::exception& error) {
      throw Refused(422, "Bad result", cause_of(error));
    }
    made.result.runs = std::move(runs_);
    for (auto* texts : {&made.result.packages, &made.result.settings, &made.result.before.extra,
                        &made.result.after.extra})
      cut_all(*texts);
    return made;
  }

 private:
  json rest_of(const StreamLimits& limits, const StreamSink& sink) {
    try {
      return read_stream(request_.body, limits, sink);
    } catch (const StreamRefused& error) {
      throw Refused(422, "Result too large",
                    "The body of " + request_.path + " is refused: " + error.what() + ".");
    }
  }

  // The lists of the run that is being read.
  std::vector<double>* list_at(const JsonPath& path) {
    if (path.size() < 4 || path[0] != "result" || path[1] != "runs") return nullptr;
    if (path.size() == 5 && path[3] == "samples") return &samples_[path[4]];
    if (path.size() != 4) return nullptr;
    for (std::size_t i = 0; i < list_fields.size(); ++i)
      if (path[3] == list_fields[i]) return &lists_[i];
    return nullptr;
  }

  bool take(const JsonPath& path, json& run) {
    if (path.size() != 3 || path[0] != "result" || path[1] != "runs" || path[2] != "*")
      return false;
    if (runs_.size() == most_runs)
      throw Refused(422, "Result too large",
                    "A session has at most " + std::to_string(most_runs) + " runs.");
    std::string bad = what_is_bad(run);
    if (bad.empty()) bad = trouble_in_profile(run);
    if (!bad.empty()) spoil(run, bad);
    make_integers(run);
    make_lines(run);
    runs_.push_back(run_of(run));
    RunResult& read = runs_.back();
    if (bad.empty()) {
      read.samples = std::move(samples_);
      read.cpu_seconds = std::move(lists_[0]);
      read.wait_seconds = std::move(lists_[1]);
      read.slowdown = std::move(lists_[2]);
      if (bad = impossible_in(read); !bad.empty()) {
        spoil(run, bad);
        read = run_of(run);
      }
    }
    cut(read.reason);
    bad_runs_ += bad.empty() ? 0 : 1;
    samples_.clear();
    for (auto& list : lists_) list = {};
    return true;
  }

  // Refuses what is the runner's fault.
  std::string what_is_bad(const json& run) const {
    std::string bad;
    for (FieldFault& fault : faults_of(run, described(Parsed<RunResult>{}).schema())) {
      // What is left out was left out by the runner.
      if (!is_of_build(field_of_pointer(fault.pointer)) || fault.detail == missing_field) {
        fault.pointer = "#/result/runs/" + std::to_string(runs_.size()) + fault.pointer.substr(1);
        refuse_body(request_, {fault});
      }
      if (bad.empty()) bad = fault.pointer.substr(2) + " " + fault.detail;
    }
    if (samples_.size() > most_metrics)
      bad = "it has more than " + std::to_string(most_metrics) + " metrics";
    return bad;
  }

  static std::string trouble_in_profile(const json& run) {
    if (!run.contains("profile")) return {};
    try {
      (void)run["profile"].get<Profile>();
      return {};
    } catch (const json::exception& error) {
      return "profile: " + cause_of(error);
    }
  }

  static RunResult run_of(const json& run) {
    try {
      return run.get<RunResult>();
    } catch (const json::exception& error) {
      throw Refused(422, "Bad result", cause_of(error));
    }
  }

  const web::Request& request_;
  std::vector<RunResult> runs_;
  Samples samples_;
  std::array<std::vector<double>, list_fields.size()> lists_;
  int bad_runs_ = 0;
};

}  // namespace

void cut(std::string& text) {
  if (text.size() <= longest_line) return;
  std::size_t end = longest_line;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
}

ReadResult read_result(const web::Request& request) {
  return ResultReader(request).read();
}

}  // namespace nightjar::service::api
