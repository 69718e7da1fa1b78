#include "service/api/faults.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>

#include "storage/base/foreign_number.hpp"
#include "storage/base/pattern.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

using Place = json::json_pointer;

// How many code points; nlohmann's parser accepted the text as UTF-8.
std::size_t length_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & '\xc0') != '\x80'; }));
}

bool matches(const std::string& pattern, const std::string& text) {
  static thread_local std::map<std::string, Pattern> patterns;
  return patterns.try_emplace(pattern, pattern, Characters::utf8)
      .first->second.search(text)
      .has_value();
}

// To JSON Schema, and to JavaScript, 2.0 is the integer 2.
std::optional<std::int64_t> integer_of(const json& value) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (!value.is_number_float()) return std::nullopt;
  return integer_in(value.get<double>(), -exact, exact);
}

bool has_type(const json& type, const json& value) {
  if (type.is_array())
    return std::any_of(type.begin(), type.end(),
                       [&](const json& one) { return has_type(one, value); });
  if (type == "null") return value.is_null();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type == "number") return value.is_number();
  if (type != "integer") throw std::logic_error("a schema of a body: unknown type " + type.dump());
  return value.is_number_integer() || integer_of(value);
}

// A field's schema without description, default and the like.
bool says_nothing(const std::string& keyword) {
  static const char* const all[] = {"description", "default",  "format",
                                    "example",     "examples", "x-wanted"};
  return std::find(std::begin(all), std::end(all), keyword) != std::end(all);
}

class Check {
 public:
  explicit Check(const Schema& schema) : schema_(schema) {}
  std::vector<FieldFault> faults;

  void value(const json& schema, const json& given, const Place& at) {
    if (faults.size() >= most_faults) return;
    if (schema.contains("type") && !has_type(schema["type"], given))
      return refuse(at, "must be of type " + words(schema["type"]) + ", not " + given.type_name());
    for (const auto& [keyword, wanted] : schema.items())
      if (keyword != "type" && !says_nothing(keyword)) one(keyword, wanted, schema, given, at);
  }

 private:
  void one(const std::string& keyword, const json& wanted, const json& schema, const json& given,
           const Place& at) {
    if (keyword == "$ref")
      value(schema_.named.at(wanted.get<std::string>().substr(reference_start.size())), given, at);
    else if (keyword == "enum")
      in_list(wanted, given, at);
    else if (keyword == "minimum" || keyword == "maximum")
      number(keyword, wanted, given, at);
    else if (keyword == "minLength" || keyword == "maxLength" || keyword == "pattern")
      string(keyword, wanted, schema, given, at);
    else if (keyword == "items" || keyword == "maxItems")
      array(keyword, wanted, given, at);
    else if (keyword == "required" || keyword == "properties" ||
             keyword == "additionalProperties" || keyword == "propertyNames")
      object(keyword, wanted, schema, given, at);
    else
      throw std::logic_error("a schema of a body: the keyword " + keyword +
                             " is not known for requests");
  }
  void in_list(const json& wanted, const json& given, const Place& at) {
    if (std::find(wanted.begin(), wanted.end(), given) == wanted.end())
      refuse(at, "must be one of " + words(wanted));
  }
  void number(const std::string& keyword, const json& wanted, const json& given, const Place& at) {
    if (!given.is_number()) return;
    if (keyword == "minimum" && given < wanted) refuse(at, "must be at least " + wanted.dump());
    if (keyword == "maximum" && given > wanted) refuse(at, "must be at most " + wanted.dump());
  }
  void string(const std::string& keyword, const json& wanted, const json& schema, const json& given,
              const Place& at) {
    if (!given.is_string()) return;
    const auto& text = given.get_ref<const std::string&>();
    if (keyword == "minLength" && length_of(text) < wanted) refuse(at, "must not be empty");
    if (keyword == "maxLength" && length_of(text) > wanted)
      refuse(at, "must have at most " + wanted.dump() + " characters, not " +
                     std::to_string(length_of(text)));
    if (keyword == "pattern" && !matches(wanted, text))
      refuse(at, "must have " + schema.value("x-wanted", "the pattern " + wanted.dump()));
  }
  void array(const std::string& keyword, const json& wanted, const json& given, const Place& at) {
    if (!given.is_array()) return;
    if (keyword == "maxItems" && given.size() > wanted)
      return refuse(at, "must have at most " + wanted.dump() + " items");
    if (keyword == "items")
      for (std::size_t i = 0; i < given.size(); ++i) value(wanted, given[i], at / i);
  }
  void object(const std::string& keyword, const json& wanted, const json& schema, const json& given,
              const Place& at) {
    if (!given.is_object()) return;
    if (keyword == "required") {
      for (const auto& name : wanted)
        if (!given.contains(name.get<std::string>()))
          refuse(at / name.get<std::string>(), missing_field);
      return;
    }
    for (const auto& [name, field] : given.items()) {
      const bool known = schema.contains("properties") && schema["properties"].contains(name);
      if (keyword == "propertyNames") value(wanted, json(name), at / name);
      if (keyword == "properties" && known) value(wanted[name], field, at / name);
      if (keyword == "additionalProperties" && !known) {
        if (wanted.is_object()) value(wanted, field, at / name);
        if (wanted == false) refuse(at / name, "is not a field of this request");
      }
    }
  }
  void refuse(const Place& at, std::string what) {
    if (faults.size() < most_faults) faults.push_back({"#" + at.to_string(), std::move(what)});
  }
  static std::string words(const json& list) {
    if (!list.is_array()) return list.get<std::string>();
    std::string text;
    for (const auto& word : list)
      text +=
          (text.empty() ? "" : ", ") + (word.is_string() ? word.get<std::string>() : word.dump());
    return text;
  }

  const Schema& schema_;
};

}  // namespace

std::vector<FieldFault> faults_of(const json& body, const Schema& schema) {
  Check check(schema);
  check.value(schema.text, body, Place());
  return std::move(check.faults);
}

void make_integers(json& body) {
  for (json& value : body) {
    const auto whole = body.is_object() ? integer_of(value) : std::nullopt;
    if (whole)
      value = *whole;
    else if (value.is_structured())
      make_integers(value);
  }
}

}  // namespace nightjar::service::api
