// POST /imports: nights that were measured elsewhere. GET: what was imported, and how far it is
// judged.
#include "storage/imports.hpp"

#include "service/api/routes.hpp"
#include "storage/base/log.hpp"
#include "storage/base/machine_class.hpp"
#include "storage/model/foreign_stream.hpp"
#include "storage/model/history_json.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

constexpr std::size_t history_bytes = 32u << 20;
// Limits what is kept of a record while it is read: a value has at most 10,000 samples.
constexpr std::size_t record_bytes = 16u << 20;
constexpr std::size_t longest_text_bytes = 4u << 10;  // names and origins are lines

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

// Reads the body record by record, so that a refusal names the one that is no good, and so that
// nothing of it is held as a document.
class HistoryReader {
 public:
  HistoryReader(const web::Request& request, Time now) : request_(request), now_(now) {}

  History read() {
    StreamSink sink;
    sink.numbers = [](const JsonPath&) { return nullptr; };
    sink.take = [this](const JsonPath& path, json& record) {
      const bool ours = path.size() >= 2 && path[0] == "nights" && path[1] == "*";
      if (ours && path.size() == 4 && path[2] == "values") return take_value(record);
      return ours && path.size() == 2 && take_night(record);
    };
    const json rest = checked(request_, rest_of(sink), described(Parsed<History>{}).schema());
    history_.machine_class = rest.at("machine_class").get<std::string>();
    return std::move(history_);
  }

 private:
  json rest_of(const StreamSink& sink) const {
    try {
      return read_stream(request_.body, {record_bytes, longest_text_bytes, 0}, sink);
    } catch (const StreamRefused& error) {
      throw Refused(422, "History too large",
                    "The body of " + request_.path + " is refused: " + error.what() + ".");
    }
  }

  // Its night's origin may come behind it, so that what is no good is told then.
  bool take_value(json& value) {
    if (values_.size() == most_imported_values) refuse_count("a night", "values", values_.size());
    const std::string pointer = pointer_of_night() + "/values/" + std::to_string(taken_++);
    check(value, described(Parsed<HistoryValue>{}).schema(), pointer);
    try {
      values_.push_back(parse_json(value, Parsed<HistoryValue>{}));
    } catch (const json::exception& error) {
      if (!bad_) bad_ = FieldFault{pointer, cause_of(error)};
    }
    return true;
  }

  bool take_night(json& night) {
    if (history_.nights.size() == most_imported_nights)
      refuse_count("a body", "nights", history_.nights.size());
    check(night, described(Parsed<HistoryNight>{}).schema(), pointer_of_night());
    const auto origin = night["origin"].get<std::string>();
    HistoryNight read;
    try {
      read = parse_json(night, Parsed<HistoryNight>{});
    } catch (const json::exception& error) {
      refuse_record(pointer_of_night(), origin, cause_of(error));
    }
    if (const auto why = future_in(read, now_)) refuse_record(pointer_of_night(), origin, *why);
    if (bad_) refuse_record(bad_->pointer, origin, bad_->detail);
    read.values = std::exchange(values_, {});
    history_.nights.push_back(std::move(read));
    taken_ = 0;
    return true;
  }

  void check(json& record, const Schema& schema, const std::string& pointer) const {
    auto faults = faults_of(record, schema);
    for (FieldFault& fault : faults) fault.pointer = pointer + fault.pointer.substr(1);
    if (!faults.empty()) refuse_body(request_, std::move(faults));
    make_integers(record);
  }

  [[noreturn]] static void refuse_count(const char* of, const char* what, std::size_t most) {
    throw Refused(400, "Bad body",
                  std::string("Of ") + of + " at most " + std::to_string(most) + " " + what +
                      " are taken; send them in parts.");
  }

  std::string pointer_of_night() const {
    return "#/nights/" + std::to_string(history_.nights.size());
  }

  const web::Request& request_;
  const Time now_;
  History history_;
  std::vector<HistoryValue> values_;  // of the night that is being read
  std::size_t taken_ = 0;             // records of it
  std::optional<FieldFault> bad_;     // the first of them that is no good
};

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

// What the writer stores at a time, in some 50 ms: values, and samples of 8 bytes.
constexpr std::size_t values_at_once = 500, samples_at_once = 200'000;

// Each night in transactions of its own, with others' work in between. Where it is cut off, the
// next import of the night completes it.
class Import {
 public:
  Import(Context& context, const web::Request& request)
      : context_(context),
        history_(HistoryReader(request, context.clock.now()).read()),
        actor_(actor_of(request.principal)) {}

  std::optional<web::Response> go_on(storage::Database& db) {
    if (const std::string disk = disk_check(context_); disk != "ok")
      throw Refused(507, "Not stored",
                    "Histories are not imported while the disk has too little space, which results "
                    "need: " +
                        disk + ". What is stored stays; send all again later.");
    if (!sum_.machine) begin(db);
    if (next_ < history_.nights.size()) {
      const HistoryNight& night = history_.nights[next_];
      storage::Transaction transaction(db);
      const auto stored =
          storage::store_history(transaction, sum_.machine, night, context_.clock.now(), known_,
                                 {next_value_, values_at_once, samples_at_once});
      transaction.commit();
      add(sum_, stored);
      next_value_ = stored.next;
      if (next_value_ < night.values.size()) return std::nullopt;
      next_value_ = 0;
      if (++next_ < history_.nights.size()) return std::nullopt;
    }
    log::info("imported machine={} nights={} values={} by={}", sum_.machine.value, sum_.nights,
              sum_.added, actor_);
    under_way_.reset();
    context_.wake();
    return json_answer(imported().write(sum_));
  }

 private:
  void begin(storage::Database& db) {
    storage::Transaction interning(db);
    sum_.machine =
        storage::intern_machine(interning, machine_class({{"imported", history_.machine_class}}))
            .id;
    storage::add_audit(interning, {0, context_.clock.now(), actor_, "import",
                                   "machine/" + std::to_string(sum_.machine.value)});
    interning.commit();
    under_way_ = context_.importing.begin(sum_.machine);
  }

  Context& context_;
  const History history_;
  const std::string actor_;
  Imported sum_;
  std::shared_ptr<const MachineId> under_way_;
  storage::KnownSeries known_;
  std::size_t next_ = 0, next_value_ = 0;  // night, and value of it
};

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
  routes.take(
      {.path = "/api/v1/imports",
       .id = "import_history",
       .summary = "Store nights that were measured elsewhere; what is there already stays",
       .method = web::Method::post,
       .role = web::Role::import,
       .body = Body{.schema = described(Parsed<History>{}).schema(), .example = example_body()},
       .answers = {{.text = "Stored, each night in a transaction. Steps are looked for next.",
                    .schema = imported().schema(),
                    .example = {{"machine", 4},
                                {"nights", 1},
                                {"added", 1},
                                {"known", 0},
                                {"differing", 0}}}},
       .problems = {{422, "InvalidRecord",
                     "A record is well-formed, but no good; errors names it. Nothing is stored."},
                    {507, "DiskFull", "The disk has too little space; send it later."}}},
      {},
      [&context](const web::Request& request) -> Routes::Store {
        auto all = std::make_shared<Import>(context, request);
        return [all = std::move(all)](storage::Database& db) { return all->go_on(db); };
      },
      history_bytes);
}

}  // namespace nightjar::service::api
