// Reports as answers: Markdown, or a web page of their own. Internal to the API.
#pragma once

#include <string>
#include <vector>

#include "service/api/routes.hpp"
#include "storage/model/enum.hpp"

namespace nightjar::service::api {

NIGHTJAR_ENUM(ReportKind, markdown, html);

inline Query<ReportKind> report_kind_query() {
  return enum_query<ReportKind>("as", "As what; markdown, if it is not given.");
}
void add_digest_route(Routes& routes);  // GET /digest

std::vector<Answer> report_answers();
web::Response report_answer(const web::Request& request, const std::string& title,
                            const std::string& markdown);

}  // namespace nightjar::service::api
