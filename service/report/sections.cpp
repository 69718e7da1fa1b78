#include "service/report/sections.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "service/report/quantity.hpp"
#include "storage/base/markdown.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/workload.hpp"

namespace nightjar::service {
namespace {

// The repository's web page: only where its URL is one. A local clone has no pages to link to.
std::string web_page(const std::string& repository) {
  if (!repository.starts_with("https://") && !repository.starts_with("http://")) return {};
  const bool odd = std::any_of(repository.begin(), repository.end(), [](unsigned char c) {
    return c <= ' ' || c >= 0x7F ||
           std::string_view("()<>|\\`").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (odd) return {};
  std::string page = repository;
  while (page.ends_with('/')) page.pop_back();
  if (page.ends_with(".git")) page.resize(page.size() - 4);
  return page;
}

// A single value in place of an interval means that none was estimated.
std::string interval(const ReportSeries& series) {
  if (has_no_ratio(series.metric) || series.low == series.high) return "–";
  return change_interval(series.low, series.high);
}

}  // namespace

std::string brief_workload(const std::string& workload) {
  const auto name = WorkloadName::parse(workload);
  if (!name) return one_line(workload);
  return std::string(name->model()) + " " + std::string(name->task());
}

std::string brief_change(const ReportSeries& series) {
  if (series.metric == failures_metric) return quantity(series.metric, series.after);
  return metric_title(series.metric) + " " +
         change_of(series.metric, series.before, series.after, series.ratio);
}

std::string brief_workloads(const std::vector<ReportSeries>& series) {
  std::set<std::string> names;
  for (const ReportSeries& one : series) names.insert(brief_workload(one.workload));
  std::string text = brief_workload(series.front().workload);
  if (names.size() > 1) text += " and " + std::to_string(names.size() - 1) + " more";
  return text;
}

std::string change_in_brackets(const ReportSeries& series) {
  const double scale = std::max(series.before, series.after);
  std::string text = " (" + quantity(series.metric, series.before, scale) + " → " +
                     quantity(series.metric, series.after, scale);
  if (interval(series) != "–") text += ", 95 % interval " + interval(series);
  return text + ")";
}

std::string by_model(const std::vector<std::string>& workloads) {
  constexpr std::size_t most = 100;
  std::map<std::string, std::size_t> models;
  for (const std::string& workload : workloads) {
    const auto name = WorkloadName::parse(workload);
    ++models[name ? std::string(name->model()) : one_line(workload)];
  }
  std::string text;
  std::size_t shown = 0, counted = 0;
  for (const auto& [model, count] : models) {
    if (shown++ == most) break;
    text += (text.empty() ? "" : ", ") + plain(model) + " (" + std::to_string(count) + ")";
    counted += count;
  }
  if (models.size() > most)
    text += " and " + std::to_string(workloads.size() - counted) + " of " +
            std::to_string(models.size() - most) + " more models";
  return text;
}

std::string series_table(const std::vector<ReportSeries>& series, std::size_t limit) {
  const bool classes = std::any_of(series.begin(), series.end(),
                                   [](const ReportSeries& one) { return !one.machine.empty(); });
  std::vector<std::string> heads{"workload", "metric",  ">before",
                                 ">after",   ">change", ">95 % interval"};
  if (classes) heads.emplace_back("measured on");
  std::vector<std::vector<std::string>> rows;
  for (const ReportSeries& one : series) {
    if (rows.size() == limit) break;
    const double scale = std::max(one.before, one.after);
    auto& row = rows.emplace_back(std::vector<std::string>{
        code(one.workload), metric_title(one.metric), quantity(one.metric, one.before, scale),
        quantity(one.metric, one.after, scale),
        change_of(one.metric, one.before, one.after, one.ratio), interval(one)});
    if (classes) row.push_back(plain(one.machine));
  }
  std::string text = table(heads, rows);
  std::vector<std::string> others;
  for (std::size_t i = limit; i < series.size(); ++i) others.push_back(series[i].workload);
  if (!others.empty())
    text += "\n" + std::to_string(others.size()) +
            " more series find no room here, by model: " + by_model(others) + ".\n";
  return text;
}

std::string commit_link(const std::string& repository, const CommitSha& sha) {
  const std::string page = web_page(repository);
  if (page.empty()) return "`" + sha.brief() + "`";
  return "[`" + sha.brief() + "`](" + page + "/commit/" + sha.str() + ")";
}

std::string name_of_commit(const ReportCommit& commit, const std::string& repository) {
  return commit_link(repository, commit.sha) + " “" + plain(shortened(commit.subject, 100)) +
         "” by " + plain(shortened(commit.author, 60));
}

std::string pull_request_link(const std::string& repository, const std::string& subject) {
  const auto number = pull_request_of(subject);
  if (!number) return "–";
  const std::string text = "#" + std::to_string(*number);
  const std::string page = web_page(repository);
  if (page.empty()) return "`" + text + "`";
  return "[" + text + "](" + page + "/pull/" + std::to_string(*number) + ")";
}

}  // namespace nightjar::service
