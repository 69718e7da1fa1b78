#include "service/engine/outcome/digests.hpp"

#include <algorithm>
#include <chrono>

#include "service/engine/outcome/difference_facts.hpp"
#include "service/engine/outcome/digest_facts.hpp"
#include "service/engine/search/fix_searches.hpp"
#include "storage/base/log.hpp"
#include "storage/builds.hpp"

namespace nightjar::service {
namespace {
using namespace std::chrono;

bool holds(const std::vector<Weekday>& list, sys_days day) {
  const auto weekday = std::chrono::weekday(day).iso_encoding();  // Monday is 1
  return std::any_of(list.begin(), list.end(),
                     [&](Weekday one) { return static_cast<unsigned>(one) + 1 == weekday; });
}

// The newest configured day up to `day`, which is less than eight days before it.
sys_days last_day(const std::vector<Weekday>& list, sys_days day) {
  while (!holds(list, day)) day -= days(1);
  return day;
}

DigestReference load_reference(const EngineView& view, Time until) {
  DigestReference reference{view.config.report.digest.reference, {}};
  const auto before = storage::measured_build(view.db, reference.version);
  const auto row = before ? storage::find_build(view.db, *before) : std::nullopt;
  if (!row) return reference;
  const auto after = storage::newest_measured(view.db, row->variant, until);
  if (after && *after != *before)
    reference.difference = difference_facts(view, *before, *after, DifferenceInput().least);
  return reference;
}

OutboxMessage message_of(const std::string& key, RenderedIssue issue, Time now) {
  OutboxMessage message;
  message.key = key;
  message.kind = OutboxKind::open_issue;
  message.title = std::move(issue.title);
  message.body = std::move(issue.body) + "\n" + marker_of(key) + "\n";
  message.created_at = now;
  return message;
}

void apply(EngineContext& context, const PassOver& step) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::add_digest(transaction, step.period, std::nullopt, step.at);
  });
  log::info("digest not filed, since nothing happened from={} until={}",
            to_rfc3339(step.period.from), to_rfc3339(step.period.until));
}

void apply(EngineContext& context, const FileDigest& step) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::add_digest(transaction, step.period, step.message, step.message.created_at);
  });
}

}  // namespace

std::optional<storage::Period> finished_period(const Config::Report::Digest& schedule, Time now) {
  if (schedule.on.empty()) return std::nullopt;
  const sys_days last = last_day(schedule.on, floor<days>(now - schedule.at));
  const sys_days before = last_day(schedule.on, last - days(1));
  return storage::Period{before + schedule.at, last + schedule.at};
}

DigestFacts load_digest(const EngineView& view) {
  DigestFacts facts;
  facts.now = view.clock.now();
  auto period = finished_period(view.config.report.digest, facts.now);
  if (!period || storage::has_digest(view.db, period->until)) return facts;
  const auto first_night = storage::first_night_began(view.db);
  if (!first_night || *first_night >= period->until) return facts;
  if (const auto told = storage::last_digest_before(view.db, period->until))
    period->from = std::max(period->from, *told);
  facts.due = period;
  facts.key = digest_key(view.config.repository.url, *first_night, period->until);
  facts.digest = digest_facts(view, period->from, period->until);
  facts.reference = load_reference(view, period->until);
  return facts;
}

std::optional<DigestStep> decide(const DigestFacts& facts, const Config& config) {
  if (!facts.due) return std::nullopt;
  if (is_quiet(facts.digest) && !config.report.digest.quiet) return PassOver{*facts.due, facts.now};
  return FileDigest{
      *facts.due,
      message_of(facts.key, render_digest_issue(facts.digest, facts.reference), facts.now)};
}

bool file_digest(EngineContext& context) {
  const auto step = decide(load_digest(context), context.config);
  if (step) std::visit([&](const auto& taken) { apply(context, taken); }, *step);
  return step.has_value();
}

std::vector<FixFacts> load_fixes(const EngineView& view) {
  std::vector<FixFacts> list;
  const int least = view.config.report.fixes;
  const auto first_night = storage::first_night_began(view.db);
  if (least == 0 || !first_night) return list;
  const Time now = view.clock.now();
  for (const auto& [build, better] : storage::untold_fixes(view.db, now - fixes_since, least)) {
    if (awaits_search(view, better)) continue;
    DigestFix fix = fix_of(view, better);
    std::string key = fix_key(view.config.repository.url, *first_night, fix.version);
    list.push_back({now, build, std::move(key), std::move(fix)});
  }
  return list;
}

FileFix decide(const FixFacts& facts, const Config& config) {
  return {facts.build,
          message_of(facts.key, render_fix_issue(facts.fix, config.repository.url), facts.now)};
}

bool file_fixes(EngineContext& context) {
  const auto fixes = load_fixes(context);
  for (const FixFacts& facts : fixes) {
    const FileFix step = decide(facts, context.config);
    storage::write(context.db, [&](storage::Transaction& transaction) {
      storage::add_fix_report(transaction, step.build, step.message);
    });
  }
  return !fixes.empty();
}

}  // namespace nightjar::service
