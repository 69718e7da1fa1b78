#include "bisect/evidence/seal.hpp"

#include <algorithm>
#include <cstdint>

#include "storage/base/foreign_number.hpp"
#include "storage/model/json.hpp"

namespace nightjar::evidence {
namespace {
using nlohmann::json;

constexpr std::int64_t most_exact = (std::int64_t{1} << 53) - 1;  // in a double
constexpr std::size_t check_digits = 8;  // of a field's hash, enough to find an edit

// Writes 1.0 as 1, since other tools may write the same bundle with either.
json plain_numbers(const json& value) {
  if (value.is_number_float()) {
    const auto whole = integer_in(value.get<double>(), -most_exact, most_exact);
    return whole ? json(*whole) : value;
  }
  if (!value.is_structured()) return value;
  json out = value;
  for (json& inner : out) inner = plain_numbers(inner);
  return out;
}

std::string hash_of(const json& value, Hash hash) {
  const auto replace = json::error_handler_t::replace;
  return hash(plain_numbers(value).dump(-1, ' ', false, replace)).str();
}

std::string check_of(const json& value, Hash hash) {
  return hash_of(value, hash).substr(0, check_digits);
}

// Objects, and lists of objects or lists, have a check for each part. A list of numbers has one.
bool has_parts(const json& value) {
  return value.is_object() ||
         (value.is_array() && std::any_of(value.begin(), value.end(),
                                          [](const json& inner) { return inner.is_structured(); }));
}

json checks_of(const json& value, Hash hash) {
  if (!has_parts(value)) return check_of(value, hash);
  json out = value.is_object() ? json::object() : json::array();
  if (value.is_object())
    for (const auto& [key, inner] : value.items()) out[key] = checks_of(inner, hash);
  else
    for (const json& inner : value) out.push_back(checks_of(inner, hash));
  return out;
}

class Comparison {
 public:
  Comparison(Hash hash, std::vector<std::string>& out) : hash_(hash), out_(out) {}

  void compare(const json& value, const json& sealed, const std::string& path) {
    if (!has_parts(value)) {
      if (!sealed.is_string() || sealed != check_of(value, hash_))
        out_.push_back(path + " was edited");
    } else if (sealed.type() != value.type()) {
      out_.push_back(path + " was edited");
    } else if (value.is_object()) {
      compare_objects(value, sealed, path);
    } else if (value.size() != sealed.size()) {
      out_.push_back(path + " had " + std::to_string(sealed.size()) + " entries, has " +
                     std::to_string(value.size()));
    } else {
      for (std::size_t i = 0; i < value.size(); ++i)
        compare(value[i], sealed[i], path + "/" + std::to_string(i));
    }
  }

 private:
  void compare_objects(const json& value, const json& sealed, const std::string& path) {
    for (const auto& [key, inner] : value.items()) {
      const auto found = sealed.find(key);
      if (found == sealed.end())
        out_.push_back(path + "/" + key + " was added");
      else
        compare(inner, *found, path + "/" + key);
    }
    for (const auto& [key, check] : sealed.items())
      if (!value.contains(key)) out_.push_back(path + "/" + key + " was removed");
  }

  Hash hash_;
  std::vector<std::string>& out_;
};

json without_seal(json bundle) {
  bundle.erase("seal");
  return bundle;
}

}  // namespace

json seal_of(const json& bundle, Hash hash) {
  const json content = without_seal(bundle);
  return {{"sha256", hash_of(content, hash)}, {"fields", checks_of(content, hash)}};
}

std::vector<std::string> edited_fields(const json& bundle, Hash hash) {
  const json content = without_seal(bundle);
  const json& seal = bundle.at("seal");
  if (!seal.is_object() || !seal.contains("sha256") || !seal.contains("fields") || seal.size() != 2)
    return {"/seal was edited"};
  const bool whole = seal.at("sha256") == hash_of(content, hash);
  std::vector<std::string> edited;
  Comparison(hash, edited).compare(content, seal.at("fields"), whole ? "/seal/fields" : "");
  if (!whole && edited.empty()) edited.push_back("/seal/sha256 was edited");
  return edited;
}

}  // namespace nightjar::evidence
