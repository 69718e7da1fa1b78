#include "service/cli/compare_text.hpp"

#include <algorithm>
#include <cstdio>

#include "service/cli/quantity_text.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/markdown.hpp"
#include "storage/base/text_table.hpp"
#include "storage/model/json.hpp"

namespace nightjar::cli {
namespace {

// What `nightjar-runner measure` wrote has all iterations, of which a run's value is made here.
bool any_is_of_runs(const std::vector<ComparedRow>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const ComparedRow& row) { return row.metric.ends_with(" latency"); });
}

nlohmann::json row_json(const ComparedRow& row) {
  nlohmann::json out = {
      {"metric", row.metric},
      {"verdict", row.verdict},
      {"unit", row.unit.empty() ? nlohmann::json() : nlohmann::json(row.unit)},
      {"control", row.control},
      {"treatment", row.treatment},
      {"runs", {{"control", row.control_runs}, {"treatment", row.treatment_runs}}}};
  if (row.ratio) {
    out.update({{"ratio", row.ratio->ratio}, {"low", row.ratio->low}, {"high", row.ratio->high}});
  } else {
    const auto [value, low, high] = row.difference;
    out["difference"] = {{"value", value}, {"low", low}, {"high", high}};
  }
  return out;
}

// Where a side has fewer runs than a verdict wants.
std::string runs_cell(const ComparedRow& row) {
  constexpr std::size_t usual = 5;
  if (std::min(row.control_runs, row.treatment_runs) >= usual) return "";
  return std::to_string(row.control_runs) + " and " + std::to_string(row.treatment_runs);
}

std::string change_cell(const ComparedRow& row) {
  char text[80];
  if (!row.has_interval()) {
    std::snprintf(text, sizeof text, row.ratio ? "%.3f (-)" : "%+.6g (-)",
                  row.ratio ? row.ratio->ratio : row.difference.value);
  } else if (row.ratio) {
    std::snprintf(text, sizeof text, "%.3f (%.3f to %.3f)", row.ratio->ratio, row.ratio->low,
                  row.ratio->high);
  } else {
    std::snprintf(text, sizeof text, "%+.6g (%+.6g to %+.6g)", row.difference.value,
                  row.difference.low, row.difference.high);
  }
  return text;
}

nlohmann::json one_sided_json(const std::vector<OneSided>& list) {
  auto out = nlohmann::json::array();
  for (const OneSided& one : list)
    out.push_back({{"name", one.name},
                   {"reason", one.reason.empty() ? nlohmann::json() : nlohmann::json(one.reason)},
                   {"failed", one.failed}});
  return out;
}

std::string compared_item(const std::string& text, bool markdown) {
  return markdown ? "- " + plain(text) + "\n" : one_line(text) + "\n";
}

std::string one_sided_text(const OneSided& one, const char* here, const char* there) {
  std::string text =
      one.has_rows ? std::string("failed in the ") + there : std::string("only in ") + here;
  text += ": " + one.name;
  return one.reason.empty() ? text : text + " (" + one.reason + ")";
}

std::string not_judged_text(const NotJudged& one) {
  return "not judged: " + one.name + " (" + one.reason + ")";
}

nlohmann::json not_judged_json(const std::vector<NotJudged>& list) {
  auto out = nlohmann::json::array();
  for (const NotJudged& one : list) out.push_back({{"name", one.name}, {"reason", one.reason}});
  return out;
}

TextTable rows_table(const std::vector<ComparedRow>& rows) {
  const bool all_ratios = std::all_of(rows.begin(), rows.end(),
                                      [](const ComparedRow& row) { return row.ratio.has_value(); });
  const char* change =
      all_ratios ? "ratio (95 % interval)" : "ratio, or +difference (95 % interval)";
  TextTable table{{"metric", "unit", "control", "treatment", change, "runs", "verdict"}, {}, 2};
  for (const ComparedRow& row : rows) {
    char control[32], treatment[32];
    std::snprintf(control, sizeof control, "%.6g", row.control);
    std::snprintf(treatment, sizeof treatment, "%.6g", row.treatment);
    table.rows.push_back(
        {row.metric, row.unit, control, treatment, change_cell(row), runs_cell(row), row.verdict});
  }
  return table;
}

