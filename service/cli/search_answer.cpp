#include "service/cli/search_answer.hpp"

#include "service/cli/quantity_text.hpp"

namespace nightjar::cli {
namespace {
using bisect::Answer;

class Reporter {
 public:
  Reporter(const bisect::SharedPart& part, const SearchSubject& subject,
           const AnswerContext& context)
      : part_(part),
        log_(part.log),
        answer_(*part.answer),
        context_(context),
        options_(options_for(subject, context.options)),
        of_failures_(seeks_failures(options_)) {}

  SearchReport report(const SearchSubject& subject) const {
    SearchReport report{options_,
                        answer_.outcome,
                        {},
                        {},
                        answer_.rule,
                        of_failures_ ? failure_ends_of(log_) : ends_of(log_, seeks_less(options_)),
                        context_.commits.front(),
                        context_.commits.back(),
                        part_.answered_after,
                        context_.builds,
                        {},
                        context_.kept,
                        subject.benchmark.empty() ? std::nullopt : std::optional(subject)};
    for (const auto& step : answer_.culprits) report.named.push_back(reported(step));
    if (of_failures_) add_rates(report.named);
    for (const auto& step : answer_.smaller) report.smaller.push_back(reported(step));
    for (const auto& mass : part_.belief.cells)
      report.posterior.push_back({cell(mass.first, mass.last), mass.probability});
    if (of_failures_) return report;
    report.rule = rule_of(report.ends);
    // In units of a large threshold a small change is as good as none to the search, though the
    // ends show it.
    if (answer_.outcome == Answer::Outcome::not_reproduced && report.ends &&
        differ_below(log_, seeks_less(options_), options_.threshold)) {
      report.outcome = Answer::Outcome::below_threshold;
      report.rule = "the ends differ by " + change_text(report.ends->change) +
                    "; below the threshold of " + percent_text(options_.threshold) +
                    ", nobody is blamed";
    }
    return report;
  }

 private:
  std::vector<std::string> cell(int first, int last) const {
    return {context_.commits.begin() + first, context_.commits.begin() + last + 1};
  }

  // The rates on both sides of each step, from all runs up to the next one.
  void add_rates(std::vector<ReportedStep>& named) const {
    for (std::size_t i = 0; i < named.size(); ++i) {
      const auto& steps = answer_.culprits;
      const int from = i == 0 ? 0 : steps[i - 1].last;
      const int to = i + 1 == steps.size() ? log_.commits : steps[i + 1].first - 1;
      named[i].before = failure_rate_of(log_.runs, from, steps[i].first - 1);
      named[i].after = failure_rate_of(log_.runs, steps[i].last, to);
    }
  }

  std::string rule_of(const std::optional<Ends>& ends) const {
    if (answer_.culprits.empty() && ends)
      if (const auto opposite = opposite_change(*ends, options_); !opposite.empty())
        return opposite;
    return answer_.rule;
  }

  // With the levels beside the step, unless add_rates() says them.
  ReportedStep reported(bisect::NamedStep step) const {
    const auto change = measured_ratio({step.ratio, step.low, step.high}, seeks_less(options_));
    step.ratio = change.ratio;
    step.low = change.low;
    step.high = change.high;
    ReportedStep out{step,
                     cell(step.first, step.last),
                     {},
                     of_failures_ ? std::nullopt : level_of(log_.runs, step.first - 1),
                     of_failures_ ? std::nullopt : level_of(log_.runs, step.last)};
    for (const std::string& sha : out.commits) out.facts.push_back(context_.repository.facts(sha));
    return out;
  }

  const bisect::SharedPart& part_;
  const bisect::SearchLog& log_;
  const Answer& answer_;
  const AnswerContext& context_;
  const BisectOptions options_;
  const bool of_failures_;
};

}  // namespace

SearchReport report_of(const bisect::SharedPart& part, const SearchSubject& subject,
                       const AnswerContext& context) {
  return Reporter(part, subject, context).report(subject);
}

BisectOptions options_for(const SearchSubject& subject, BisectOptions options) {
  if (options.direction.empty() && subject.more_is_better) options.direction = "higher";
  return options;
}

}  // namespace nightjar::cli
