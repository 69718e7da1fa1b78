#include "runner/format/table.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "storage/base/text_table.hpp"

namespace nightjar::runner {
namespace {

constexpr std::size_t table_width = 100;

// What is shown of a workload: the metric, its head, and what a cell counts in.
struct Shown {
  const char *metric, *head, *unit;
  double factor;
};
constexpr Shown shown_columns[] = {{"latency", "latency", "ms", 1e3},
                                   {"kernel_time", "kernels", "ms", 1e3},
                                   {"speedup", "speed-up", "x", 1},
                                   {"compile_time", "compile", "s", 1},
                                   {"peak_cpu_memory", "memory", "MiB", 1.0 / (1 << 20)},
                                   {"peak_memory", "by blocks", "MiB", 1.0 / (1 << 20)},
                                   {"peak_gpu_memory", "GPU memory", "MiB", 1.0 / (1 << 20)}};

struct Grid {
  std::vector<std::string> columns;  // without that of the labels
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;
};

// Where to break a line of columns that would break before `end`: backends of one batch size stay
// together.
std::size_t whole_groups(const std::vector<std::string>& columns, std::size_t first,
                         std::size_t end) {
  const auto group = [&](std::size_t i) { return columns[i].substr(0, columns[i].find(' ')); };
  std::size_t cut = end;
  while (cut < columns.size() && cut > first && group(cut) == group(cut - 1)) --cut;
  return cut > first ? cut : end;
}

// Cells are right-aligned. Columns that the width cannot hold are shown below, labels repeated.
std::string grid_text(const std::string& head, const Grid& grid) {
  std::size_t label = text_width(head);
  std::vector<std::size_t> widths;
  for (const auto& column : grid.columns) widths.push_back(text_width(column));
  for (const auto& [name, cells] : grid.rows) {
    label = std::max(label, text_width(name));
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], text_width(cells[i]));
  }
  std::string out;
  for (std::size_t first = 0, end = 0; first < widths.size(); first = end) {
    std::size_t width = label;
    for (end = first;
         end < widths.size() && (end == first || width + 2 + widths[end] <= table_width); ++end)
      width += 2 + widths[end];
    end = whole_groups(grid.columns, first, end);
    const auto row = [&](const std::string& name, const std::vector<std::string>& cells) {
      std::vector<std::string> shown(cells.begin() + static_cast<std::ptrdiff_t>(first),
                                     cells.begin() + static_cast<std::ptrdiff_t>(end));
      shown.insert(shown.begin(), name);
      return shown;
    };
    TextTable table{row(head, grid.columns), {}, 1, true};
    for (const auto& [name, cells] : grid.rows) table.rows.push_back(row(name, cells));
    out += table_text(table, false) + "\n";
  }
  return out;
}

