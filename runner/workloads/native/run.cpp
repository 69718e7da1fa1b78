#include "run.hpp"

#include <ATen/Context.h>
#include <dlfcn.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <filesystem>
#include <fstream>
#include <new>

#include "process.hpp"

namespace nightjar::workloads {
namespace {

// In parts, lest copies of a large output be the peak of memory.
double sum_of_magnitudes(const torch::Tensor& output) {
  constexpr std::int64_t kPart = 1 << 14;
  double sum = 0;
  for (const torch::Tensor& part : output.detach().flatten().split(kPart))
    sum += part.to(torch::kFloat64).abs().sum().item<double>();
  return sum;
}

// The value of `name = '...'` in torch/version.py; empty if that is not there.
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

Step with_synchronize(const Step& step) {
  return [step] {
    torch::Tensor output = step();
    torch::cuda::synchronize();
    return output;
  };
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

Steps Prepared::steps(DeviceClock* clock) const {
  Step whole = clock ? clock->around(step) : step;
  if (is_cuda) whole = with_synchronize(whole);
  return {[whole] { whole(); },
          [whole]() -> std::function<double()> {
            return [output = whole()] { return sum_of_magnitudes(output); };
          },
          clock ? std::function<void()>([clock] { clock->observe(); }) : nullptr};
}

Prepared prepare(const Request& request, const Definition& definition) {
  const bool is_cuda = definition.device == "cuda";
  if (is_cuda && !torch::cuda::is_available()) throw Unavailable("no CUDA device");
  if (definition.precision == "amp") throw Unavailable("the native workloads have fp32 and bf16, and no amp");
  const auto maker = makers().find(definition.model);
  if (maker == makers().end()) throw Unavailable("this program has no model " + definition.model);
  at::set_num_threads(request.threads);
  if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);  // it can be set once
  at::globalContext().setFlushDenormal(true);  // a loss near zero must not slow down iterations
  Case made_for(definition, request.seed);
  Step step = maker->second(made_for);
  if (!definition.own_batch && !made_for.batch.was_read())
    throw Unavailable(definition.model + "/" + definition.task + " does the same work at every batch size");
  // Whatever the constructors drew: both twins draw the same from here on.
  torch::manual_seed(request.seed);
  return {std::move(step), is_cuda, made_for.parameters()};
}

Measurement run(const Request& request, const Definition& definition) {
  const Prepared prepared = prepare(request, definition);
  std::optional<DeviceClock> clock;
  if (prepared.is_cuda) clock.emplace(torch::kCUDA);
  Measurement measurement = measure(prepared.steps(clock ? &*clock : nullptr), request.min_iterations, request.seconds,
                                    request.fastest_probe, request.slow);
  if (!std::isfinite(measurement.checksum))
    throw WrongResult("the output's checksum is " + std::to_string(measurement.checksum));
  measurement.parameters = prepared.parameters;
  if (clock) measurement.device = clock->read(measurement.warmup_iterations);
  return measurement;
}

std::pair<std::string, std::string> judge(const std::exception& error) {
  std::string text = error.what();
  if (const auto* torch_error = dynamic_cast<const c10::Error*>(&error))
    text = torch_error->what_without_backtrace();
  const bool no_memory = text.find("can't allocate memory") != std::string::npos ||
                         text.find("out of memory") != std::string::npos ||
                         dynamic_cast<const std::bad_alloc*>(&error);
  text = text.substr(0, text.find('\n'));
  if (dynamic_cast<const Unavailable*>(&error)) return {"unavailable", text};
  if (dynamic_cast<const WrongResult*>(&error)) return {"wrong_result", text};
  return {no_memory ? "out_of_memory" : "failed", text};
}

}  // namespace nightjar::workloads
