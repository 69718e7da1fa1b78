#include "harness/protocol.hpp"

#include <cerrno>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace nightjar::workloads {
namespace {
using Json = nlohmann::json;

constexpr int least_peak_at = 6;  // the checksum is taken before it

BadRequest wrong(const std::string& field, const std::string& what) {
  return BadRequest("the request's '" + field + "' is " + what);
}

template <class Number>
Number take(const Json& fields, const std::string& name, Number fallback, Number low, Number high) {
  const auto found = fields.find(name);
  if (found == fields.end()) return fallback;
  const bool fits =
      std::is_floating_point_v<Number> ? found->is_number() : found->is_number_integer();
  if (!fits) throw wrong(name, "missing or of the wrong type");
  // Read as unsigned, a negative number would be a large one.
  const bool negative =
      found->is_number_integer() && !found->is_number_unsigned() && found->get<std::int64_t>() < 0;
  const auto value = found->get<Number>();
  if (negative || value < low || value > high)
    throw wrong(name, "not between " + Json(low).dump() + " and " + Json(high).dump());
  return value;
}

void write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = write(descriptor, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::runtime_error("cannot write the answer");
    done += static_cast<std::size_t>(count);
  }
}

// Replaces invalid UTF-8 in a reason, so that the answer stays JSON.
std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Request parse_request(const std::string& text) {
  const Json fields = Json::parse(text, nullptr, false);
  if (fields.is_discarded()) throw BadRequest("the request is no JSON");
  if (!fields.is_object()) throw BadRequest("the request is no JSON object");
  Request request;
  const auto workload = fields.find("workload");
  if (workload == fields.end() || !workload->is_string())
    throw wrong("workload", "missing or of the wrong type");
  request.workload = *workload;
  if (!fields.contains("version")) throw wrong("version", "missing or of the wrong type");
  request.version = take<std::int64_t>(fields, "version", 1, 1, INT32_MAX);
  request.seed = take<std::uint64_t>(fields, "seed", 0, 0, UINT64_MAX);
  request.threads = take<int>(fields, "threads", 1, 1, 1024);
  request.min_iterations = take<int>(fields, "min_iterations", 10, 1, 1000);
  request.seconds = take<double>(fields, "seconds", 2.0, 0, 3600);
  request.fastest_probe = take<double>(fields, "fastest_probe", 0, 0, 1);
  request.slow = take<double>(fields, "slow", 0, 0, 10);
  request.kernel_iterations = take<int>(fields, "kernel_iterations", 0, 0, 1000);
  request.peak_at = take<int>(fields, "peak_at", request.peak_at, least_peak_at, 1000);
  const Json sizes = fields.value("sizes", Json("default"));
  if (sizes != "default" && sizes != "tiny")
    throw wrong("sizes", "neither \"default\" nor \"tiny\"");
  request.tiny = sizes == "tiny";
  return request;
}

Channel::Channel() : descriptor_(fcntl(3, F_GETFD) == -1 ? STDOUT_FILENO : 3) {}

void Channel::ready(const Ready& ready) const {
  write_all(descriptor_, line({{"event", "ready"},
                               {"torch",
                                {{"version", ready.torch_version},
                                 {"git_version", ready.torch_git_version},
                                 {"path", ready.torch_path}}},
                               {"packages", ready.packages},
                               {"settings", ready.settings},
                               {"memory_after_import", ready.memory_after_import}}));
}

void Channel::result(const Measurement& measurement) const {
  std::string text;
  for (std::size_t i = 0; i < measurement.latency.size(); ++i)
    text += line({{"event", "sample"},
                  {"latency", measurement.latency[i]},
                  {"cpu", measurement.cpu[i]},
                  {"wait", measurement.wait[i]},
                  {"slowdown", measurement.slowdown[i]}});
  Json metrics = {{"peak_cpu_memory", {measurement.peak_bytes}},
                  {"leaked_memory", {measurement.leaked_bytes}}};
  if (!measurement.device.latency.empty()) metrics["cuda_latency"] = measurement.device.latency;
  if (const auto& memory = measurement.device.memory) {
    metrics["peak_gpu_memory"] = {memory->peak_allocated};
    metrics["peak_gpu_memory_reserved"] = {memory->peak_reserved};
    metrics["leaked_gpu_memory"] = {memory->leaked};
  }
  if (!measurement.device.kernels.empty()) metrics["kernel_time"] = measurement.device.kernels;
  Json result = {{"event", "result"},
                 {"warmup_iterations", measurement.warmup_iterations},
                 {"metrics", metrics},
                 {"fastest_probe", measurement.fastest_probe},
                 {"checksum", measurement.checksum},
                 {"parameters", measurement.parameters}};
  if (!measurement.device.kernels_missing.empty())
    result["missing"] = {{"kernel_time", measurement.device.kernels_missing}};
  write_all(descriptor_, text + line(result));
}

void Channel::error(const std::string& status, const std::string& reason) const {
  write_all(descriptor_, line({{"event", "error"}, {"status", status}, {"reason", reason}}));
}

}  // namespace nightjar::workloads
