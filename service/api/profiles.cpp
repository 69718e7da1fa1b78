// Where time and memory went: profiles of workloads, and their difference at a blamed commit.
#include "storage/profiles.hpp"

#include "bisect/operator_times.hpp"
#include "bisect/profile_diff.hpp"
#include "service/api/routes.hpp"
#include "service/engine/search/boundary_profiles.hpp"
#include "storage/sessions.hpp"

namespace nightjar::service::api {
using bisect::OperatorTimes;
namespace {

constexpr std::size_t operators_shown = 24;  // of a workload, the longest first

struct PartOfMemory {
  std::string part;
  std::int64_t bytes = 0;
};

// Seconds of an iteration by what holds its operators back.
struct Limits {
  double math = 0, memory = 0, launch = 0, inefficient = 0, unknown = 0;
};

struct Operator {
  OperatorTimes times;
  std::optional<bisect::Limiter> limiter;
  std::optional<double> ceiling;  // least time by the ceilings, as a share of its own
};

// One side of a session of profiles.
struct Profiled {
  std::int64_t id = 0;  // the job's
  Time at{};
  MachineId machine;
  BuildId build;
  WorkloadName workload;
  Profile profile;

  std::optional<double> seconds(std::vector<double> ProfileRun::*list) const {
    const bool known = bisect::has_times(profile) && !(profile.runs.front().*list).empty();
    return known ? std::optional(bisect::over_runs(profile, list)) : std::nullopt;
  }
};

Operator operator_of(const Profile& profile, const OperatorTimes& times) {
  Operator made{times, bisect::limiter_of(profile, times), {}};
  if (made.limiter && times.seconds() > 0)
    made.ceiling =
        bisect::least_seconds(bisect::work_of(times), *profile.ceilings) / times.seconds();
  return made;
}

std::vector<Operator> operators_of(const Profiled& item) {
  std::vector<Operator> made;
  for (const OperatorTimes& times : bisect::longest_first(item.profile)) {
    if (made.size() == operators_shown) break;
    made.push_back(operator_of(item.profile, times));
  }
  return made;
}

std::optional<Limits> limits_of(const Profiled& item) {
  Limits limits;
  bool any = false;
  for (const OperatorTimes& times : bisect::longest_first(item.profile)) {
    const auto limiter = bisect::limiter_of(item.profile, times);
    if (!limiter) continue;
    any = true;
    using enum bisect::Limiter;
    double& sum = *limiter == math          ? limits.math
                  : *limiter == memory      ? limits.memory
                  : *limiter == launch      ? limits.launch
                  : *limiter == inefficient ? limits.inefficient
                                            : limits.unknown;
    sum += times.seconds();
  }
  return any ? std::optional(limits) : std::nullopt;
}

template <class Number>
Number sum_over(const Profiled& item, Number OperatorProfile::*part) {
  Number sum = 0;
  for (const OperatorProfile& one : item.profile.operators) sum += one.*part;
  return sum;
}

std::vector<PartOfMemory> memory_of(const Profiled& item) {
  std::vector<PartOfMemory> parts;
  if (item.profile.memory)
    for (const auto& [name, bytes] : parts_of(*item.profile.memory)) parts.push_back({name, bytes});
  return parts;
}

template <class T>
auto of_times(T OperatorProfile::*member) {
  return [member](const Operator& one) { return one.times.one->*member; };
}

const Row<Operator>& operator_row() {
  static const Row<Operator> made(
      "ProfiledOperator", "An operator in one iteration.",
      {{"name", of_times(&OperatorProfile::name)},
       {"calls", of_times(&OperatorProfile::calls)},
       {"seconds", [](const Operator& one) { return one.times.self; },
        "Own time on the host, without the operators that it calls."},
       {"device_seconds", [](const Operator& one) { return one.times.device; },
        "Time of its kernels; 0 without a GPU."},
       {"flops", of_times(&OperatorProfile::flops)},
       {"bytes", of_times(&OperatorProfile::bytes), "Arguments and results."},
       {"limiter", &Operator::limiter,
        "null: no ceilings or no undisturbed time is known, or it moves no bytes."},
       {"ceiling", &Operator::ceiling,
        "The least time that the machine's ceilings allow, as a share of its time."}});
  return made;
}

const Row<Limits>& limits_row() {
  static const Row<Limits> made(
      "SecondsByLimiter", "An iteration's seconds in operators, by what holds them back.",
      {{"math", &Limits::math},
       {"memory", &Limits::memory},
       {"launch", &Limits::launch, "Many short calls."},
       {"inefficient", &Limits::inefficient, "Long calls far below every ceiling."},
       {"unknown", &Limits::unknown}});
  return made;
}

const Row<Ceilings>& ceilings_row() {
  static const Row<Ceilings> made(
      "Ceilings", "What the machine does at most, measured.",
      {{"device", &Ceilings::device},
       {"threads", &Ceilings::threads},
       {"flops", &Ceilings::flops, "FLOP/s by type."},
       {"bytes", &Ceilings::bytes, "Bytes/s of a copy."},
       {"emulated", &Ceilings::emulated, "Types that the CPU has no units for."}});
  return made;
}

const Row<PartOfMemory>& part_row_of_memory() {
  static const Row<PartOfMemory> made(
      "PartOfMemory", "A part of the tensors at an iteration's peak; the first part is the peak.",
      {{"part", &PartOfMemory::part}, {"bytes", &PartOfMemory::bytes}});
  return made;
}

auto seconds_in(std::vector<double> ProfileRun::*list) {
  return [list](const Profiled& item) { return item.seconds(list); };
}

std::vector<std::string> hints_of(const Profiled& item) {
  std::vector<std::string> hints;
  for (const ProductHint& hint : item.profile.hints) hints.push_back(text_of(hint));
  return hints;
}

const Row<Profiled>& profiled_row() {
  static const Row<Profiled> made(
      "ProfiledWorkload",
      "Where one iteration's time and memory go. Times have the profiler's cost in them; null: no "
      "run saw the machine undisturbed.",
      {{"id", &Profiled::id, "Id of the job."},
       {"at", &Profiled::at},
       {"workload", &Profiled::workload},
       {"domain", [](const Profiled& item) { return domain_of(item.workload); }, "",
        domain_schema()},
       {"machine", &Profiled::machine},
       {"build", build_at(&Profiled::build), build_ref()},
       {"threads", [](const Profiled& item) { return item.profile.threads; }},
       {"runs", [](const Profiled& item) { return item.profile.runs.size(); }},
       {"seconds", seconds_in(&ProfileRun::iteration_seconds)},
       {"outside_seconds", seconds_in(&ProfileRun::outside_seconds), "In no operator."},
       {"active_seconds", seconds_in(&ProfileRun::active_seconds),
        "Times of the GPU, as are the next two; null without one."},
       {"moving_seconds", seconds_in(&ProfileRun::moving_seconds)},
       {"idle_seconds", seconds_in(&ProfileRun::idle_seconds)},
       {"flops", [](const Profiled& item) { return sum_over(item, &OperatorProfile::flops); }},
       {"bytes", [](const Profiled& item) { return sum_over(item, &OperatorProfile::bytes); }},
       {"uncounted_calls",
        [](const Profiled& item) { return sum_over(item, &OperatorProfile::unknown); },
        "Whose floating-point operations are not known."},
       {"limits", limits_of, limits_row()},
       {"ceilings", [](const Profiled& item) { return item.profile.ceilings; }, ceilings_row()},
       {"operators", operators_of, operator_row(), "The longest first."},
       {"memory", memory_of, part_row_of_memory(), "Empty: it was not divided."},
       {"hints", hints_of,
        "What keeps matrix products and convolutions from the tensor cores' speed."}});
  return made;
}

storage::Page<Profiled> profiled_workloads(storage::Database& db, const WorkloadFilter& filter,
                                           const storage::PageRequest& ask) {
  const auto jobs = storage::list_profiled(db, filter, ask);
  storage::Page<Profiled> page;
  page.next = jobs.next;
  for (const Job& job : jobs.items) {
    auto sides = storage::profiles_of_job(db, job.id);
    const auto side = sides.find(job.spec.environments.back().build);
    if (side == sides.end() || side->second.runs.empty()) continue;
    page.items.push_back({job.id.value, *storage::result_time(db, job.id), job.machine, side->first,
                          job.spec.workloads.front().name, std::move(side->second)});
  }
  return page;
}

// ---- the two sides of a culprit

struct OperatorSides {
  std::string name;
  double before = 0, after = 0;
};

struct BoundaryShown {
  std::optional<Job> session;
  std::optional<std::pair<Profile, Profile>> sides = {};
  std::optional<bisect::ProfileDiff> difference = {};
};

const Row<bisect::Side>& side_row() {
  using bisect::Side;
  static const Row<Side> made("ProfileSide", "An iteration of one build.",
                              {{"seconds", &Side::seconds},
                               {"low", &Side::low, "The least of a run; high: the greatest."},
                               {"high", &Side::high},
                               {"calls", &Side::calls}});
  return made;
}

const Row<bisect::OperatorChange>& operator_change_row() {
  using bisect::OperatorChange;
  static const Row<OperatorChange> made(
      "OperatorChange", "",
      {{"operator", &OperatorChange::name},
       {"on",
        [](const OperatorChange& one) { return std::string(one.on_device ? "gpu" : "cpu"); },
        "",
        {{"enum", {"cpu", "gpu"}}}},
       {"kind", &OperatorChange::kind},
       {"clear", &OperatorChange::clear, "It is more than the runs of one build differ."},
       {"before", &OperatorChange::before, side_row()},
       {"after", &OperatorChange::after, side_row()},
       {"share", &OperatorChange::share,
        "Share of the iteration's whole change; for kernels, of the change of the GPU's time."}});
  return made;
}

const Row<bisect::MemoryChange>& memory_change_row() {
  using bisect::MemoryChange;
  static const Row<MemoryChange> made("MemoryChange", "Bytes of tensors at an iteration's peak.",
                                      {{"part", &MemoryChange::part},
                                       {"before", &MemoryChange::before},
                                       {"after", &MemoryChange::after}});
  return made;
}

const Row<bisect::ProfileDiff>& difference_row() {
  using bisect::ProfileDiff;
  static const Row<ProfileDiff> made(
      "ProfileDifference", "",
      {{"workload", &ProfileDiff::workload},
       {"runs", &ProfileDiff::runs, "That have a value, of the side that has fewer."},
       {"before", &ProfileDiff::before, side_row()},
       {"after", &ProfileDiff::after, side_row()},
       {"changes", &ProfileDiff::changes, operator_change_row(), "Those that are clear first."},
       {"device_runs", &ProfileDiff::device_runs,
        "Likewise of a time on the GPU, which a disturbed host does not slow down."},
       {"device_before", &ProfileDiff::device_before, side_row(),
        "All that ran on the GPU in an iteration; 0 without one."},
       {"device_after", &ProfileDiff::device_after, side_row()},
       {"kernels", &ProfileDiff::kernels, operator_change_row(),
        "Operators' time on the GPU, those that are clear first."},
       {"memory", &ProfileDiff::memory, memory_change_row(), "Empty: a side was not divided."}});
  return made;
}

// Every operator's own time on both sides, where its work is done.
std::vector<OperatorSides> all_operators(const BoundaryShown& shown) {
  std::map<std::string, OperatorSides> by_name;
  if (!shown.sides) return {};
  const auto add = [&](const Profile& profile, double OperatorSides::*side) {
    for (const OperatorTimes& times : bisect::longest_first(profile))
      by_name[times.one->name].*side = times.seconds();
    by_name[bisect::outside_operators].*side =
        bisect::over_runs(profile, &ProfileRun::outside_seconds);
  };
  add(shown.sides->first, &OperatorSides::before);
  add(shown.sides->second, &OperatorSides::after);
  std::vector<OperatorSides> all;
  for (auto& [name, both] : by_name) {
    both.name = name;
    all.push_back(std::move(both));
  }
  return all;
}

const Row<OperatorSides>& operator_sides_row() {
  static const Row<OperatorSides> made("OperatorSides", "Seconds of an iteration.",
                                       {{"operator", &OperatorSides::name},
                                        {"before", &OperatorSides::before},
                                        {"after", &OperatorSides::after}});
  return made;
}

const Row<BoundaryShown>& boundary_row() {
  const auto of_session = [](auto get) {
    return [get](const BoundaryShown& shown) {
      return shown.session ? std::optional(get(*shown.session)) : std::nullopt;
    };
  };
  const auto build = [](std::size_t side) {
    return [side](const BoundaryShown& shown, Rows& rows) {
      return shown.session ? rows.build_of(shown.session->spec.environments[side].build) : nullptr;
    };
  };
  static const Row<BoundaryShown> made(
      "BoundaryProfile", "Where the time or memory went at a blamed commit.",
      {{"job", of_session([](const Job& job) { return job.id; }),
        "The session; null: none was asked for."},
       {"state", of_session([](const Job& job) { return job.state; })},
       {"good", build(0), build_ref()},
       {"bad", build(1), build_ref()},
       {"difference", &BoundaryShown::difference, difference_row(),
        "null: one side or both have no profile."},
       {"operators", all_operators, operator_sides_row(), "All of them."}});
  return made;
}

BoundaryShown boundary_of(storage::Database& db, RegressionId id) {
  BoundaryShown shown{boundary_session(db, id)};
  if (shown.session) shown.sides = boundary_profiles(db, *shown.session);
  if (shown.sides) shown.difference = bisect::difference(shown.sides->first, shown.sides->second);
  return shown;
}

}  // namespace

void add_profile_routes(Routes& routes) {
  routes.list(
      "profiles", "Where an iteration's time and memory go, by session of profiles", profiled_row(),
      [chosen = workload_queries()](storage::Database& db, const web::Request& request,
                                    const storage::PageRequest& page) {
        return profiled_workloads(db, chosen(request), page);
      },
      with_workloads({}));
  routes.read({.path = "/api/v1/regressions/{id}/profile",
               .id = "get_regressions_profile",
               .summary = "The difference of the two profiles at a blamed commit",
               .answers = {{.schema = boundary_row().schema()}},
               .problems = {no_such_id}},
              [](storage::Database& db, const web::Request& request) {
                const auto id = path_id<RegressionId>(request);
                if (!storage::find_regression(db, id)) refuse_unknown("regression", id.value);
                Rows rows(db);
                return json_answer(boundary_row().write(boundary_of(db, id), rows));
              });
}

}  // namespace nightjar::service::api
