#include "service/cli/search_session.hpp"

#include <algorithm>
#include <cstdio>

#include "runner/process/failure.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/search_findings.hpp"
#include "service/cli/search_page.hpp"
#include "storage/base/terminal.hpp"

namespace nightjar::cli {
namespace {
using bisect::SearchOutcome;

bool is_undecided(const SearchResult& result) {
  const auto& parts = result.benchmarks.shared().parts();
  return std::any_of(parts.begin(), parts.end(), [](const bisect::SharedPart& part) {
    return part.answer && part.answer->outcome == SearchOutcome::inconclusive;
  });
}

}  // namespace

SearchSession::SearchSession(const BisectOptions& options, Bench& bench, KeptSearch& kept,
                             Facts facts, std::stop_token stop)
    : options_(options),
      bench_(bench),
      kept_(kept),
      facts_(std::move(facts)),
      stop_(std::move(stop)) {}

int SearchSession::run(const std::vector<std::string>& positions, const GoOn& go_on) try {
  if (!kept_.offer().empty()) say(stderr, "%s\n", kept_.offer().c_str());
  const auto draw_now = [&](const bisect::SharedPart& benchmark) {
    draw(positions, benchmark, "");
  };
  const SearchResult result = search(options_, positions, draw_now);
  found_ = reported(result);
  const bool many = result.benchmarks.are_many();
  if (go_on)
    for (SearchReport& one : found_.benchmarks)
      if (one.outcome == SearchOutcome::culprit) one.inside_merges = go_on(one);
  const ManyReport& all = found_;
  // An answer ends what an interruption would have gone on with.
  if (!is_undecided(result)) kept_.forget();
  const std::string text = shown_lines(many ? many_text(all) : report_text(all.benchmarks.front()));
  const auto& shared = result.benchmarks.shared();
  draw(positions, shared.parts()[shared.served()], text);
  const std::string shown = !options_.json ? text
                            : many         ? many_json(all)
                                           : report_json(all.benchmarks.front());
  std::fputs(shown.c_str(), stdout);
  return has_culprit(all) ? 0 : 1;
} catch (const runner::Stopped&) {
  say(stderr, "nightjar: stopped; %s\n", kept_.words().c_str());
  return 1;
} catch (const Broken& error) {
  if (!kept_.is_kept()) throw;
  throw Broken(std::string(error.what()) + "; " + kept_.words());
}

std::vector<SearchSubject> SearchSession::blaming(const std::string& commit,
                                                  const SearchReport& outer) const {
  if (!outer.subject) return {};
  std::vector<SearchSubject> out{*outer.subject};
  for (const SearchReport& one : found_.benchmarks) {
    const bool blames = std::any_of(one.named.begin(), one.named.end(), [&](const auto& step) {
      return step.commits == std::vector{commit};
    });
    if (one.outcome == SearchOutcome::culprit && blames && one.subject &&
        one.subject->benchmark != outer.subject->benchmark)
      out.push_back(*one.subject);
  }
  return out;
}

SearchReport SearchSession::search_inside(const std::string& merge,
                                          const std::vector<std::string>& positions,
                                          const SearchReport& outer) {
  const auto is_of = [&](const SearchReport& one) {
    return !outer.subject || (one.subject && one.subject->benchmark == outer.subject->benchmark);
  };
  auto& [found, broken] = inside_[positions];
  const auto report_of_it = [&, &all = found.benchmarks] {
    return std::find_if(all.begin(), all.end(), is_of);
  };
  if (broken.empty() && report_of_it() == found.benchmarks.end()) {
    BisectOptions options = options_;
    options.followed = blaming(merge, outer);
    say(stderr, "inside the merge %s: searching %zu commits\n", short_name(merge).c_str(),
        positions.size() - 1);
    try {
      found = reported(search(options, positions, [](const bisect::SharedPart&) {}));
    } catch (const Broken& error) {
      broken = error.what();
    }
  }
  if (!broken.empty()) throw Broken(broken);
  if (const auto report = report_of_it(); report != found.benchmarks.end()) return *report;
  for (const auto& [name, why] : found.left_out)
    if (outer.subject && name == outer.subject->benchmark) throw Broken(name + " " + why);
  throw Broken("no run gave a number of " + outer.subject->benchmark);
}

SearchResult SearchSession::search(const BisectOptions& options,
                                   const std::vector<std::string>& positions,
                                   SearchLoop::Draw draw) {
  const SearchEnds ends{positions.front(), positions.back()};
  const auto save = [&](const SavedSearch& so_far) { kept_.save(ends, so_far); };
  return SearchLoop(options, bench_, positions, kept_.search(ends), save, std::move(draw), stop_)
      .run();
}

ManyReport SearchSession::reported(const SearchResult& result) const {
  const Benchmarks& benchmarks = result.benchmarks;
  ManyReport all{{}, {}, benchmarks.shared().runs(), options_.build.empty() ? 0 : result.builds};
  for (std::size_t i = 0; i < benchmarks.subjects().size(); ++i) {
    if (!benchmarks.shared().parts()[i].answer) {
      all.left_out.emplace_back(benchmarks.subjects()[i].benchmark, benchmarks.left_out(i));
      continue;
    }
    all.benchmarks.push_back(report_of(options_, result, i, facts_));
    all.benchmarks.back().kept = kept_.file();
  }
  return all;
}

void SearchSession::draw(const std::vector<std::string>& positions,
                         const bisect::SharedPart& benchmark, const std::string& answer) const {
  if (options_.html.empty()) return;
  write_page(options_.html,
             {options_.measure, positions, benchmark.log.runs, benchmark.belief, answer});
}

}  // namespace nightjar::cli
