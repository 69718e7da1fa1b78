#include "service/api/report_text.hpp"

#include "service/report/html.hpp"

namespace nightjar::service::api {

std::vector<Answer> report_answers() {
  return {{.schema = schema_of<std::string>(), .type = "text/markdown"},
          {.schema = schema_of<std::string>(), .type = "text/html"}};
}

web::Response report_answer(const web::Request& request, const std::string& title,
                            const std::string& markdown) {
  static const auto kind = report_kind_query();
  web::Response response;
  if (kind(request).value_or(ReportKind::markdown) == ReportKind::html) {
    response.content_type = "text/html; charset=utf-8";
    response.body = html_page(title, markdown);
    response.page_style = html_style();
  } else {
    response.content_type = "text/markdown; charset=utf-8";
    response.body = markdown;
  }
  return response;
}

}  // namespace nightjar::service::api
