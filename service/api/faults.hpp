// What is wrong with a request's body, by the schema that openapi.json shows. Used by parse_body,
// so that the document and the service cannot disagree about what is refused. Internal to the API.
#pragma once

#include <string>
#include <vector>

#include "storage/model/schema.hpp"

namespace nightjar::service::api {

// What is wrong with one field of a body, or with one query parameter.
struct FieldFault {
  std::string pointer;  // JSON pointer as a fragment: "#/labels/zone"; empty: of a parameter
  std::string detail;
  std::string parameter = {};  // its name
};

// The message about a required field that is missing.
inline constexpr const char* missing_field = "is missing";

// Returns at most `most_faults` faults; each names the field by a JSON pointer. Throws
// std::logic_error if the schema uses a keyword that is not known here.
constexpr std::size_t most_faults = 20;
std::vector<FieldFault> faults_of(const nlohmann::json& body, const Schema& schema);

// Fields that are written as 2.0 become 2, as the readers of our structures want integers. Items of
// lists stay as they are.
void make_integers(nlohmann::json& body);

}  // namespace nightjar::service::api
