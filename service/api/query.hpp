// Query parameters, each declared once: what openapi.json says of one, how a handler reads it, and
// what is Refused (400). And ids in paths (404). Internal to the API.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/api/document.hpp"
#include "service/api/respond.hpp"
#include "storage/model/domain.hpp"
#include "storage/page.hpp"

namespace nightjar::service::api {

// Reads a positive 64-bit number; nullopt if `text` is not one.
std::optional<std::int64_t> parse_id(std::string_view text);

template <class Id>
Id path_id(const web::Request& request) {
  const auto& text = request.parameters.at("id");
  if (const auto value = parse_id(text)) return Id{*value};
  throw Refused(404, "Not found", "'" + text + "' is no id.");
}

[[noreturn]] void refuse_value(std::string_view name, std::string_view value,
                               std::string_view wanted);

// nullopt where the request has none.
template <class T>
struct Query : Parameter {
  Query(const char* is_called, const char* says, Schema has, std::string must_be,
        std::function<std::optional<T>(const std::string&)> reads)
      : Parameter{is_called, says, std::move(has)},
        wanted(std::move(must_be)),
        parse(std::move(reads)) {}
  std::optional<T> operator()(const web::Request& request) const {
    const auto given = request.query_value(name);
    if (!given) return std::nullopt;
    if (auto value = parse(*given)) return value;
    refuse_value(name, *given, wanted);
  }

  std::string wanted;
  std::function<std::optional<T>(const std::string&)> parse;
};

template <class Id>
Query<Id> id_query(const char* name, const char* text) {
  const auto parse = [](const std::string& given) {
    const auto value = parse_id(given);
    return value ? std::optional(Id{*value}) : std::nullopt;
  };
  return {name, text, schema_of<Id>(), "a positive number", parse};
}

template <class E>
Query<E> enum_query(const char* name, const char* text) {
  const auto parse = [](const std::string& given) { return enum_from<E>(given); };
  return {name, text, schema_of<E>(), "one of " + std::string(enum_names(E{})), parse};
}

Query<std::string> metric_query();
// Any text but none; `wanted` says what in a refusal.
Query<std::string> text_query(const char* name, const char* text, const char* wanted);
Query<std::string> workload_query();
Query<Time> time_query(const char* name, const char* text);
// The parameter `days`, 1 to 366, which end with the parameter `until`, or now.
struct PeriodQuery {
  int usual_days;
  Query<int> days;
  Query<Time> until;

  // Begin and end.
  std::pair<Time, Time> operator()(const web::Request& request, Time now) const;
};
PeriodQuery period_query(int usual_days);
Query<std::string> date_query(const char* name, const char* text);
// What people type in place of an id; references.hpp finds what they mean. A commit: 4 to 40 digits
// in lower case, or all 40. A build: its id, a version, or how that or a commit begins.
bool is_commit_name(const std::string& text);
bool is_build_name(const std::string& text);
Query<std::string> commit_name_query(const char* name, const char* text);
Query<std::string> build_name_query(const char* name, const char* text);
// The first digits of a commit's name, in lower case.
Query<std::string> commit_prefix_query(const char* name, const char* text);
// A variant, or a part of a workload's name.
Query<std::string> word_query(const char* name, const char* text);

// The parameters that choose workloads, by name and by what they are grouped by.
struct WorkloadQueries {
  WorkloadFilter operator()(const web::Request& request) const;
  Query<std::string> workload, domain, suite, model, size, device, backend;
};
WorkloadQueries workload_queries();
Schema domain_schema();  // the name of a domain
// `first`, then those that choose workloads.
std::vector<Parameter> with_workloads(std::vector<Parameter> first);

// 1 to `most`.
Query<int> limit_query(int otherwise, const char* text = "Items at most.", int most = 500);

Query<std::int64_t> cursor_query();
// The parameters `limit` and `cursor` of a list in pages.
std::vector<Parameter> paging();
storage::PageRequest page_request(const web::Request& request);

// One page of a list that is in memory: what comes after the item with the cursor's id, or its
// beginning. A cursor that names nothing gives an empty page.
template <class T, class IdOf>
storage::Page<T> page_of(std::vector<T> all, const storage::PageRequest& asked, IdOf id_of) {
  auto first = all.begin();
  if (asked.before) {
    first = std::find_if(all.begin(), all.end(),
                         [&](const T& item) { return id_of(item) == *asked.before; });
    if (first != all.end()) ++first;
  }
  storage::Page<T> page;
  const bool is_last_page = all.end() - first <= asked.limit;
  page.items.assign(std::make_move_iterator(first),
                    std::make_move_iterator(is_last_page ? all.end() : first + asked.limit));
  if (!is_last_page) page.next = id_of(page.items.back());
  return page;
}

}  // namespace nightjar::service::api
