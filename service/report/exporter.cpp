#include "service/report/exporter.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include "service/config.hpp"
#include "service/gzip.hpp"
#include "service/report/posted.hpp"
#include "storage/base/redaction.hpp"
#include "storage/model/address.hpp"
#include "storage/model/benchmark_record.hpp"
#include "storage/model/json.hpp"
#include "storage/model/metric.hpp"
#include "web/secret.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t most_records = 1000;

// KEY:SECRET or KEY:SECRET:SESSION, as AWS names them; only the last may have a colon.
web::BucketLogin login_of(const ExportConfig& config) {
  const std::string line = read_secret(nullptr, config.login_file);
  const auto first = line.find(':'), second = line.find(':', first + 1);
  if (first == 0 || first == line.npos || first + 1 >= line.size() || second == first + 1)
    throw std::runtime_error("the first line of " + config.login_file.string() +
                             " must be KEY:SECRET or KEY:SECRET:SESSION of the bucket's user");
  web::BucketLogin login{config.region, line.substr(0, first), "", ""};
  login.secret = line.substr(first + 1, second == line.npos ? line.npos : second - first - 1);
  if (second != line.npos) login.session = line.substr(second + 1);
  for (const std::string& secret : {login.secret, login.session})
    if (!secret.empty()) keep_secret(secret);
  return login;
}

// The commit that HUD shows the record at, and how sure the verdict is of it.
struct Place {
  std::string found, commit;
  double probability = 0;
};

Place place_of(const ReportInput& issue) {
  const auto& named = issue.culprit ? issue.culprit : issue.range;
  if (named && !named->commits.empty())
    return {issue.culprit ? "culprit" : "range", named->commits.back().sha.str(),
            named->probability};
  return {"unattributed", issue.bad.commit ? issue.bad.commit->str() : "", 0};
}

std::string commits_of(const ReportInput& issue) {
  const auto& named = issue.culprit ? issue.culprit : issue.range;
  std::string text;
  if (named)
    for (const ReportCommit& commit : named->commits)
      text += (text.empty() ? "" : " ") + commit.sha.str();
  return text;
}

std::int64_t seconds_of(Time time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

BenchmarkRecord record_of(const ReportInput& issue, const ReportSeries& series,
                          const WorkloadName& name, const Place& place) {
  BenchmarkRecord record{.workload = name, .metric = series.metric, .values = {series.after}};
  record.target = series.before;
  record.benchmark = "nightjar_verdict";
  record.commit = place.commit;
  record.version = issue.bad.version;
  record.machine = issue.machine;
  record.more = {{"verdict", "worse"},
                 {"found", place.found},
                 {"commits", commits_of(issue)},
                 {"probability", text_of(place.probability)},
                 {"ratio", text_of(series.ratio)},
                 {"ratio_low", text_of(series.low)},
                 {"ratio_high", text_of(series.high)},
                 {"before_version", issue.good.version},
                 {"after_version", issue.bad.version},
                 {"rule", issue.rule},
                 {"url", issue.details_url},
                 {"fingerprint", issue.fingerprint}};
  if (const Metric* metric = find_metric(series.metric)) record.more["unit"] = metric->unit;
  return record;
}

web::ClientRequest to_bucket(const ExportConfig& config, const OutboxMessage& message,
                             const std::string& body) {
  web::ClientRequest request;
  request.method = "PUT";
  request.url = config.bucket.text() + "/" + object_name(config, message);
  request.headers = {{"X-Amz-Content-Sha256", web::sha256(body).str()}};
  request.bucket = login_of(config);
  return request;
}

web::ClientRequest to_webhook(const ExportConfig& config, const OutboxMessage& message,
                              const std::string& body) {
  web::ClientRequest request;
  request.method = "POST";
  request.url = export_url(config);
  request.headers = {
      {"X-Nightjar-Delivery", message.key},
      {"X-Hub-Signature-256", web::signature_of(read_secret(nullptr, config.secret_file), body)}};
  return request;
}

}  // namespace

std::string verdict_records(const ReportInput& issue, const ExportConfig& config, Time now) {
  const Place place = place_of(issue);
  const auto seconds = seconds_of(now);
  std::string lines;
  std::size_t records = 0;
  for (const ReportSeries& series : issue.series) {
    const auto name = WorkloadName::parse(series.workload);
    if (!name || ++records > most_records) continue;
    BenchmarkRecord record = record_of(issue, series, *name, place);
    record.metadata = BenchmarkMetadata{
        seconds, "Nightjar verdict", config.repository, config.branch, seconds, issue.regression};
    lines += benchmark_record_json(record) + "\n";
  }
  return lines;
}

std::string taken_back(const std::string& records, const std::string& why, Time now) {
  const auto seconds = seconds_of(now);
  std::istringstream lines(records);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    auto record = nlohmann::json::parse(line);
    record["timestamp"] = record["workflow_id"] = seconds;
    auto& more = record["metric"]["extra_info"];
    more["verdict"] = "taken back";
    more["why"] = why;
    out += record.dump() + "\n";
  }
  return out;
}

std::string object_name(const ExportConfig& config, const OutboxMessage& message) {
  std::string finding = message.key.substr(message.key.find(':') + 1);
  finding.resize(std::min(finding.size(), finding.find(':')));
  return "v3/" + config.repository + "/" + config.branch + "/nightjar/" + finding + ".json";
}

std::string export_url(const ExportConfig& config) {
  const std::string url = read_secret(nullptr, config.url_file);
  if (!nightjar::origin_of(url))
    throw std::runtime_error("the first line of " + config.url_file.string() +
                             " must be the address of a webhook, \"https://...\"");
  keep_parts_secret(url);
  return url;
}

std::string export_host(const ExportConfig& config) {
  return host_of(config.bucket.empty() ? export_url(config) : config.bucket.text());
}

void check_export_login(const ExportConfig& config) {
  login_of(config);
}

Outcome<std::monostate> export_verdict(const ExportConfig& config, const OutboxMessage& message) {
  if (!config.is_on()) return Permanent{"[export] of the configuration is not set any more"};
  web::ClientRequest request;
  const std::string body = gzip(message.body);
  try {
    request = config.bucket.empty() ? to_webhook(config, message, body)
                                    : to_bucket(config, message, body);
  } catch (const std::runtime_error& error) {
    return Transient{error.what(), std::nullopt};
  }
  request.body = body;
  request.headers.emplace_back("Content-Type", "application/json");
  request.headers.emplace_back("Content-Encoding", "gzip");
  request.response_limit = 1 << 20;
  return post_to("the export", request);
}

}  // namespace nightjar::service
