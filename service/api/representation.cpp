#include "service/api/representation.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "service/api/query.hpp"
#include "service/gzip.hpp"
#include "service/report/github_rest.hpp"
#include "storage/base/csv.hpp"
#include "storage/base/split.hpp"
#include "web/text.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

NIGHTJAR_ENUM(Format, json, csv);

// The parts of a list, without the spaces around them.
std::vector<std::string> trimmed_parts(std::string_view list, char separator) {
  auto words = split_at(list, separator);
  for (std::string& word : words) {
    word.erase(word.find_last_not_of(' ') + 1);
    word.erase(0, word.find_first_not_of(' '));
  }
  return words;
}

// The schema that a reference or a "may be null" stands for.
const json& resolved(const json& text, const Schema& whole) {
  if (const auto ref = text.find("$ref"); ref != text.end())
    return resolved(
        whole.named.at(ref->get<std::string>().substr(std::string(reference_start).size())), whole);
  if (const auto either = text.find("oneOf"); either != text.end())
    for (const json& one : *either)
      if (one.value("type", json()) != "null") return resolved(one, whole);
  return text;
}

// The names of an object's fields: its id first, the others by name.
std::vector<std::string> names_of(const json& text, const Schema& whole) {
  std::set<std::string> names;
  const json& object = resolved(text, whole);
  if (const auto all = object.find("allOf"); all != object.end())
    for (const json& part : *all)
      for (std::string& name : names_of(part, whole)) names.insert(std::move(name));
  if (const auto fields = object.find("properties"); fields != object.end())
    for (const auto& field : fields->items()) names.insert(field.key());
  std::vector<std::string> sorted(names.begin(), names.end());
  std::stable_partition(sorted.begin(), sorted.end(),
                        [](const std::string& name) { return name == "id"; });
  return sorted;
}

const json* field_of(const json& text, const std::string& name, const Schema& whole) {
  const json& object = resolved(text, whole);
  if (const auto all = object.find("allOf"); all != object.end())
    for (const json& part : *all)
      if (const json* found = field_of(part, name, whole)) return found;
  if (const auto fields = object.find("properties"); fields != object.end())
    if (const auto found = fields->find(name); found != fields->end()) return &*found;
  return nullptr;
}

struct Column {
  std::string name;
  json::json_pointer at;
};

void add_columns(const std::string& name, const json& text, const json::json_pointer& at,
                 const Schema& whole, std::vector<Column>& columns) {
  const auto inner = names_of(text, whole);
  if (inner.empty()) columns.push_back({name, at});
  for (const std::string& one : inner)
    add_columns(name + "." + one, *field_of(text, one, whole), at / one, whole, columns);
}

std::vector<std::string> fields_of(const web::Request& request, const Schema& row) {
  auto all = names_of(row.text, row);
  const auto given = request.query_value("fields");
  if (!given) return all;
  auto wanted = trimmed_parts(*given, ',');
  for (const std::string& one : wanted)
    if (std::find(all.begin(), all.end(), one) == all.end())
      refuse_value("fields", *given, "names of the items' fields with commas between them");
  return wanted;
}

// A spreadsheet computes a cell that begins so, whoever wrote its text.
std::string no_formula(std::string text) {
  // Some take the full-width forms of the first four, and a line feed, as well.
  for (const std::string_view begin :
       {"=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"})
    if (text.starts_with(begin)) return "'" + text;
  return text;
}

// Numbers stay numbers.
std::string csv_value(const json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return csv_cell(no_formula(value.get<std::string>()));
  return csv_cell(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string csv_text(const json& items, const std::vector<std::string>& fields, const Schema& row) {
  std::vector<Column> columns;
  for (const std::string& name : fields)
    add_columns(name, *field_of(row.text, name, row), json::json_pointer() / name, row, columns);
  std::string text;
  for (const Column& column : columns) text += (text.empty() ? "" : ",") + column.name;
  text += "\r\n";
  for (const json& item : items) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) text += ',';
      // A part of an object that is null is not there.
      if (item.contains(columns[i].at)) text += csv_value(item.at(columns[i].at));
    }
    text += "\r\n";
  }
  return text;
}

