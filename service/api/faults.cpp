#include "service/api/faults.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <stdexcept>

namespace nightjar::service::api {
using nlohmann::json;
namespace {

using Place = json::json_pointer;

// The code points of what nlohmann's parser accepted as UTF-8.
std::wstring code_points(const std::string& text) {
  std::wstring out;
  for (const char byte : text) {
    const auto value = static_cast<unsigned char>(byte);
    if ((value & 0xc0) == 0x80)
      out.back() = static_cast<wchar_t>((out.back() << 6) | (value & 0x3f));
    else
      out += static_cast<wchar_t>(value < 0x80 ? value
                                               : value & (value < 0xe0   ? 0x1f
                                                          : value < 0xf0 ? 0x0f
                                                                         : 0x07));
  }
  return out;
}

// Patterns are `^[...]*$` here, or `^[...]{n}$` of exactly n characters. Character by character,
// since std::regex recurses once a character.
bool matches(std::string pattern, const std::wstring& text) {
  const auto brace = pattern.rfind("]{");
  if (brace != std::string::npos && pattern.ends_with("}$")) {
    if (text.size() != std::stoul(pattern.substr(brace + 2))) return false;
    pattern = pattern.substr(0, brace + 1) + "*$";
  }
  if (!pattern.starts_with("^[") || !pattern.ends_with("]*$"))
    throw std::logic_error("a schema of a body: the pattern " + pattern +
                           " is not of the form ^[...]*$");
  static thread_local std::map<std::string, std::wregex> classes;
  auto known = classes.find(pattern);
  if (known == classes.end()) {
    const std::wstring one(pattern.begin() + 1, pattern.end() - 2);
    known = classes.emplace(pattern, std::wregex(one)).first;
  }
  return std::all_of(text.begin(), text.end(),
                     [&](wchar_t c) { return std::regex_match(&c, &c + 1, known->second); });
}

// To JSON Schema, and to JavaScript, 2.0 is the integer 2.
bool is_integral(const json& value) {
  if (!value.is_number_float()) return false;
  const double number = value.get<double>();
  return std::abs(number) <= 9007199254740992.0 && number == std::floor(number);
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
  return value.is_number_integer() || is_integral(value);
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
    const auto text = code_points(given.get_ref<const std::string&>());
    if (keyword == "minLength" && text.size() < wanted) refuse(at, "must not be empty");
    if (keyword == "maxLength" && text.size() > wanted)
      refuse(at, "must have at most " + wanted.dump() + " characters, not " +
                     std::to_string(text.size()));
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
    if (body.is_object() && is_integral(value))
      value = static_cast<std::int64_t>(value.get<double>());
    else if (value.is_structured())
      make_integers(value);
  }
}

}  // namespace nightjar::service::api
