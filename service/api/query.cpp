#include "service/api/query.hpp"

#include <charconv>

#include "storage/model/metric.hpp"

namespace nightjar::service::api {

void refuse_value(std::string_view name, std::string_view value, std::string_view wanted) {
  throw Refused(400, "Bad query parameter",
                "The query parameter '" + std::string(name) + "' is '" + std::string(value) +
                    "'; it must be " + std::string(wanted) + ".");
}

std::optional<std::int64_t> parse_id(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

int query_limit(const web::Request& request, int otherwise) {
  const auto text = request.query_value("limit");
  if (!text) return otherwise;
  const auto value = parse_id(*text);
  if (!value || *value > 500) refuse_value("limit", *text, "a number from 1 to 500");
  return static_cast<int>(*value);
}

storage::PageRequest query_page(const web::Request& request) {
  storage::PageRequest page;
  page.limit = query_limit(request);
  if (const auto text = request.query_value("cursor")) {
    // As openapi.json has it: no cursor that we gave out is longer or begins with a zero.
    if (text->size() <= 18 && !text->starts_with('0')) page.before = parse_id(*text);
    if (!page.before) refuse_value("cursor", *text, "the next_cursor of a page before");
  }
  return page;
}

std::optional<std::string> query_metric(const web::Request& request) {
  auto text = request.query_value("metric");
  if (text && !find_metric(*text)) {
    std::string names;
    for (const Metric& metric : all_metrics())
      names += (names.empty() ? "" : ", ") + std::string(metric.name);
    refuse_value("metric", *text, "one of " + names);
  }
  return text;
}

std::optional<std::string> query_glob(const web::Request& request, std::string_view name) {
  auto text = request.query_value(name);
  if (text && text->empty()) refuse_value(name, *text, "a glob such as python/*/eval/cpu/**");
  return text;
}

std::optional<Time> query_time(const web::Request& request, std::string_view name) {
  const auto text = request.query_value(name);
  if (!text) return std::nullopt;
  if (const auto time = parse_rfc3339(*text)) return time;
  refuse_value(name, *text, "an RFC 3339 time in UTC such as 2026-08-20T00:00:00Z");
}

std::optional<CommitSha> query_commit(const web::Request& request, std::string_view name) {
  const auto text = request.query_value(name);
  if (!text) return std::nullopt;
  if (auto commit = CommitSha::parse(*text)) return commit;
  refuse_value(name, *text, "40 hexadecimal digits");
}

}  // namespace nightjar::service::api
