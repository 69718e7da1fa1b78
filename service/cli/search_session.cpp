#include "service/cli/search_session.hpp"

#include <cstdio>

#include "runner/process/failure.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/search_findings.hpp"
#include "service/cli/search_page.hpp"
#include "storage/base/terminal.hpp"

namespace nightjar::cli {
using bisect::SearchOutcome;

SearchSession::SearchSession(const BisectOptions& options, Bench& bench, KeptSearch& kept,
                             Facts facts, std::stop_token stop)
    : options_(options),
      bench_(bench),
      kept_(kept),
      facts_(std::move(facts)),
      stop_(std::move(stop)) {}

int SearchSession::run(const std::vector<std::string>& positions, const GoOn& go_on) try {
  if (!kept_.offer().empty()) say(stderr, "%s\n", kept_.offer().c_str());
  const SearchResult result =
      search(positions, [&](const SearchResult& so_far) { draw(so_far, ""); });
  SearchReport report = reported(result);
  if (report.outcome == SearchOutcome::culprit && go_on) report.inside_merges = go_on(report.named);
  // An answer ends what an interruption would have gone on with.
  if (result.answer.outcome != SearchOutcome::inconclusive) kept_.forget();
  const std::string text = shown_lines(report_text(report));
  draw(result, text);
  std::fputs((options_.json ? report_json(report) : text).c_str(), stdout);
  return result.answer.outcome == SearchOutcome::culprit ? 0 : 1;
} catch (const runner::Stopped&) {
  say(stderr, "nightjar: stopped; %s\n", kept_.words().c_str());
  return 1;
} catch (const Broken& error) {
  if (!kept_.is_kept()) throw;
  throw Broken(std::string(error.what()) + "; " + kept_.words());
}

SearchReport SearchSession::search_inside(const std::vector<std::string>& positions) {
  return reported(search(positions, [](const SearchResult&) {}));
}

SearchResult SearchSession::search(const std::vector<std::string>& positions,
                                   SearchLoop::Draw draw) {
  const SearchEnds ends{positions.front(), positions.back()};
  const auto save = [&](const bisect::SearchLog& log) { kept_.save(ends, log); };
  return SearchLoop(options_, bench_, positions, kept_.log(ends), save, std::move(draw), stop_)
      .run();
}

SearchReport SearchSession::reported(const SearchResult& result) const {
  SearchReport report = report_of(options_, result, facts_);
  report.kept = kept_.file();
  return report;
}

void SearchSession::draw(const SearchResult& result, const std::string& answer) const {
  if (options_.html.empty()) return;
  write_page(options_.html,
             {options_.measure, result.commits, result.log.runs, result.belief, answer});
}

}  // namespace nightjar::cli
