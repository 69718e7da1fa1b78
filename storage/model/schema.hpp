// JSON Schema (as OpenAPI 3.1 has it) of the model's types, deduced from their C++ types. Used by
// described.hpp and the service's routes. Brings json.hpp along: see SLOW in tests/star_test.py.
#pragma once

#include <map>
#include <string>
#include <type_traits>

#include "storage/model/json_io.hpp"

namespace nightjar {

// A schema, and the named ones that it refers to.
struct Schema {
  Schema();
  Schema(nlohmann::json::initializer_list_t keywords);
  Schema(const Schema& other);
  Schema(Schema&& other) noexcept;
  Schema& operator=(const Schema& other);
  Schema& operator=(Schema&& other) noexcept;
  ~Schema();
  // With more keywords, which replace those of the same name.
  Schema with(const nlohmann::json& keywords) const;

  nlohmann::json text = nlohmann::json::object();
  std::map<std::string, nlohmann::json> named;
};

// A reference to `schema` under this name in the document's components.
inline constexpr std::string_view reference_start = "#/components/schemas/";
Schema named(const std::string& name, const Schema& schema);
Schema of_type(const char* type);  // of JSON
Schema id_schema();
Schema time_schema();
Schema nullable(Schema schema);
Schema list_of(Schema item);
Schema map_of(Schema item);  // by any name
Schema one_of(const std::vector<std::string_view>& words);
Schema hex_schema(std::size_t digits);
// A text without control characters, of at most `most` characters.
Schema line_schema(int most);
Schema metric_schema();  // the name of a metric

template <class T, template <class...> class Template>
inline constexpr bool is_a = false;
template <template <class...> class Template, class... Part>
inline constexpr bool is_a<Template<Part...>, Template> = true;
template <class T>
inline constexpr std::size_t hex_digits = 0;
template <std::size_t digits>
inline constexpr std::size_t hex_digits<Hex<digits>> = digits;

// A type with a description of its fields: `const Described<T>& described(Parsed<T>)`.
template <class T>
concept HasDescription = requires { described(Parsed<T>{}); };

template <class T>
Schema schema_of() {
  if constexpr (std::is_same_v<T, nlohmann::json>)
    return {};
  else if constexpr (HasDescription<T>)
    return described(Parsed<T>{}).schema();
  else if constexpr (is_a<T, std::optional>)
    return nullable(schema_of<typename T::value_type>());
  else if constexpr (is_a<T, std::vector>)
    return list_of(schema_of<typename T::value_type>());
  else if constexpr (is_a<T, std::map>)
    return map_of(schema_of<typename T::mapped_type>());
  else if constexpr (is_a<T, Id>)
    return id_schema();
  else if constexpr (NamedEnum<T>) {
    std::vector<std::string_view> names;
    for (const T value : all_of<T>()) names.push_back(name_of(value));
    return one_of(names);
  } else if constexpr (hex_digits<T> != 0)
    return hex_schema(hex_digits<T>);
  else if constexpr (std::is_same_v<T, Time>)
    return time_schema();
  else if constexpr (std::is_same_v<T, bool>)
    return of_type("boolean");
  else if constexpr (std::is_integral_v<T>)
    return of_type("integer");
  else if constexpr (std::is_floating_point_v<T>)
    return of_type("number");
  else if constexpr (std::is_convertible_v<T, std::string_view> || std::is_same_v<T, WorkloadName>)
    return of_type("string");
  else
    return {};  // what has JSON of its own
}

}  // namespace nightjar
