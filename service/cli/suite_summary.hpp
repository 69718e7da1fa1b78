// A suite in four numbers, by the definitions of PyTorch's compiler dashboard. Pure; used by
// `nightjar summary`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/cli/model_results.hpp"

namespace nightjar::cli {

// A mean, and over how many models it was taken; nullopt over none.
struct MeanOver {
  std::optional<double> value;
  std::size_t models = 0;
};

struct GroupSummary {
  Group group;
  std::size_t models = 0, passed = 0;
  MeanOver speedup;            // geometric; > 1 is faster than eager
  MeanOver compile_seconds;    // arithmetic
  MeanOver compression_ratio;  // arithmetic; > 1 is less memory than eager
};

// As pytorch/test-infra's torchci/lib/benchmark/compilerUtils.ts has it: accuracy is pass,
// pass_due_to_skip or eager_variation (of backend eager: any), and the speed-up is not 0, but for
// pass_due_to_skip. Without an accuracy: that it has a speed-up.
bool passes(const ModelResult& model);

// One for each group, in order. Means are over passing models that have the value, not 0. The
// speed-up is not clipped at 1, as benchmarks/dynamo/runner.py once did: that hides what became
// slower.
std::vector<GroupSummary> summaries(const std::vector<ModelResult>& models);

// The same model of the same group on two machine classes: only what passes on both and has a
// latency there.
struct ModelRatio {
  Group group;
  std::string model;
  double first_ms = 0, beside_ms = 0;
  double ratio() const { return first_ms / beside_ms; }  // > 1: the one beside is faster
};
std::vector<ModelRatio> ratios(const std::vector<ModelResult>& first,
                               const std::vector<ModelResult>& beside);

// Those of `models` that `others` also has, whatever became of them there.
std::vector<ModelResult> in_both(const std::vector<ModelResult>& models,
                                 const std::vector<ModelResult>& others);

// Of positive values. nullopt of none.
MeanOver geometric_mean(const std::vector<double>& values);

}  // namespace nightjar::cli