// What stands below the table.
std::string items_text(const ComparedMetrics& compared, bool markdown) {
  std::string text;
  for (const OneSided& one : compared.lost)
    text += compared_item(one_sided_text(one, "control", "treatment"), markdown);
  for (const OneSided& one : compared.added)
    text += compared_item(one_sided_text(one, "treatment", "control"), markdown);
  for (const NotJudged& one : compared.not_judged)
    text += compared_item(not_judged_text(one), markdown);
  return text;
}

// "+12.0 % (10.1 to 13.9 %)", or a difference in the metric's unit.
std::string change_sentence(const ComparedRow& row) {
  std::string text = "from " + number_text(row.control, 4) + " to " +
                     number_text(row.treatment, 4) + (row.unit.empty() ? "" : " " + row.unit);
  return row.ratio ? text + ", " + change_text(*row.ratio) : text;
}

// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands: a percent
// sign and line ends are escaped, in a property also colons and commas.
std::string command_text(const std::string& text, bool is_property) {
  std::string out;
  for (const char c : one_line(text)) {
    if (c == '%')
      out += "%25";
    else if (is_property && c == ':')
      out += "%3A";
    else if (is_property && c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

std::string annotation(const std::string& title, const std::string& text, bool is_error) {
  return (is_error ? "::error title=" : "::warning title=") + command_text(title, true) +
         "::" + command_text(text, false) + "\n";
}

std::string xml_text(const std::string& text) {
  return with_entities(one_line(text));
}

std::string junit_case(const std::string& name, const std::string& element,
                       const std::string& message) {
  std::string text = "  <testcase classname=\"nightjar.compare\" name=\"" + xml_text(name) + "\"";
  if (element.empty()) return text + "/>\n";
  return text + "><" + element + " message=\"" + xml_text(message) + "\"/></testcase>\n";
}

}  // namespace

std::string compared_markdown(const ComparedMetrics& compared) {
  std::string items = items_text(compared, true);
  if (compared.rows.empty()) return items;
  return table_text(rows_table(compared.rows), true) + (items.empty() ? "" : "\n" + items);
}

std::string compared_table(const ComparedMetrics& compared) {
  std::string text;
  if (!compared.rows.empty()) text = table_text(rows_table(compared.rows), false);
  text += items_text(compared, false);
  if (any_is_of_runs(compared.rows))
    text += "latency: the first decile of a run's undisturbed iterations\n";
  if (compared.any_is("inconclusive"))
    text += "inconclusive: more runs would tell (at least 5 a side, 3 of a peak memory)\n";
  return text;
}

std::string compared_json(const ComparedMetrics& compared) {
  auto list = nlohmann::json::array();
  for (const ComparedRow& row : compared.rows) list.push_back(row_json(row));
  const nlohmann::json out{{"metrics", list},
                           {"only_in_control", one_sided_json(compared.lost)},
                           {"only_in_treatment", one_sided_json(compared.added)},
                           {"not_judged", not_judged_json(compared.not_judged)}};
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string github_annotations(const ComparedMetrics& compared, bool are_errors) {
  std::string text;
  for (const ComparedRow& row : compared.rows)
    if (row.verdict == "worse")
      text += annotation(row.metric + " got worse", change_sentence(row), are_errors);
  for (const OneSided& one : compared.lost)
    if (one.failed)
      text += annotation(one.name + " runs no longer", one_sided_text(one, "control", "treatment"),
                         are_errors);
  return text;
}

std::string compared_junit(const ComparedMetrics& compared) {
  std::string cases;
  int failures = 0, skipped = 0, tests = 0;
  const auto add = [&](const std::string& name, const std::string& element,
                       const std::string& message) {
    cases += junit_case(name, element, message);
    ++tests;
    failures += element == "failure";
    skipped += element == "skipped";
  };
  for (const ComparedRow& row : compared.rows) {
    const bool is_open = row.verdict != "same" && row.verdict != "better";
    add(row.metric,
        row.verdict == "worse" ? "failure"
        : is_open              ? "skipped"
                               : "",
        row.verdict + ": " + change_sentence(row));
  }
  for (const OneSided& one : compared.lost)
    add(one.name, one.failed ? "failure" : "skipped", one_sided_text(one, "control", "treatment"));
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"nightjar compare\" "
         "tests=\"" +
         std::to_string(tests) + "\" failures=\"" + std::to_string(failures) +
         "\" errors=\"0\" skipped=\"" + std::to_string(skipped) + "\">\n" + cases +
         "</testsuite>\n";
}

}  // namespace nightjar::cli
