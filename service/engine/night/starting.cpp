#include "service/engine/night/starting.hpp"

#include "service/engine/jobs/live_runners.hpp"
#include "storage/builds.hpp"
#include "storage/nights.hpp"

namespace nightjar::service {
namespace {
using namespace std::chrono_literals;

constexpr auto longest_patience = 12h;  // how long a night waits for a new build
constexpr const char* last_date_key = "scheduled-night";

// While no runner is alive, one night is enough to begin with when one comes.
bool nights_pile_up(const EngineView& view) {
  if (!live_runners(view).empty()) return false;
  return storage::waiting_night(view.db, NightTrigger::schedule) ||
         storage::unclaimed_night(view.db, std::nullopt);
}

void audit(storage::Transaction& transaction, const Night& night, const std::string& actor) {
  storage::add_audit(transaction, {0, night.started_at, actor, "start-night",
                                   "night/" + std::to_string(night.id.value)});
}

bool apply(EngineContext&, const NotDue&) {
  return false;
}

bool apply(EngineContext& context, const SkipDate& step) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::set_note(transaction, last_date_key, step.date);
  });
  return false;
}

bool apply(EngineContext& context, const StartNight& step) {
  Night night;
  night.trigger = NightTrigger::schedule;
  night.started_at = context.clock.now();
  storage::Transaction transaction(context.db);
  storage::set_note(transaction, last_date_key, step.date);
  std::vector<Night> added;
  for (int i = 0; i < step.nights; ++i) {
    added.push_back(storage::add_night(transaction, night));
    audit(transaction, added.back(), "schedule");
  }
  transaction.commit();
  for (const Night& one : added) announce(context, one);
  return true;
}

}  // namespace

ScheduleFacts load_schedule(const EngineView& view) {
  return {view.clock.now(), storage::get_note(view.db, last_date_key).value_or(""),
          nights_pile_up(view)};
}

ScheduleStep decide(const ScheduleFacts& facts, const Config& config) {
  if (config.night.at.empty()) return NotDue{};
  const std::string today = to_date(facts.now);
  const auto due = parse_rfc3339(today + "T" + config.night.at + ":00Z");
  if (!due || facts.now < *due || facts.last_date == today) return NotDue{};
  if (facts.piles_up) return SkipDate{today};
  return StartNight{today, static_cast<int>(sources_of(config).size())};
}

bool start_scheduled_night(EngineContext& context) {
  const ScheduleStep step = decide(load_schedule(context), context.config);
  return std::visit([&](const auto& taken) { return apply(context, taken); }, step);
}

AssignmentFacts load_assignment(const EngineView& view, const std::string& variant) {
  AssignmentFacts facts;
  facts.now = view.clock.now();
  facts.newest = storage::newest_proved(view.db, variant);
  facts.is_new = facts.newest && !storage::find_night_of_build(view.db, facts.newest->id);
  for (Build& build : storage::builds_in_state(view.db, BuildState::unusable))
    if (build.kind == BuildKind::nightly && build.variant == variant &&
        (!facts.newest || build.date > facts.newest->date) &&
        (!facts.unusable || build.date > facts.unusable->date))
      facts.unusable = std::move(build);
  facts.waiting = storage::open_nights(view.db);
  std::erase_if(facts.waiting,
                [](const Night& night) { return night.state != NightState::waiting; });
  facts.piles_up = nights_pile_up(view);
  return facts;
}

namespace {

// Begins the reason of a night that waits because the newest wheel is at fault.
constexpr std::string_view no_use_prefix = "the newest wheel, ";

std::string no_use(const Build& build) {
  return std::string(no_use_prefix) + build.version + ", is unusable: " + build.reason;
}

}  // namespace

Assignment decide(const AssignmentFacts& facts, const Config& config) {
  Assignment out;
  bool taken = !facts.is_new;
  for (Night night : facts.waiting) {
    const bool asked_for = night.trigger == NightTrigger::api && facts.newest;
    if (!taken || asked_for) {  // a night that was asked for measures an old build again
      taken = true;
      if (night.reason.starts_with(no_use_prefix)) night.reason.clear();
      night.build = facts.newest->id;
      night.state = NightState::measuring;
      out.given.push_back(std::move(night));
    } else if (facts.now - night.started_at > longest_patience) {
      night.state = NightState::done;
      night.reason = "no new build appeared within 12 hours";
      if (facts.unusable) night.reason += "; " + no_use(*facts.unusable);
      night.finished_at = facts.now;
      out.ended.push_back(std::move(night));
    } else if (facts.unusable && night.reason.empty()) {
      night.reason = no_use(*facts.unusable);
      out.told.push_back(std::move(night));
    }
  }
  if (taken || !config.night.on_new_build || facts.piles_up) return out;
  Night& night = out.made.emplace();
  night.trigger = NightTrigger::build;
  night.started_at = facts.now;
  night.state = NightState::measuring;
  night.build = facts.newest->id;
  return out;
}

namespace {

bool assign_builds_of(EngineContext& context, const std::string& variant) {
  const AssignmentFacts facts = load_assignment(context, variant);
  const Assignment assignment = decide(facts, context.config);
  std::vector<Night> changed = assignment.given;
  changed.insert(changed.end(), assignment.ended.begin(), assignment.ended.end());
  changed.insert(changed.end(), assignment.told.begin(), assignment.told.end());
  if (changed.empty() && !assignment.made) return false;
  storage::Transaction transaction(context.db);
  for (const Night& night : changed) storage::update_night(transaction, night);
  if (assignment.made) {
    changed.push_back(storage::add_night(transaction, *assignment.made));
    audit(transaction, changed.back(), "build:" + facts.newest->version);
  }
  transaction.commit();
  for (const Night& night : changed) announce(context, night);
  return true;
}

}  // namespace

bool assign_builds(EngineContext& context, bool surveyed) {
  bool changed = false;
  if (surveyed)
    for (const Config::Source* source : sources_of(context.config))
      changed |= assign_builds_of(context, source->variant);
  return changed;
}

}  // namespace nightjar::service
