// The native workloads as a library that Python loads (adapters/native.py), because PyTorch's
// profiler is there. It sees what LibTorch does for any caller. One workload a process.
// Operators of torch.ops:
//   nightjar::make(workload, version, seed, threads, sizes)   empty, or why it cannot be made
//   nightjar::kept(part)   tensors that lie in memory before an iteration; parts as in a profile
// An iteration is a plain function. As an operator it would hide those within it from autograd
// while a dispatch mode watches.
#include <torch/library.h>

#include "harness/case.hpp"
#include "harness/kept.hpp"
#include "harness/run.hpp"

namespace nightjar::workloads {
namespace {

std::function<void()> iterate;

template <class State>
void add_state(std::vector<torch::Tensor>& tensors, torch::optim::OptimizerParamState& state) {
  if (auto* adam = dynamic_cast<State*>(&state))
    for (const torch::Tensor& one : {adam->exp_avg(), adam->exp_avg_sq()}) tensors.push_back(one);
}

std::vector<torch::Tensor> optimizer_state() {
  std::vector<torch::Tensor> tensors;
  for (torch::optim::Optimizer* optimizer : kept->optimizers)
    for (auto& [parameter, state] : optimizer->state()) {
      add_state<torch::optim::AdamParamState>(tensors, *state);
      add_state<torch::optim::AdamWParamState>(tensors, *state);
      auto* momentum = dynamic_cast<torch::optim::SGDParamState*>(state.get());
      if (momentum && momentum->momentum_buffer().defined())
        tensors.push_back(momentum->momentum_buffer());
    }
  return tensors;
}

// Returns the tensors that are still held elsewhere. A model may have used one only to make its
// input.
std::vector<torch::Tensor> living(const std::vector<torch::Tensor>& noted) {
  std::vector<torch::Tensor> tensors;
  for (const torch::Tensor& one : noted)
    if (one.use_count() > 1) tensors.push_back(one);
  return tensors;
}

std::vector<torch::Tensor> kept_of(const std::string& part) {
  TORCH_CHECK(kept, "no workload was made");
  if (part == "parameters") return kept->parameters;
  if (part == "buffers") return kept->buffers;
  if (part == "optimizer_state") return optimizer_state();
  TORCH_CHECK(part == "inputs", "no part of memory is called '", part, "'");
  return living(kept->inputs);
}

// Empty, or why that workload cannot run here.
std::string make(const std::string& workload, std::int64_t version, std::int64_t seed,
                 std::int64_t threads, const c10::Dict<std::string, std::int64_t>& sizes) try {
  TORCH_CHECK(!kept, "a workload was made already");
  kept = new Kept;  // never deleted, since LibTorch may be gone before it at exit
  Request request;
  request.seed = static_cast<std::uint64_t>(seed);
  request.threads = static_cast<int>(threads);
  Definition definition = find_definition(workload, version);
  for (const auto& size : sizes) definition.sizes[size.key()] = size.value();
  iterate = prepare(request, definition).steps.iterate;
  return "";
} catch (const Unavailable& error) {
  return error.what();
}

}  // namespace
}  // namespace nightjar::workloads

TORCH_LIBRARY(nightjar, library) {
  library.def("make(str workload, int version, int seed, int threads, Dict(str, int) sizes) -> str",
              &nightjar::workloads::make);
  library.def("kept(str part) -> Tensor[]", &nightjar::workloads::kept_of);
}

// Runs one iteration. nullptr, or the error's text, which is valid until the next call.
extern "C" const char* nightjar_step() {
  static std::string error;
  try {
    nightjar::workloads::iterate();
    return nullptr;
  } catch (const std::exception& thrown) {
    error = nightjar::workloads::judge(thrown).second;
    return error.c_str();
  }
}
