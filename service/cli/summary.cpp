#include "service/cli/summary.hpp"

#include <algorithm>
#include <cstdio>

#include "service/cli/failure.hpp"
#include "service/cli/suite_summary.hpp"
#include "storage/base/terminal.hpp"
#include "storage/base/text_table.hpp"
#include "storage/model/json.hpp"

namespace nightjar::cli {
namespace {

using nlohmann::ordered_json;

// Both sides are summed up over the models that both have, so that no number moves because a model
// is missing.
struct Sides {
  std::vector<ModelResult> first, beside;
  bool both = false;
};

std::vector<ModelResult> models_in(const std::vector<std::filesystem::path>& files) {
  ModelResults results = read_models(files);
  for (const std::string& line : results.refused) say(stderr, "nightjar: %s\n", line.c_str());
  return std::move(results.models);
}

bool has_runs(const Sides& sides) {
  return std::any_of(sides.first.begin(), sides.first.end(),
                     [](const ModelResult& model) { return !model.group.run.empty(); });
}

Sides read_sides(const SummaryOptions& options) {
  Sides sides{models_in(options.files), {}, !options.beside.empty()};
  if (!sides.both) return sides;
  sides.beside = models_in(options.beside);
  sides.first = in_both(sides.first, sides.beside);
  sides.beside = in_both(sides.beside, sides.first);
  if (sides.first.empty())
    throw BadInput("cannot put side by side: no model of " + options.files.front().string() +
                   " is in " + options.beside.front().string() +
                   " under the same suite, task, device, precision and backend");
  return sides;
}

std::string mean_text(const MeanOver& mean, const char* format) {
  if (!mean.value) return "-";
  char text[64];
  std::snprintf(text, sizeof text, format, *mean.value);
  return text;
}

std::string number_text(const char* format, double value) {
  return mean_text({value, 1}, format);
}

std::vector<std::string> group_cells(const Group& group) {
  return {group.suite, group.task, group.device, group.precision, group.backend};
}

std::vector<std::string> summary_cells(const GroupSummary& summary) {
  return {number_text("%.0f %%", 100.0 * double(summary.passed) / double(summary.models)) + ", " +
              std::to_string(summary.passed) + "/" + std::to_string(summary.models),
          mean_text(summary.speedup, "%.2fx"), mean_text(summary.compile_seconds, "%.1f s"),
          mean_text(summary.compression_ratio, "%.2fx")};
}

TextTable summary_table(const Sides& sides) {
  TextTable table{{"suite", "task", "device", "precision", "backend"}, {}, 5};
  const bool with_runs = has_runs(sides);
  if (with_runs) table.head.push_back("run");
  if (sides.both) table.head.push_back("side");
  table.left = table.head.size();
  for (const char* head : {"pass rate", "speed-up", "compile", "compression"})
    table.head.push_back(head);
  const auto first = summaries(sides.first), beside = summaries(sides.beside);
  const auto add = [&](const GroupSummary& summary, const char* side) {
    auto row = group_cells(summary.group);
    if (with_runs) row.push_back(summary.group.run);
    if (sides.both) row.push_back(side);
    for (auto& cell : summary_cells(summary)) row.push_back(std::move(cell));
    table.rows.push_back(std::move(row));
  };
  for (std::size_t i = 0; i < first.size(); ++i) {
    add(first[i], "first");
    if (sides.both) add(beside[i], "beside");
  }
  return table;
}

TextTable ratio_table(const std::vector<ModelRatio>& models) {
  TextTable table{
      {"suite", "task", "device", "precision", "backend", "model", "first", "beside", "ratio"},
      {},
      6};
  std::vector<double> all;
  for (const ModelRatio& model : models) {
    auto row = group_cells(model.group);
    for (auto& cell : {model.model, number_text("%.4g ms", model.first_ms),
                       number_text("%.4g ms", model.beside_ms), number_text("%.3f", model.ratio())})
      row.push_back(cell);
    table.rows.push_back(std::move(row));
    all.push_back(model.ratio());
  }
  table.rows.push_back({"geometric mean", "", "", "", "", std::to_string(models.size()) + " models",
                        "", "", mean_text(bisect::geometric_mean(all), "%.3f")});
  return table;
}

ordered_json mean_json(const MeanOver& mean) {
  return {{"value", mean.value ? ordered_json(*mean.value) : ordered_json(nullptr)},
          {"models", mean.models}};
}

ordered_json group_json(const Group& group) {
  return {{"suite", group.suite},
          {"task", group.task},
          {"device", group.device},
          {"precision", group.precision},
          {"backend", group.backend},
          {"run", group.run.empty() ? ordered_json(nullptr) : ordered_json(group.run)}};
}

ordered_json groups_json(const std::vector<ModelResult>& models) {
  auto list = ordered_json::array();
  for (const GroupSummary& summary : summaries(models)) {
    auto item = group_json(summary.group);
    item["models"] = summary.models;
    item["passed"] = summary.passed;
    item["pass_rate"] = double(summary.passed) / double(summary.models);
    item["speedup"] = mean_json(summary.speedup);
    item["compile_time"] = mean_json(summary.compile_seconds);
    item["compression_ratio"] = mean_json(summary.compression_ratio);
    list.push_back(std::move(item));
  }
  return list;
}

ordered_json sides_json(const Sides& sides) {
  ordered_json root{{"groups", groups_json(sides.first)}, {"beside", nullptr}, {"ratios", nullptr}};
  if (!sides.both) return root;
  root["beside"] = groups_json(sides.beside);
  root["ratios"] = ordered_json::array();
  for (const ModelRatio& model : ratios(sides.first, sides.beside)) {
    auto item = group_json(model.group);
    item["model"] = model.model;
    item["first"] = model.first_ms / 1e3;
    item["beside"] = model.beside_ms / 1e3;
    item["ratio"] = model.ratio();
    root["ratios"].push_back(std::move(item));
  }
  return root;
}

}  // namespace

int summary(const SummaryOptions& options) {
  const Sides sides = read_sides(options);
  if (options.format == "json") {
    put_text(stdout, sides_json(sides).dump(2) + "\n");
    return 0;
  }
  const bool markdown = options.format == "markdown";
  std::fputs(table_text(summary_table(sides), markdown).c_str(), stdout);
  if (!sides.both) return 0;
  say(stdout, "\nlatency of an iteration; ratio = first / beside, above 1: beside is faster\n\n");
  std::fputs(table_text(ratio_table(ratios(sides.first, sides.beside)), markdown).c_str(), stdout);
  return 0;
}

}  // namespace nightjar::cli
