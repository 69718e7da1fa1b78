// The model's words in JSON, strictly: a missing field, a wrong type or a value out of range throws
// nlohmann::json::exception. Brings json.hpp along: see SLOW in tests/star_test.py. A .cpp that
// puts an id, hash, time, enum, workload name or optional into JSON must include it (else an enum
// becomes a number).
//
//   json out{{"id", build.id}, {"state", build.state}, {"commit", build.commit}};  // null for none
//   const auto id = field<BuildId>(out, "id");
//
// A struct takes part by `to_json(json&, const T&)` and `T parse_json(const json&, Parsed<T>)`.
#pragma once

#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "storage/model/json.hpp"
#include "storage/model/time.hpp"
#include "storage/model/workload.hpp"

namespace nightjar {

struct MachineState;

// Names the wanted type in a call of parse_json, and brings this namespace into its look-up.
template <class T>
struct Parsed {};

// An enum made by NIGHTJAR_ENUM.
template <class T>
concept NamedEnum = std::is_enum_v<T> && requires { enum_names(T{}); };

[[noreturn]] inline void reject_json(const std::string& message) {
  throw nlohmann::json::type_error::create(302, message, nullptr);
}

// What stands in place of what was wanted, in ASCII: a list or an object by that word alone, and
// the begin of anything else.
inline std::string shown_json(const nlohmann::json& json) {
  constexpr std::size_t most = 80;
  if (json.is_structured()) return json.is_array() ? "a list" : "an object";
  const std::string text = json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.size() > most ? text.substr(0, most) + "..." : text;
}

// The begin of a text, in quotes.
inline std::string shown_text(const std::string& text) {
  std::string shown = shown_json(text);
  shown.front() = '\'';
  if (shown.back() == '"') shown.back() = '\'';
  return shown;
}

// Every alternative is a Parsed<T>, so that types without a default constructor can be read.
inline bool parse_json(const nlohmann::json& json, Parsed<bool>) {
  if (!json.is_boolean()) reject_json("a boolean is wanted, not " + shown_json(json));
  return json.get<bool>();
}

template <std::integral T>
T parse_json(const nlohmann::json& json, Parsed<T>) {
  if (json.is_number_unsigned() && std::in_range<T>(json.get<std::uint64_t>()))
    return static_cast<T>(json.get<std::uint64_t>());
  if (json.is_number_integer() && !json.is_number_unsigned() &&
      std::in_range<T>(json.get<std::int64_t>()))
    return static_cast<T>(json.get<std::int64_t>());
  reject_json("an integer in range is wanted, not " + shown_json(json));
}

inline double parse_json(const nlohmann::json& json, Parsed<double>) {
  if (!json.is_number()) reject_json("a number is wanted, not " + shown_json(json));
  return json.get<double>();
}

inline std::string parse_json(const nlohmann::json& json, Parsed<std::string>) {
  if (!json.is_string()) reject_json("a string is wanted, not " + shown_json(json));
  return json.get<std::string>();
}

inline nlohmann::json parse_json(const nlohmann::json& json, Parsed<nlohmann::json>) {
  return json;
}

template <NamedEnum T>
T parse_json(const nlohmann::json& json, Parsed<T>) {
  const auto text = parse_json(json, Parsed<std::string>{});
  if (const auto value = enum_from<T>(text)) return *value;
  reject_json("no " + std::string(enum_type(T{})) + " is called " + shown_text(text));
}

template <class Tag>
Id<Tag> parse_json(const nlohmann::json& json, Parsed<Id<Tag>>) {
  return {parse_json(json, Parsed<std::int64_t>{})};
}

template <std::size_t digits>
Hex<digits> parse_json(const nlohmann::json& json, Parsed<Hex<digits>>) {
  const auto text = parse_json(json, Parsed<std::string>{});
  if (auto hex = Hex<digits>::parse(text)) return *std::move(hex);
  reject_json(std::to_string(digits) + " hexadecimal digits are wanted, not " + shown_text(text));
}

inline Time parse_json(const nlohmann::json& json, Parsed<Time>) {
  const auto text = parse_json(json, Parsed<std::string>{});
  if (const auto time = parse_rfc3339(text)) return *time;
  reject_json("an RFC 3339 time in UTC is wanted, not " + shown_text(text));
}

inline WorkloadName parse_json(const nlohmann::json& json, Parsed<WorkloadName>) {
  const auto text = parse_json(json, Parsed<std::string>{});
  if (auto name = WorkloadName::parse(text)) return *std::move(name);
  reject_json("a workload name is wanted, not " + shown_text(text));
}

// The containers look their element's parse_json up when they are instantiated, by its Parsed<>.
template <class T>
std::optional<T> parse_json(const nlohmann::json& json, Parsed<std::optional<T>>);
template <class T>
std::vector<T> parse_json(const nlohmann::json& json, Parsed<std::vector<T>>);
template <class T>
std::map<std::string, T> parse_json(const nlohmann::json& json, Parsed<std::map<std::string, T>>);

template <class T>
std::optional<T> parse_json(const nlohmann::json& json, Parsed<std::optional<T>>) {
  if (json.is_null()) return std::nullopt;
  return parse_json(json, Parsed<T>{});
}

template <class T>
std::vector<T> parse_json(const nlohmann::json& json, Parsed<std::vector<T>>) {
  if (!json.is_array()) reject_json("a list is wanted, not " + shown_json(json));
  std::vector<T> items;
  items.reserve(json.size());
  for (const auto& item : json) items.push_back(parse_json(item, Parsed<T>{}));
  return items;
}

template <class T>
std::map<std::string, T> parse_json(const nlohmann::json& json, Parsed<std::map<std::string, T>>) {
  if (!json.is_object()) reject_json("an object is wanted, not " + shown_json(json));
  std::map<std::string, T> items;
  for (const auto& [name, item] : json.items()) items.emplace(name, parse_json(item, Parsed<T>{}));
  return items;
}

// The field `name` of an object; the exception names the field.
template <class T>
T field(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) reject_json("an object is wanted, not " + shown_json(object));
  const auto found = object.find(name);
  if (found == object.end()) reject_json(std::string("the field '") + name + "' is missing");
  try {
    return parse_json(*found, Parsed<T>{});
  } catch (const nlohmann::json::exception& error) {
    const std::string what = error.what();
    reject_json(std::string("in '") + name + "': " + what.substr(what.find("] ") + 2));
  }
}

