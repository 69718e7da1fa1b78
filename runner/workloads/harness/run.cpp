#include "harness/run.hpp"

#include <ATen/Context.h>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <new>
#include <torch/cuda.h>
#include <torch/version.h>

#include "harness/case.hpp"
#include "harness/device_clock.hpp"
#include "harness/kernels.hpp"
#include "harness/process.hpp"
#include "harness/statistics.hpp"

namespace nightjar::workloads {
namespace {

// Sums in parts, so that copies of a large output do not become the peak of memory.
double sum_of_magnitudes(const torch::Tensor& output) {
  constexpr std::int64_t part_elements = 1 << 14;
  double sum = 0;
  for (const torch::Tensor& part : output.detach().flatten().split(part_elements))
    sum += part.to(torch::kFloat64).abs().sum().item<double>();
  return sum;
}

// The value of `name = '...'` in torch/version.py; empty if it is not there.
std::string version_field(const std::filesystem::path& torch_folder, const std::string& name) {
  std::ifstream file(torch_folder / "version.py");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name, 0) != 0) continue;
    const auto begin = line.find_first_of("'\"");
    const auto end = line.find_last_of("'\"");
    if (begin != std::string::npos && end > begin) return line.substr(begin + 1, end - begin - 1);
  }
  return "";
}

Step with_synchronize(const Step& step, const std::shared_ptr<DeviceClock>& clock) {
  return [step, clock] {
    if (clock) clock->begin();
    torch::Tensor output = step();
    if (clock) clock->end();
    torch::cuda::synchronize();
    return output;
  };
}

Steps steps_of(const Step& step) {
  return {[step] { step(); },
          [step]() -> std::function<double()> {
            return [output = step()] { return sum_of_magnitudes(output); };
          }};
}

}  // namespace

Ready identity() {
  Ready ready;
  Dl_info library{};
  auto* const address = reinterpret_cast<void*>(&at::globalContext);
  if (dladdr(address, &library) != 0 && library.dli_fname)
    ready.torch_path = std::filesystem::canonical(library.dli_fname).parent_path().parent_path();
  ready.torch_version = version_field(ready.torch_path, "__version__");
  if (ready.torch_version.empty()) ready.torch_version = TORCH_VERSION;
  ready.torch_git_version = version_field(ready.torch_path, "git_version");
  ready.packages["compiler"] = "g++ " __VERSION__;
  ready.memory_after_import = Counters().resident_bytes();
  return ready;
}

Prepared prepare(const Request& request, const Definition& definition, bool timed) {
  const bool is_cuda = definition.device == "cuda";
  if (is_cuda && !torch::cuda::is_available()) throw Unavailable("no CUDA device");
  const std::string& precision = definition.precision;
  if (precision != "fp32" && precision != "bf16" && (precision != "fp16" || !is_cuda))
    throw Unavailable("the native workloads have fp32 and bf16, on a GPU fp16, and no " +
                      precision);
  const auto maker = makers().find(definition.model);
  if (maker == makers().end()) throw Unavailable("this program has no model " + definition.model);
  at::set_num_threads(request.threads);
  if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);  // it can be set once
  at::globalContext().setFlushDenormal(true);  // a loss near zero must not slow down iterations
  Case made_for(definition, request.seed);
  const Step step = maker->second(made_for);
  if (!definition.own_batch && !made_for.batch.was_read())
    throw Unavailable(definition.model + "/" + definition.task +
                      " does the same work at every batch size");
  // Both twins draw the same from here on, whatever their constructors drew.
  torch::manual_seed(request.seed);
  if (!is_cuda) return {steps_of(step), made_for.parameters(), nullptr};
  const auto clock = timed ? std::make_shared<DeviceClock>(torch::kCUDA) : nullptr;
  Prepared prepared{steps_of(with_synchronize(step, clock)), made_for.parameters(), clock};
  if (clock) prepared.steps.observe = [clock] { clock->observe(); };
  return prepared;
}

Measurement run(const Request& request, const Definition& definition) {
  const Prepared prepared = prepare(request, definition, true);
  Measurement measurement = measure(prepared.steps, request);
  if (!std::isfinite(measurement.checksum))
    throw WrongResult("the output's checksum is " + std::to_string(measurement.checksum));
  measurement.parameters = prepared.parameters;
  if (!prepared.clock) return measurement;
  measurement.device = prepared.clock->read(measurement.warmup_iterations);
  if (request.kernel_iterations > 0)
    time_kernels(prepared.steps.iterate, request.kernel_iterations, median(measurement.latency),
                 measurement.device);
  return measurement;
}

std::pair<std::string, std::string> judge(const std::exception& error) {
  std::string text = error.what();
  if (const auto* torch_error = dynamic_cast<const c10::Error*>(&error))
    text = torch_error->what_without_backtrace();
  const bool no_memory = text.find("can't allocate memory") != std::string::npos ||
                         text.find("out of memory") != std::string::npos ||
                         text.find("_ALLOC_FAILED") != std::string::npos ||
                         dynamic_cast<const std::bad_alloc*>(&error);
  text = text.substr(0, text.find('\n'));
  if (dynamic_cast<const Unavailable*>(&error)) return {"unavailable", text};
  if (dynamic_cast<const WrongResult*>(&error)) return {"wrong_result", text};
  return {no_memory ? "out_of_memory" : "failed", text};
}

}  // namespace nightjar::workloads
