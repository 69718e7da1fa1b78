// GET /digest: what some days came to, as Markdown or as a web page.
#include "service/report/digest.hpp"

#include "service/api/report_text.hpp"
#include "service/engine/outcome/digest_facts.hpp"

namespace nightjar::service::api {
namespace {

constexpr int usual_days = 7;

}  // namespace

void add_digest_route(Routes& routes) {
  const auto days = days_query(usual_days);
  const auto until = time_query("until", "The end; now, if it is not given.");
  routes.read(
      {.path = "/api/v1/digest",
       .id = "get_digest",
       .summary = "What got worse and what got better in some days, as a text",
       .parameters = {days, until, report_kind_query()},
       .answers = report_answers()},
      [&context = routes.context, days, until](storage::Database& db, const web::Request& request) {
        const EngineView view{db, context.commits, context.artifacts, context.config,
                              context.clock};
        const Time to = until(request).value_or(context.clock.now());
        const Time from = to - std::chrono::days(days(request).value_or(usual_days));
        return report_answer(request, "Nightjar's digest",
                             render_digest(digest_facts(view, from, to)));
      },
      Routes::Kept::never);
}

}  // namespace nightjar::service::api
