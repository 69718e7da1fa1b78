// What openapi.json says of a request's body, and what is wrong with a given one. Used by
// parse_body, so that the document and the service cannot disagree about what is refused.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar::service::api {

// What is wrong with one field of a body.
struct FieldFault {
  std::string pointer;  // JSON pointer as a fragment: "#/labels/zone"
  std::string detail;
};

// openapi.json as it travels in the program.
const nlohmann::json& api_document();

// At most `most_faults` of them; each names the field by a JSON pointer. Throws std::logic_error if
// the document has no such operation or if its schema uses a keyword that is not known here.
constexpr std::size_t most_faults = 20;
std::vector<FieldFault> faults_of(const nlohmann::json& body, std::string_view operation_id);

// The same against a schema of one's own, whose references are looked up in `document`.
std::vector<FieldFault> faults_of(const nlohmann::json& body, const nlohmann::json& schema,
                                  const nlohmann::json& document);

// Fields that are written as 2.0 become 2, as the readers of our structures want integers. Items of
// lists stay as they are.
void make_integers(nlohmann::json& body);

}  // namespace nightjar::service::api