std::string status_text(RunStatus status) {
  if (status == RunStatus::out_of_memory) return "OOM";
  std::string text(name_of(status));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// The variation from run to run goes with the latency, if more than one run has a value.
std::string cell_of(const SuiteItem& item, const Shown& shown) {
  const auto found = item.metrics.find(shown.metric);
  if (found == item.metrics.end()) return "";
  const ItemMetric& metric = found->second;
  if (!metric.summary) return "disturbed";
  char text[64];
  const double value = metric.summary->location * shown.factor;
  if (std::string_view(shown.metric) == "latency" && metric.values.size() > 1)
    std::snprintf(text, sizeof text, "%.4g ±%.1f %%", value, metric.summary->cv * 100);
  else
    std::snprintf(text, sizeof text, value >= 1000 ? "%.0f" : "%.4g", value);
  return text;
}

std::string model_part(const WorkloadName& name) {
  return name.str().substr(0, name.str().size() - name.batch().size() - name.backend().size() - 2);
}

using Items = std::vector<const SuiteItem*>;

bool anything_of(const Items& items, const Shown& shown) {
  return std::any_of(items.begin(), items.end(),
                     [&](const SuiteItem* item) { return item->metrics.contains(shown.metric); });
}

// One line a workload.
std::string list_text(const Items& items) {
  Grid grid;
  std::vector<Shown> columns;
  for (const Shown& shown : shown_columns)
    if (anything_of(items, shown) || columns.empty()) columns.push_back(shown);
  for (const Shown& shown : columns)
    grid.columns.push_back(std::string(shown.head) + ", " + shown.unit);
  for (const SuiteItem* item : items) {
    std::vector<std::string> cells;
    for (const Shown& shown : columns) cells.push_back(cell_of(*item, shown));
    if (item->status != RunStatus::measured) cells.front() = status_text(item->status);
    grid.rows.emplace_back(item->name.str(), std::move(cells));
  }
  return grid_text("workload", grid);
}

// b16 after b4; backends as they come.
std::vector<std::pair<std::string, std::string>> variants_of(const Items& items) {
  std::vector<std::pair<std::string, std::string>> variants;
  for (const SuiteItem* item : items) {
    const std::pair variant{std::string(item->name.batch()), std::string(item->name.backend())};
    if (std::find(variants.begin(), variants.end(), variant) == variants.end())
      variants.push_back(variant);
  }
  std::stable_sort(variants.begin(), variants.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.size(), a.first) < std::pair(b.first.size(), b.first);
  });
  return variants;
}

// A line a model, a column a variant, a table a metric.
std::string pivot_text(const std::vector<Items>& models) {
  Items all;
  for (const Items& items : models) all.insert(all.end(), items.begin(), items.end());
  const auto variants = variants_of(all);
  std::string out;
  for (const Shown& shown : shown_columns) {
    if (!anything_of(all, shown)) continue;
    Grid grid;
    for (const auto& [batch, backend] : variants) grid.columns.push_back(batch + " " + backend);
    for (const Items& items : models) {
      std::vector<std::string> cells(variants.size());
      for (const SuiteItem* item : items)
        for (std::size_t i = 0; i < variants.size(); ++i)
          if (item->name.batch() == variants[i].first && item->name.backend() == variants[i].second)
            cells[i] = item->status == RunStatus::measured ? cell_of(*item, shown)
                                                           : status_text(item->status);
      grid.rows.emplace_back(model_part(items.front()->name), std::move(cells));
    }
    out += grid_text(std::string(shown.head) + ", " + shown.unit, grid);
  }
  return out.empty() ? list_text(all) : out;
}

}  // namespace

std::string measurement_table(const SuiteResult& result) {
  std::vector<Items> models;  // in order of appearance
  for (const SuiteItem& item : result.items) {
    const auto same = std::find_if(models.begin(), models.end(), [&](const Items& items) {
      return model_part(items.front()->name) == model_part(item.name);
    });
    if (same == models.end())
      models.push_back({&item});
    else
      same->push_back(&item);
  }
  Items single;
  std::vector<Items> several;
  for (const Items& items : models)
    if (items.size() == 1)
      single.push_back(items.front());
    else
      several.push_back(items);
  std::string out = "PyTorch " + result.version + "\n\n";
  if (!single.empty()) out += list_text(single);
  // Models of one set of variants share tables: no column is there for the sake of another model.
  while (!several.empty()) {
    const auto variants = variants_of(several.front());
    const auto rest =
        std::stable_partition(several.begin(), several.end(),
                              [&](const Items& items) { return variants_of(items) == variants; });
    out += pivot_text({several.begin(), rest});
    several.erase(several.begin(), rest);
  }
  for (const SuiteItem& item : result.items)
    if (item.status != RunStatus::measured)
      out += item.name.str() + ": " + contract_reason(item.status, item.reason) + "\n";
    else if (item.metrics.contains("latency") && !item.value("latency"))
      out += item.name.str() +
             ": no run saw the machine undisturbed, so there is no latency; see nightjar-runner "
             "doctor\n";
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace nightjar::runner