std::string next_link(const web::Request& request, const std::string& cursor) {
  std::string url = request.path + "?";
  for (const auto& [name, value] : request.query)
    if (name != "cursor") url += name + "=" + encoded(value) + "&";
  return "<" + url + "cursor=" + cursor + ">; rel=\"next\"";
}

void keep_fields(json& items, const std::vector<std::string>& fields) {
  for (json& item : items) {
    json kept = json::object();
    for (const std::string& name : fields)
      if (const auto found = item.find(name); found != item.end()) kept[name] = std::move(*found);
    item = std::move(kept);
  }
}

// How much the header likes this type: that of the most specific range which holds it.
double liking(std::string_view header, std::string_view type) {
  const auto any_of_it = std::string(type.substr(0, type.find('/'))) + "/*";
  int best = -1;
  double found = 0;
  for (const std::string& range : trimmed_parts(header, ',')) {
    const auto parts = trimmed_parts(range, ';');
    const auto name = web::lower_case(parts.front());
    const int fits = name == type                   ? 2
                     : name == any_of_it            ? 1
                     : name == "*/*" || name == "*" ? 0
                                                    : -1;
    if (fits <= best) continue;
    best = fits;
    found = 1;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const std::string& parameter = parts[i];
      if (!parameter.starts_with("q=")) continue;
      const auto* end = parameter.data() + parameter.size();
      std::from_chars(parameter.data() + 2, end, found);
    }
  }
  return found;
}

Query<Format> format_query() {
  return enum_query<Format>("format", "csv: as the header Accept: text/csv asks for it.");
}

}  // namespace

std::vector<Parameter> representation(const Schema& row) {
  Parameter fields{"fields",
                   "Only these fields of the items, with commas between them.",
                   {{"type", "array"},
                    {"minItems", 1},
                    {"items", {{"type", "string"}, {"enum", names_of(row.text, row)}}}}};
  fields.list = true;
  return {std::move(fields), format_query()};
}

std::vector<Answer> list_answers(const Schema& page) {
  static const Schema partial =
      named("PartialPage", {{"type", "object"},
                            {"description", "With `fields`: these of each item."},
                            {"required", {"items", "next_cursor"}},
                            {"properties",
                             {{"items", {{"type", "array"}, {"items", {{"type", "object"}}}}},
                              {"next_cursor", {{"type", {"string", "null"}}}}}}});
  Schema either{{"anyOf", nlohmann::json::array({page.text, partial.text})}};
  either.named = page.named;
  either.named.insert(partial.named.begin(), partial.named.end());
  return {{.schema = either}, {.schema = schema_of<std::string>(), .type = "text/csv"}};
}

bool wants_csv(const web::Request& request) {
  static const auto format = format_query();
  if (const auto chosen = format(request)) return *chosen == Format::csv;
  const auto accept = request.header("accept").value_or("");
  return liking(accept, "text/csv") > liking(accept, "application/json");
}

web::Response list_answer(const web::Request& request, json page, const Schema& row) {
  const auto fields = fields_of(request, row);
  if (!wants_csv(request)) {
    if (request.query_value("fields")) keep_fields(page["items"], fields);
    return json_answer(page);
  }
  web::Response response;
  response.content_type = "text/csv; charset=utf-8; header=present";
  response.body = csv_text(page["items"], fields, row);
  if (page["next_cursor"].is_string())
    response.headers.emplace_back("Link",
                                  next_link(request, page["next_cursor"].get<std::string>()));
  return response;
}

bool takes_gzip(const web::Request& request) {
  return liking(request.header("accept-encoding").value_or(""), "gzip") > 0;
}

void compress(const web::Request& request, web::Response& response) {
  constexpr std::size_t least_bytes = 1024;
  if (response.status != 200 || response.body.size() < least_bytes || !takes_gzip(request)) return;
  // The fastest level, since answers are made again after each change of the database.
  response.body = gzip(response.body);
  response.headers.emplace_back("Content-Encoding", "gzip");
}

}  // namespace nightjar::service::api
