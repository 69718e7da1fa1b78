#include "service/cli/search_report.hpp"

#include <algorithm>
#include <cmath>

#include "service/cli/quantity_text.hpp"
#include "storage/model/json.hpp"

namespace nightjar::cli {
namespace {
using bisect::SearchOutcome;
using nlohmann::json;

json level_json(const std::optional<LevelEstimate>& level) {
  if (!level) return nullptr;
  return {{"location", level->location},
          {"low", level->low},
          {"high", level->high},
          {"runs", level->runs}};
}

json change_json(double ratio, double low, double high) {
  return {{"ratio", ratio}, {"low", low}, {"high", high}};
}

// A failure rate often is 0 on one side, so a ratio would say nothing.
const json no_ratio{{"ratio", nullptr}, {"low", nullptr}, {"high", nullptr}};

json steps_json(const std::vector<ReportedStep>& steps, bool of_failures) {
  json list = json::array();
  for (const ReportedStep& step : steps) {
    json facts = json::array();
    for (const CommitFacts& one : step.facts)
      facts.push_back({{"subject", one.subject},
                       {"author", one.author},
                       {"date", one.date},
                       {"is_merge", one.is_merge}});
    list.push_back(
        {{"commits", step.commits},
         {"facts", facts},
         {"probability", step.named.probability},
         {"change",
          of_failures ? no_ratio : change_json(step.named.ratio, step.named.low, step.named.high)},
         {"before", level_json(step.before)},
         {"after", level_json(step.after)}});
  }
  return list;
}

json ends_json(const std::optional<Ends>& ends, bool of_failures) {
  if (!ends) return nullptr;
  if (of_failures)
    return {{"good", level_json(ends->good)},
            {"bad", level_json(ends->bad)},
            {"change", no_ratio},
            {"smallest_seen", nullptr},
            {"smallest_rate_seen", smallest_rate_seen(ends->bad.runs)}};
  return {{"good", level_json(ends->good)},
          {"bad", level_json(ends->bad)},
          {"change", change_json(ends->change.ratio, ends->change.low, ends->change.high)},
          {"smallest_seen", ends->smallest_seen}};
}

json object_without_merges(const SearchReport& report) {
  json posterior = json::array();
  for (const auto& share : report.posterior)
    posterior.push_back({{"commits", share.commits}, {"probability", share.probability}});
  const bool several = report.outcome == SearchOutcome::several_small;
  const bool of_failures = seeks_failures(report.options);
  const json named = steps_json(report.named, of_failures), none = json::array();
  const std::string& package = report.options.package;
  const json of_package = package.empty() ? json() : json(package);
  json out{{"outcome", name_of(report.outcome)},
           {"culprits", several ? none : named},
           {"contributors", several ? named : none},
           {"smaller_steps", steps_json(report.smaller, of_failures)},
           {"ends", ends_json(report.ends, of_failures)},
           {"package", of_package},
           {"good", report.good},
           {"bad", report.bad},
           {"threshold", report.options.threshold},
           {"direction", direction_word(report.options)},
           {"find", report.options.find},
           {"builds", report.builds},
           {"runs", report.runs},
           {"posterior", posterior},
           {"rule", report.rule}};
  if (report.subject) {
    out["benchmark"] = report.subject->benchmark;
    out["unit"] = report.subject->unit.empty() ? json() : json(report.subject->unit);
  }
  return out;
}

const char* blamed_word(MergeFinding::Blamed blamed) {
  switch (blamed) {
    case MergeFinding::Blamed::branch:
      return "branch";
    case MergeFinding::Blamed::merge:
      return "merge";
    case MergeFinding::Blamed::nobody:
      break;
  }
  return "nobody";
}

json merges_json(const std::vector<MergeFinding>& merges) {
  json list = json::array();
  for (const MergeFinding& one : merges) {
    json branches = json::array();
    for (const SearchReport& branch : one.branches)
      branches.push_back(object_without_merges(branch));
    list.push_back({{"merge", one.merge},
                    {"blamed", blamed_word(one.blamed)},
                    {"reason", one.reason},
                    {"branches", branches}});
  }
  return list;
}

}  // namespace

json report_object(const SearchReport& report) {
  json out = object_without_merges(report);
  out["inside_merges"] = merges_json(report.inside_merges);
  return out;
}

std::string report_json(const SearchReport& report) {
  const json out = report_object(report);
  // A commit's author may have written no UTF-8.
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string opposite_change(const Ends& ends, const BisectOptions& options) {
  const bool less = seeks_less(options);
  const auto [ratio, low, high] = measured_ratio(ends.change, less);
  const double threshold = std::log1p(options.threshold);
  if (high >= 1 || -std::log(ratio) < threshold / 2) return "";
  const bool for_worse = options.find == "worse";
  std::string text = std::string("the level ") + (less ? "rose" : "fell") + " by " +
                     size_text(ends.change) + ": nothing got " + options.find;
  if (!prefers_more(options)) text += ", as lower is better";
  if (-std::log(low) < threshold) return text;
  text += for_worse ? ". To find what improved it: --find better"
                    : ". To find what made it worse: --find worse";
  if (!prefers_more(options)) text += ". For a throughput: --direction higher";
  return text;
}

}  // namespace nightjar::cli
