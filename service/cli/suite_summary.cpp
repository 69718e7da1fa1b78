#include "service/cli/suite_summary.hpp"

#include <algorithm>

namespace nightjar::cli {
namespace {

void add_positive(std::vector<double>& values, const std::optional<double>& value) {
  if (value && *value > 0) values.push_back(*value);
}

GroupSummary summary_of(const std::vector<ModelResult>& models) {
  GroupSummary summary;
  summary.group = models.front().group;
  summary.models = models.size();
  std::vector<double> speedups, compile, compression;
  for (const ModelResult& model : models) {
    if (!passes(model)) continue;
    ++summary.passed;
    add_positive(speedups, model.speedup);
    add_positive(compile, model.compile_seconds);
    add_positive(compression, model.compression_ratio);
  }
  summary.speedup = bisect::geometric_mean(speedups);
  summary.compile_seconds = bisect::arithmetic_mean(compile);
  summary.compression_ratio = bisect::arithmetic_mean(compression);
  return summary;
}

const ModelResult* same_in(const std::vector<ModelResult>& models, const ModelResult& wanted) {
  const auto found = std::find_if(models.begin(), models.end(), [&](const ModelResult& model) {
    return model.group == wanted.group && model.model == wanted.model;
  });
  return found == models.end() ? nullptr : &*found;
}

bool ran(const ModelResult& model) {
  return passes(model) && model.latency_ms && *model.latency_ms > 0;
}

}  // namespace

bool passes(const ModelResult& model) {
  return bisect::passes(model.accuracy, model.speedup, model.group.backend == "eager");
}

std::vector<GroupSummary> summaries(const std::vector<ModelResult>& models) {
  std::vector<GroupSummary> out;
  for (std::size_t begin = 0, end = 0; begin < models.size(); begin = end) {
    while (end < models.size() && models[end].group == models[begin].group) ++end;
    out.push_back(summary_of({models.begin() + static_cast<std::ptrdiff_t>(begin),
                              models.begin() + static_cast<std::ptrdiff_t>(end)}));
  }
  return out;
}

std::vector<ModelRatio> ratios(const std::vector<ModelResult>& first,
                               const std::vector<ModelResult>& beside) {
  std::vector<ModelRatio> out;
  for (const ModelResult& model : first)
    if (const ModelResult* other = same_in(beside, model); other && ran(model) && ran(*other))
      out.push_back({model.group, model.model, *model.latency_ms, *other->latency_ms});
  return out;
}

std::vector<ModelResult> in_both(const std::vector<ModelResult>& models,
                                 const std::vector<ModelResult>& others) {
  std::vector<ModelResult> out;
  for (const ModelResult& model : models)
    if (same_in(others, model)) out.push_back(model);
  return out;
}

}  // namespace nightjar::cli