// `otherwise` if the object has no such field.
template <class T>
T field_or(const nlohmann::json& object, const char* name, T otherwise) {
  return object.is_object() && object.contains(name) ? field<T>(object, name) : otherwise;
}

void to_json(nlohmann::json& json, const MachineState& state);

// Leniently: the text of a field; empty if it is missing or no text.
inline std::string text_in(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace nightjar

namespace nlohmann {

template <nightjar::NamedEnum E>
struct adl_serializer<E, void> {
  static void to_json(json& out, E value) { out = std::string(nightjar::name_of(value)); }
  static E from_json(const json& in) { return nightjar::parse_json(in, nightjar::Parsed<E>{}); }
};

template <class Tag>
struct adl_serializer<nightjar::Id<Tag>> {
  static void to_json(json& out, nightjar::Id<Tag> id) { out = id.value; }
  static nightjar::Id<Tag> from_json(const json& in) {
    return nightjar::parse_json(in, nightjar::Parsed<nightjar::Id<Tag>>{});
  }
};

template <std::size_t digits>
struct adl_serializer<nightjar::Hex<digits>> {
  static void to_json(json& out, const nightjar::Hex<digits>& hex) { out = hex.str(); }
  static nightjar::Hex<digits> from_json(const json& in) {
    return nightjar::parse_json(in, nightjar::Parsed<nightjar::Hex<digits>>{});
  }
};

template <>
struct adl_serializer<nightjar::Time> {
  static void to_json(json& out, nightjar::Time time) { out = nightjar::to_rfc3339(time); }
  static nightjar::Time from_json(const json& in) {
    return nightjar::parse_json(in, nightjar::Parsed<nightjar::Time>{});
  }
};

template <>
struct adl_serializer<nightjar::WorkloadName> {
  static void to_json(json& out, const nightjar::WorkloadName& name) { out = name.str(); }
  static nightjar::WorkloadName from_json(const json& in) {
    return nightjar::parse_json(in, nightjar::Parsed<nightjar::WorkloadName>{});
  }
};

template <class T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& out, const std::optional<T>& value) {
    if (value)
      out = *value;
    else
      out = nullptr;
  }
  static std::optional<T> from_json(const json& in) {
    return nightjar::parse_json(in, nightjar::Parsed<std::optional<T>>{});
  }
};

}  // namespace nlohmann
