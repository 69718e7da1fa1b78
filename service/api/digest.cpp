// GET /digest: what some days came to, as Markdown or as a web page.
#include "service/report/digest.hpp"

#include "service/api/report_text.hpp"
#include "service/engine/outcome/digest_facts.hpp"

namespace nightjar::service::api {
namespace {

constexpr int usual_days = 7;

}  // namespace

void add_digest_route(Routes& routes) {
  const auto period = period_query(usual_days);
  routes.read(
      {.path = "/api/v1/digest",
       .id = "get_digest",
       .summary = "What got worse and what got better in some days, as a text",
       .parameters = {period.days, period.until, report_kind_query()},
       .answers = report_answers()},
      [&context = routes.context, period](storage::Database& db, const web::Request& request) {
        const EngineView view{db, context.commits, context.artifacts, context.config,
                              context.clock};
        const auto [from, to] = period(request, context.clock.now());
        return report_answer(request, "Nightjar's digest",
                             render_digest(digest_facts(view, from, to)));
      },
      Routes::Kept::never);
}

}  // namespace nightjar::service::api
