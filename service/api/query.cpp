#include "service/api/query.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "storage/model/metric.hpp"
#include "storage/model/workload_variant.hpp"

namespace nightjar::service::api {
namespace {

constexpr int usual_limit = 50;

std::vector<std::string_view> metric_names() {
  std::vector<std::string_view> names;
  for (const Metric& metric : all_metrics()) names.push_back(metric.name);
  return names;
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (const auto name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

Query<std::string> query_of(const char* name, const char* text, Schema schema,
                            const std::vector<std::string_view>& words) {
  const auto parse = [words](const std::string& given) {
    const bool is_one = std::find(words.begin(), words.end(), given) != words.end();
    return is_one ? std::optional(given) : std::nullopt;
  };
  return {name, text, std::move(schema), "one of " + joined(words), parse};
}

}  // namespace

void refuse_value(std::string_view name, std::string_view value, std::string_view wanted) {
  throw Refused(400, "Bad query parameter",
                "The query parameter '" + std::string(name) + "' is '" + std::string(value) +
                    "'; it must be " + std::string(wanted) + ".",
                {{"", "must be " + std::string(wanted), std::string(name)}});
}

std::optional<std::int64_t> parse_id(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

Query<std::string> metric_query() {
  const auto parse = [](const std::string& text) {
    return find_metric(text) ? std::optional(text) : std::nullopt;
  };
  return {"metric", "A metric's name, e.g. latency.", metric_schema(),
          "one of " + joined(metric_names()), parse};
}

Query<std::string> text_query(const char* name, const char* text, const char* wanted) {
  const auto parse = [](const std::string& given) {
    return given.empty() ? std::nullopt : std::optional(given);
  };
  return {name, text, {{"type", "string"}, {"minLength", 1}}, wanted, parse};
}

Query<std::string> workload_query() {
  return text_query("workload", "A glob over workload names, e.g. python/*/eval/cpu/**.",
                    "a glob such as python/*/eval/cpu/**");
}

Query<std::string> word_query(const char* name, const char* text) {
  const auto parse = [](const std::string& given) -> std::optional<std::string> {
    const auto is_of_word = [](unsigned char c) {
      return std::isalnum(c) || c == '_' || c == '.' || c == '-';
    };
    if (given.empty() || !std::all_of(given.begin(), given.end(), is_of_word)) return std::nullopt;
    return given;
  };
  return {name,
          text,
          {{"type", "string"}, {"pattern", "^[A-Za-z0-9_.-]+$"}},
          "a word such as cpu, of letters, digits, _, . and -",
          parse};
}

Schema domain_schema() {
  return named("Domain", one_of(domain_names()));
}

WorkloadQueries workload_queries() {
  return {workload_query(),
          query_of("domain", "Only those of this domain, in TorchBench's words.", domain_schema(),
                   domain_names()),
          word_query("suite", "Only those of this suite, e.g. torchbench."),
          word_query("model", "Only those of this model, e.g. resnet18."),
          query_of("size", "Models of published lists in this size.", one_of(model_sizes()),
                   model_sizes()),
          word_query("device", "On this device, e.g. cpu."),
          word_query("backend", "With this backend, e.g. inductor.")};
}

WorkloadFilter WorkloadQueries::operator()(const web::Request& request) const {
  return {workload(request), domain(request), suite(request),  model(request),
          size(request),     device(request), backend(request)};
}

std::vector<Parameter> with_workloads(std::vector<Parameter> first) {
  const auto chosen = workload_queries();
  first.insert(first.end(), {chosen.workload, chosen.domain, chosen.suite, chosen.model,
                             chosen.size, chosen.device, chosen.backend});
  return first;
}

Query<Time> time_query(const char* name, const char* text) {
  const auto parse = [](const std::string& given) { return parse_rfc3339(given); };
  return {name, text, schema_of<Time>().with({{"pattern", "^[-0-9]{10}T[:0-9]{8}([.][0-9]+)?Z$"}}),
          "an RFC 3339 time in UTC such as 2026-08-20T00:00:00Z", parse};
}

PeriodQuery period_query(int usual_days) {
  const auto parse = [](const std::string& given) {
    const auto value = parse_id(given);
    return value && *value <= 366 ? std::optional(static_cast<int>(*value)) : std::nullopt;
  };
  return {usual_days,
          {"days",
           "How many, ending with `until`.",
           {{"type", "integer"}, {"minimum", 1}, {"maximum", 366}, {"default", usual_days}},
           "a number from 1 to 366",
           parse},
          time_query("until", "The end; now, if it is not given.")};
}

std::pair<Time, Time> PeriodQuery::operator()(const web::Request& request, Time now) const {
  const Time to = until(request).value_or(now);
  return {to - std::chrono::days(days(request).value_or(usual_days)), to};
}

Query<std::string> date_query(const char* name, const char* text) {
  const auto parse = [](const std::string& given) {
    return parse_rfc3339(given + "T00:00:00Z") ? std::optional(given) : std::nullopt;
  };
  return {name, text, {{"type", "string"}, {"format", "date"}}, "a date such as 2026-08-20", parse};
}

bool is_commit_name(const std::string& text) {
  return CommitSha::parse(text) ||
         (text.size() >= 4 && text.size() <= 40 &&
          text.find_first_not_of("0123456789abcdef") == std::string::npos);
}

bool is_build_name(const std::string& text) {
  return !text.empty() && text.size() <= 200 && std::isalnum(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) ||
                  std::string_view(".+_!-").find(c) != std::string_view::npos;
         });
}

Query<std::string> commit_name_query(const char* name, const char* text) {
  const auto parse = [](const std::string& given) {
    return is_commit_name(given) ? std::optional(given) : std::nullopt;
  };
  Query<std::string> made(
      name, text, {{"type", "string"}, {"pattern", "^([0-9a-f]{4,40}|[0-9a-fA-F]{40})$"}},
      "a commit: 4 to 40 hexadecimal digits in lower case, with which only one begins", parse);
  made.unknown = no_such_commit;
  return made;
}

Query<std::string> build_name_query(const char* name, const char* text) {
  const auto parse = [](std::string given) {
    // A version's plus that was not escaped means a space in a query.
    std::replace(given.begin(), given.end(), ' ', '+');
    return is_build_name(given) ? std::optional(given) : std::nullopt;
  };
  Query<std::string> made(
      name, text, {{"type", "string"}, {"pattern", "^[0-9A-Za-z][0-9A-Za-z.+_!-]{0,199}$"}},
      "a build: its id, or a version or commit with which only one begins", parse);
  made.unknown = no_such_build;
  return made;
}

Query<std::string> commit_prefix_query(const char* name, const char* text) {
  const auto parse = [](const std::string& given) {
    const bool is_prefix = given.size() >= 4 && given.size() <= 40 &&
                           given.find_first_not_of("0123456789abcdef") == std::string::npos;
    return is_prefix ? std::optional(given) : std::nullopt;
  };
  return {name,
          text,
          {{"type", "string"}, {"pattern", "^[0-9a-f]{4,40}$"}},
          "4 to 40 hexadecimal digits in lower case",
          parse};
}

Query<int> limit_query(int otherwise, const char* text, int most) {
  const auto parse = [most](const std::string& given) {
    const auto value = parse_id(given);
    return value && *value <= most ? std::optional(static_cast<int>(*value)) : std::nullopt;
  };
  return {"limit",
          text,
          {{"type", "integer"}, {"minimum", 1}, {"maximum", most}, {"default", otherwise}},
          "a number from 1 to " + std::to_string(most),
          parse};
}

Query<std::int64_t> cursor_query() {
  // No cursor that we gave out is longer or begins with a zero.
  const auto parse = [](const std::string& text) {
    return text.size() <= 18 && !text.starts_with('0') ? parse_id(text) : std::nullopt;
  };
  return {"cursor",
          "next_cursor of the page before.",
          {{"type", "string"}, {"pattern", "^[1-9][0-9]{0,17}$"}},
          "the next_cursor of a page before",
          parse};
}

std::vector<Parameter> paging() {
  return {limit_query(usual_limit), cursor_query()};
}

storage::PageRequest page_request(const web::Request& request) {
  static const auto limit = limit_query(usual_limit);
  static const auto cursor = cursor_query();
  storage::PageRequest page;
  page.limit = limit(request).value_or(usual_limit);
  page.before = cursor(request);
  return page;
}

}  // namespace nightjar::service::api
