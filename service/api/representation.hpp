// How a list is sent: which fields of its items, as JSON or as CSV, and whether it is compressed.
// Internal to the API.
#pragma once

#include <vector>

#include "service/api/document.hpp"

namespace nightjar::service::api {

// The parameters `fields` and `format` of a list whose items are as `row` says.
std::vector<Parameter> representation(const Schema& row);
// A list's answers in both types. `page` is the schema of {"items", "next_cursor"}.
std::vector<Answer> list_answers(const Schema& page);

// `page` as the request wants it. In CSV fields of objects have columns of their own
// ("level.value"), lists are JSON texts, and the next page stands in the header Link. Throws
// Refused.
web::Response list_answer(const web::Request& request, nlohmann::json page, const Schema& row);

bool wants_csv(const web::Request& request);
bool takes_gzip(const web::Request& request);
// Compresses the body by gzip if the request accepts it and the body is long enough.
void compress(const web::Request& request, web::Response& response);

}  // namespace nightjar::service::api
