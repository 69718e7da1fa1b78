#include "storage/model/schema.hpp"

#include "storage/model/metric.hpp"

namespace nightjar {
using nlohmann::json;

// Defined here, since they made up a third of the code of each route when they were inlined there.
Schema::Schema() = default;
Schema::Schema(json::initializer_list_t keywords) : text(keywords) {}
Schema::Schema(const Schema& other) = default;
Schema::Schema(Schema&& other) noexcept = default;
Schema& Schema::operator=(const Schema& other) = default;
Schema& Schema::operator=(Schema&& other) noexcept = default;
Schema::~Schema() = default;

Schema Schema::with(const json& keywords) const {
  Schema made = *this;
  made.text.update(keywords);
  return made;
}

Schema named(const std::string& name, const Schema& schema) {
  Schema made{{"$ref", std::string(reference_start) + name}};
  made.named = schema.named;
  made.named[name] = schema.text;
  return made;
}

Schema of_type(const char* type) {
  return {{"type", type}};
}

Schema id_schema() {
  return {{"type", "integer"}, {"format", "int64"}, {"minimum", 1}};
}

Schema time_schema() {
  return {{"type", "string"}, {"format", "date-time"}};
}

Schema nullable(Schema schema) {
  if (schema.text.contains("enum")) schema.text["enum"].push_back(nullptr);
  if (schema.text.contains("type") && schema.text["type"] != "object")
    schema.text["type"] = {schema.text["type"], "null"};
  else
    schema.text = {{"oneOf", {schema.text, {{"type", "null"}}}}};
  return schema;
}

Schema list_of(Schema item) {
  item.text = {{"type", "array"}, {"items", item.text}};
  return item;
}

Schema map_of(Schema item) {
  item.text = {{"type", "object"}, {"additionalProperties", item.text}};
  return item;
}

Schema one_of(const std::vector<std::string_view>& words) {
  return {{"type", "string"}, {"enum", words}};
}

Schema hex_schema(std::size_t digits) {
  return {{"type", "string"}, {"pattern", "^[0-9a-f]{" + std::to_string(digits) + "}$"}};
}

Schema line_schema(int most) {
  return {{"type", "string"},
          {"maxLength", most},
          {"pattern", R"(^[^\x00-\x1f\x7f-\x9f]*$)"},
          {"x-wanted", "no control characters"}};
}

Schema metric_schema() {
  std::vector<std::string_view> names;
  for (const Metric& metric : all_metrics()) names.push_back(metric.name);
  return named("MetricName", one_of(names));
}

}  // namespace nightjar
