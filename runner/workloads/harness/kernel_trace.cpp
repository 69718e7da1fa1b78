#include "harness/kernel_trace.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace nightjar::workloads {
namespace {
using Json = nlohmann::json;

struct Window {
  double start = 0, end = 0;  // microseconds
};

struct Kernel {
  double start = 0, duration = 0;  // microseconds
  std::optional<std::int64_t> correlation;
};

std::string text_in(const Json& event, const char* name) {
  const auto found = event.find(name);
  return found != event.end() && found->is_string() ? found->get<std::string>() : "";
}

double number_in(const Json& event, const char* name) {
  const auto found = event.find(name);
  const bool fits = found != event.end() && found->is_number() && found->get<double>() >= 0;
  if (!fits) throw BadTrace("an event of kind " + text_in(event, "cat") + " has no '" + name + "'");
  return found->get<double>();
}

// The number that a kernel shares with the call that launched it.
std::optional<std::int64_t> correlation_of(const Json& event) {
  const auto arguments = event.find("args");
  if (arguments == event.end() || !arguments->is_object()) return std::nullopt;
  const auto found = arguments->find("correlation");
  if (found == arguments->end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

// What the trace says of iterations and kernels.
struct Trace {
  std::vector<Window> windows;
  std::map<std::int64_t, double> launched;  // microseconds, by correlation
  std::vector<Kernel> kernels;

  void take(const Json& event) {
    if (!event.is_object()) throw BadTrace("the trace has no list of events");
    if (text_in(event, "ph") != "X") return;
    const std::string kind = text_in(event, "cat");
    if (kind == "user_annotation" && text_in(event, "name") == iteration_mark) {
      const double start = number_in(event, "ts");
      windows.push_back({start, start + number_in(event, "dur")});
    } else if (kind == "kernel" || kind == "Kernel") {
      kernels.push_back({number_in(event, "ts"), number_in(event, "dur"), correlation_of(event)});
    } else if (kind == "cuda_runtime" || kind == "cuda_driver") {
      if (const auto key = correlation_of(event)) launched[*key] = number_in(event, "ts");
    }
  }

  std::size_t window_of(const Kernel& kernel) const {
    const auto launch = kernel.correlation ? launched.find(*kernel.correlation) : launched.end();
    const double time = launch == launched.end() ? kernel.start : launch->second;
    const auto after =
        std::upper_bound(windows.begin(), windows.end(), time,
                         [](double value, const Window& window) { return value < window.start; });
    if (after == windows.begin() || time > std::prev(after)->end)
      throw BadTrace("a kernel was launched in no iteration");
    return static_cast<std::size_t>(std::prev(after) - windows.begin());
  }
};

}  // namespace

std::vector<double> kernel_seconds(const std::string& text, std::size_t iterations) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw BadTrace("the trace is no JSON");
  const auto events = json.is_object() ? json.find("traceEvents") : json.end();
  if (events == json.end() || !events->is_array())
    throw BadTrace("the trace has no list of events");
  Trace trace;
  for (const Json& event : *events) trace.take(event);
  std::sort(trace.windows.begin(), trace.windows.end(),
            [](const Window& a, const Window& b) { return a.start < b.start; });
  if (trace.windows.size() != iterations)
    throw BadTrace("the trace has " + std::to_string(trace.windows.size()) + " iterations, not " +
                   std::to_string(iterations));
  if (trace.kernels.empty()) throw BadTrace("the trace has no kernel");
  std::vector<double> microseconds(iterations);
  std::vector<bool> seen(iterations);
  for (const Kernel& kernel : trace.kernels) {
    const std::size_t window = trace.window_of(kernel);
    microseconds[window] += kernel.duration;
    seen[window] = true;
  }
  const auto empty = std::find(seen.begin(), seen.end(), false);
  if (empty != seen.end())
    throw BadTrace("iteration " + std::to_string(empty - seen.begin() + 1) +
                   " of the trace has no kernel");
  for (double& time : microseconds) time *= 1e-6;
  return microseconds;
}

}  // namespace nightjar::workloads
