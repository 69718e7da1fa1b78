// POST /imports: nights that were measured elsewhere. GET: what was imported, and how far it is
// judged.
#include "storage/imports.hpp"

#include "service/api/routes.hpp"
#include "storage/base/log.hpp"
#include "storage/base/machine_class.hpp"
#include "storage/model/history_json.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

constexpr std::size_t history_bytes = 32u << 20;

struct Imported {
  MachineId machine;
  int nights = 0, added = 0, known = 0, differing = 0;
};
BOOST_DESCRIBE_STRUCT(Imported, (), (machine, nights, added, known, differing))

const Described<Imported>& imported() {
  static const auto made = aggregate<Imported>(
      "Imported", "What became of the values that were sent.",
      {{"machine", "Id of the machine class."},
       {"nights", "That were not there yet."},
       {"added", "Values of a series."},
       {"known", "Values that were there already."},
       {"differing", "Values that are there with other samples. Those that are there stay."}});
  return made;
}

using storage::ImportedClass;
const Row<ImportedClass>& class_row() {
  static const Row<ImportedClass> made(
      "ImportedClass", "A machine class with imported nights.",
      {{"machine", &ImportedClass::id},
       {"name", &ImportedClass::name},
       {"nights", &ImportedClass::nights},
       {"first", &ImportedClass::first, "When the first of them was measured."},
       {"last", &ImportedClass::last},
       {"series", &ImportedClass::series},
       {"to_judge", &ImportedClass::to_judge,
        "Series whose steps were not looked for since values were added last."},
       {"findings", &ImportedClass::findings, "Regressions in state `historical`."}});
  return made;
}

struct ImportedClasses {
  std::vector<ImportedClass> items;
};
const Row<ImportedClasses>& classes_row() {
  static const Row<ImportedClasses> made(
      "ImportedClasses", "All of them, oldest first.",
      {{"items", &ImportedClasses::items, class_row()},
       {"next_cursor", [](const ImportedClasses&) { return std::optional<std::string>(); },
        "null: there is one page."}});
  return made;
}

[[noreturn]] void refuse_record(const std::string& pointer, const std::string& origin,
                                const std::string& why) {
  throw Refused(422, "Bad record",
                "Of '" + origin + "', the record " + pointer + " is no good: " + why,
                {{pointer, why}});
}

// Reads the body record by record, so that a refusal names the one that is no good.
History history_of(const web::Request& request) {
  const json body = checked_body(request, described(Parsed<History>{}).schema());
  History history;
  history.machine_class = body.at("machine_class").get<std::string>();
  for (std::size_t i = 0; i < body.at("nights").size(); ++i) {
    json night = body["nights"][i];
    const json values = std::exchange(night["values"], json::array());
    const std::string pointer = "#/nights/" + std::to_string(i);
    const auto origin = night["origin"].get<std::string>();
    try {
      history.nights.push_back(parse_json(night, Parsed<HistoryNight>{}));
    } catch (const json::exception& error) {
      refuse_record(pointer, origin, cause_of(error));
    }
    for (std::size_t j = 0; j < values.size(); ++j) try {
        history.nights.back().values.push_back(parse_json(values[j], Parsed<HistoryValue>{}));
      } catch (const json::exception& error) {
        refuse_record(pointer + "/values/" + std::to_string(j), origin, cause_of(error));
      }
  }
  return history;
}

json example_body() {
  return json::parse(R"({"machine_class": "A100 of the nightly runner", "nights": [
    {"measured_at": "2026-03-01T07:00:00Z", "version": "2.15.0.dev20260301+cu130",
     "commit": null, "origin": "2026/metrics-20260301070000.json", "values": [
       {"workload": "torchbench/resnet50/eval/cuda/fp32/bdefault/eager",
        "metric": "latency", "values": [0.0123, 0.0125]}]}]})");
}

void add(Imported& sum, const storage::StoredHistory& stored) {
  sum.nights += stored.is_new ? 1 : 0;
  sum.added += stored.added;
  sum.known += stored.known;
  sum.differing += stored.differing;
}

web::Response take(storage::Database& db, Context& context, const web::Request& request) {
  const History history = history_of(request);
  const std::string actor = "token:" + request.principal.name;
  Imported sum;
  storage::Transaction interning(db);
  sum.machine =
      storage::intern_machine(interning, machine_class({{"imported", history.machine_class}})).id;
  storage::add_audit(interning, {0, context.clock.now(), actor, "import",
                                 "machine/" + std::to_string(sum.machine.value)});
  interning.commit();
  storage::KnownSeries known;
  for (const HistoryNight& night : history.nights) {
    storage::Transaction transaction(db);
    add(sum, storage::store_history(transaction, sum.machine, night, context.clock.now(), known));
    transaction.commit();
  }
  log::info("imported machine={} nights={} values={} by={}", sum.machine.value, sum.nights,
            sum.added, actor);
  context.wake();
  return json_answer(imported().write(sum));
}

}  // namespace

void add_import_routes(Routes& routes) {
  Context& context = routes.context;
  routes.read({.path = "/api/v1/imports",
               .id = "list_imports",
               .summary = "Machine classes with imported nights",
               .answers = {{.schema = classes_row().schema()}}},
              [](storage::Database& db, const web::Request&) {
                Rows rows(db);
                return json_answer(
                    classes_row().write(ImportedClasses{storage::imported_classes(db)}, rows));
              });
  routes.write(
      {.path = "/api/v1/imports",
       .id = "import_history",
       .summary = "Store nights that were measured elsewhere; what is there already stays",
       .method = web::Method::post,
       .role = web::Role::runner,
       .body = Body{.schema = described(Parsed<History>{}).schema(), .example = example_body()},
       .answers = {{.text = "Stored, each night in a transaction. Steps are looked for next.",
                    .schema = imported().schema(),
                    .example = {{"machine", 4},
                                {"nights", 1},
                                {"added", 1},
                                {"known", 0},
                                {"differing", 0}}}},
       .problems = {{422, "ARecordIsNoGood",
                     "A record is well-formed, but no good; errors names it. Nothing is stored."}}},
      [&context](storage::Database& db, const web::Request& request) {
        return take(db, context, request);
      },
      history_bytes);
}

}  // namespace nightjar::service::api
