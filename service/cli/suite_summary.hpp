// A suite in four numbers, by the definitions of PyTorch's compiler dashboard. Pure; used by
// `nightjar summary`.
#pragma once

#include <string>
#include <vector>

#include "bisect/suite.hpp"
#include "service/cli/model_results.hpp"

namespace nightjar::cli {

using bisect::MeanOver;

struct GroupSummary {
  Group group;
  std::size_t models = 0, passed = 0;
  MeanOver speedup;            // geometric; > 1 is faster than eager
  MeanOver compile_seconds;    // arithmetic
  MeanOver compression_ratio;  // arithmetic; > 1 is less memory than eager
};

// Whether the model passes, by bisect::passes().
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

// Returns those of `models` that `others` also has, whether or not they passed there.
std::vector<ModelResult> in_both(const std::vector<ModelResult>& models,
                                 const std::vector<ModelResult>& others);

}  // namespace nightjar::cli
