// GET /suites: what suites came to, night by night. GET /members: the models that they are made of.
#include "storage/suites.hpp"

#include "service/api/routes.hpp"

namespace nightjar::service::api {
using storage::Database;
using storage::PageRequest;
using web::Request;
namespace {

template <class T>
auto of_compared(T SuiteChange::*member) {
  return [member](const SuiteMean& mean) {
    return mean.change ? std::optional((*mean.change).*member) : std::nullopt;
  };
}

const Described<SuiteMean>& mean_row() {
  static const Described<SuiteMean> made(
      "SuiteMean",
      "A mean over the models that pass and have the value, held against the nights before.",
      {{"value", &SuiteMean::value},
       {"members", &SuiteMean::members, "Models that it is over.", {{"minimum", 1}}},
       {"members_sha256", &SuiteMean::members_sha256,
        "The hash of their names and versions: two means with the same hash are over the same "
        "models."},
       {"level", &SuiteMean::level, "What the mean of these models usually is."},
       {"verdict", &SuiteMean::verdict,
        "suspect_worse, suspect_better: the next night tells whether it stays. members_changed: "
        "the mean moved, but not the models that were there before."},
       {"compared",
        [](const SuiteMean& mean) { return mean.change ? mean.change->members : 0; },
        "Models that earlier nights had, too.",
        {{"minimum", 0}}},
       {"ratio", of_compared(&SuiteChange::ratio),
        "Location of their ratios to their own level; null: no model was there before."},
       {"low", of_compared(&SuiteChange::low), "The 95 % interval of the ratio, over models."},
       {"high", of_compared(&SuiteChange::high)},
       {"allowed", &SuiteMean::allowed,
        "Share by which nights differ without a change. Null: too few nights are known."},
       {"came", &SuiteMean::came, "Models that the night before lacked.", {{"minimum", 0}}},
       {"went", &SuiteMean::went, "Models that only the night before had.", {{"minimum", 0}}},
       {"reason", &SuiteMean::reason, "The verdict in a sentence, with the models that matter."}});
  return made;
}

auto mean_as(SuiteMeasure measure) {
  return [measure](const SuiteSummary& suite) {
    for (const SuiteMean& mean : suite.means)
      if (mean.measure == measure) return std::optional(mean);
    return std::optional<SuiteMean>();
  };
}

template <class T>
auto of_key(T SuiteKey::*member) {
  return [member](const SuiteSummary& suite) { return suite.key.*member; };
}

const Row<SuiteSummary>& suite_row() {
  static const Row<SuiteSummary> made(
      "Suite",
      "What the compiled workloads of one suite came to on one night, by the definitions of "
      "PyTorch's compiler dashboard.",
      {{"id", &SuiteSummary::id},
       {"night", &SuiteSummary::night},
       {"started_at", &SuiteSummary::at, "When the night began."},
       {"build", build_at(&SuiteSummary::build), build_ref()},
       {"machine", of_key(&SuiteKey::machine)},
       {"variant", of_key(&SuiteKey::variant), "The build's variant."},
       {"suite", of_key(&SuiteKey::suite)},
       {"task", of_key(&SuiteKey::task)},
       {"device", of_key(&SuiteKey::device)},
       {"precision", of_key(&SuiteKey::precision)},
       {"backend", of_key(&SuiteKey::backend)},
       {"models", &SuiteSummary::models, "That the night ran.", {{"minimum", 1}}},
       {"passed",
        &SuiteSummary::passed,
        "Models whose accuracy is pass, pass_due_to_skip or eager_variation, and none of whose "
        "runs failed (of pass_due_to_skip: whatever they did).",
        {{"minimum", 0}}},
       {"pass_rate",
        [](const SuiteSummary& suite) {
          return static_cast<double>(suite.passed) / static_cast<double>(suite.models);
        },
        "",
        {{"minimum", 0}, {"maximum", 1}}},
       {"speedup", mean_as(SuiteMeasure::speedup), mean_row(),
        "Over eager, geometric; more is better. Null, as below: no model has one."},
       {"compile_time", mean_as(SuiteMeasure::compile_time), mean_row(), "Seconds, arithmetic."},
       {"cpu_compression", mean_as(SuiteMeasure::cpu_compression), mean_row(),
        "Eager's peak memory over the backend's, arithmetic; more is better."},
       {"gpu_compression", mean_as(SuiteMeasure::gpu_compression), mean_row()}});
  return made;
}

auto value_as(SuiteMeasure measure) {
  return [measure](const SuiteMember& member) {
    const auto found = member.values.find(measure);
    return found == member.values.end() ? std::nullopt : std::optional(found->second);
  };
}

const Row<SuiteMember>& member_row() {
  static const Row<SuiteMember> made(
      "SuiteMember", "One model of a suite on one night. Values are locations of the night's runs.",
      {{"id", &SuiteMember::id, "", id_schema()},
       {"summary", &SuiteMember::summary, "Id of what the suite came to."},
       {"workload", &SuiteMember::name},
       {"domain",
        [](const SuiteMember& member) {
          const auto name = WorkloadName::parse(member.name);
          return name ? domain_of(*name) : std::string("unknown");
        },
        "", domain_schema()},
       {"version", &SuiteMember::version},
       {"series", or_null(&SuiteMember::series), "Id of its latency's series."},
       {"accuracy", &SuiteMember::accuracy,
        "Dynamo's word: the first that does not pass, else the first. Null: none was kept."},
       {"passed", &SuiteMember::passed},
       {"latency", &SuiteMember::latency, "Seconds."},
       {"speedup", value_as(SuiteMeasure::speedup), "Over eager."},
       {"compile_time", value_as(SuiteMeasure::compile_time), "Seconds."},
       {"cpu_compression", value_as(SuiteMeasure::cpu_compression)},
       {"gpu_compression", value_as(SuiteMeasure::gpu_compression)}});
  return made;
}

void add_suites(Routes& routes) {
  const auto night = id_query<NightId>("night", "Only those of this night.");
  const auto machine = id_query<MachineId>("machine", "A machine class.");
  const auto since = time_query("since", "The night began at or after this time.");
  const auto suite = word_query("suite", "The suite's name, e.g. torchbench.");
  const auto task = word_query("task", "eval or train.");
  const auto device = word_query("device", "E.g. cpu.");
  const auto precision = word_query("precision", "E.g. fp32.");
  const auto backend = word_query("backend", "E.g. inductor.");
  const auto verdict = enum_query<SuiteVerdict>("verdict", "The verdict on one of the means.");
  const auto suites = [=](Database& db, const Request& request, const PageRequest& page) {
    storage::SuiteFilter filter;
    filter.night = night(request);
    filter.machine = machine(request);
    filter.since = since(request);
    filter.suite = suite(request);
    filter.task = task(request);
    filter.device = device(request);
    filter.precision = precision(request);
    filter.backend = backend(request);
    filter.verdict = verdict(request);
    return storage::list_suites(db, filter, page);
  };
  routes.list("suites", "What suites came to, night by night", suite_row(), suites,
              {night, machine, since, suite, task, device, precision, backend, verdict});
  routes.one<SuiteSummary, SuiteId>("suites", "What one suite came to on one night", "suite",
                                    suite_row(), storage::find_suite);
}

void add_members(Routes& routes) {
  const auto summary = id_query<SuiteId>("summary", "Only those of this suite's summary.");
  const auto night = id_query<NightId>("night", "Only those of this night.");
  const auto workload = workload_queries();
  const auto members = [=](Database& db, const Request& request, const PageRequest& page) {
    return storage::list_members(db, {summary(request), night(request), workload(request)}, page);
  };
  routes.list("members", "Models of suites, night by night", member_row(), members,
              with_workloads({summary, night}));
}

}  // namespace

void add_suite_routes(Routes& routes) {
  add_suites(routes);
  add_members(routes);
}

}  // namespace nightjar::service::api
