// What a file of somebody else's results says in our terms: nights of a history. Each format has a
// reader, a pure function; `nightjar import` asks them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/cli/metric_direction.hpp"
#include "storage/model/history.hpp"

namespace nightjar::cli {

struct ResultFile {
  std::string place;  // its path below the folder that is imported; it may tell date and commit
  std::string text;
  std::string beside = {};           // of asv: the text of the benchmarks.json that belongs to it
  ChosenDirections directions = {};  // of metrics that are none of ours
};

struct FoundNight {
  std::string machine_class;  // empty: the file does not say
  HistoryNight night;
  bool is_instance = false;  // one of several processes that measured the same at once
  bool any_batch = false;    // without a batch, a value is of the batch that its model has
};

struct Reading {
  std::vector<FoundNight> nights;
  std::vector<std::string> left_out;      // a line each: what could not be taken, and why
  std::map<std::string, int> unmeasured;  // values that were not measured, by what stands there
  std::map<std::string, Direction>
      directions;                        // of each metric, by the name that the file gives it
  std::map<std::string, int> not_taken;  // columns that nobody reads: rows
};

// The parts of a workload's name as the file spells them. What is not known is empty.
struct WorkloadWords {
  std::string suite, model, task, device, precision, batch, backend;
};
// What no part of a name may hold becomes "_", and a part that is empty "unknown". A part of more
// than 120 characters is cut, with a digest of the whole at its end.
WorkloadName workload_of(const WorkloadWords& words);
WorkloadWords words_of(const WorkloadName& name);

// A metric of ours, and what a value in the file is multiplied with.
struct KnownMetric {
  std::string metric;  // empty: it is none of ours
  double factor = 1;
  std::string foreign = {}, unit = {};  // the name and the unit of one that is none of ours
};
// Makes a metric that Nightjar does not have: its name becomes a part of the model. By its name or
// unit it is a rate or a cost, in a unit of its own, or a value of which neither is known.
KnownMetric foreign_metric(WorkloadWords& words, const std::string& name,
                           const std::string& unit = "");
// Peak memory is the GPU's on every device but the CPU.
std::string peak_memory_on(const std::string& device);

// Gathers the values of one night.
class NightReader {
 public:
  NightReader(Reading& reading, std::string machine_class, HistoryNight night,
              ChosenDirections directions = {});

  // `source`: what the file calls it. Values that mean nothing (not finite, or 0 where 0 is no
  // measurement) are counted as unmeasured. If two sources give one name, the first stays, and a
  // line says so. If one source gives it twice, the last value stays.
  void add(const WorkloadWords& words, const KnownMetric& metric, const std::vector<double>& values,
           const std::string& source);
  // Whether it ran, as the metric `failures`. One that failed once has failed.
  void add_outcome(const WorkloadWords& words, bool passed);
  // The same for a workload whose other values stand for the failure, and are left out.
  void add_failure(const WorkloadWords& words, const WorkloadWords& outcome);
  // Dynamo's word, kept beside that. One that is no word of ours is left out, and a line says so.
  void add_accuracy(const WorkloadWords& words, const std::string& word);
  // Adds the night to the reading, if it has values. One that is yet to come is left out, and a
  // line says so. Called last.
  void finish();

 private:
  void put(HistoryValue value, const std::string& source);
  std::string name_of_ours(const KnownMetric& metric);

  Reading& reading_;
  ChosenDirections directions_;
  FoundNight found_;
  std::map<std::pair<std::string, std::string>, std::pair<std::size_t, std::string>> places_;
  struct Outcome {
    std::optional<bool> passed;  // nullopt: that is not told
    std::optional<Accuracy> accuracy;
  };
  std::map<WorkloadName, Outcome> outcomes_;
  std::set<WorkloadName> failed_;
};

// The workload that tells whether a model runs. It has no batch size here: dynamo writes 0 for a
// model that failed, and checks the accuracy with another batch than the speed. collect() gives it
// the model's.
WorkloadWords outcome_words(WorkloadWords words);
// What dynamo's word says; nullopt where the model did not come as far as the compiler.
std::optional<bool> accuracy_passed(const std::string& word);

struct When {
  std::optional<Time> time;
  std::optional<CommitSha> commit;
};
// What a path says: a date such as 2026-08-20, 20260820 or 20260820073000 (UTC), and a commit of 40
// digits. The deepest folder counts first.
When when_of(std::string_view place);
// Throws std::invalid_argument that says how to tell it.
Time require_time(const std::optional<Time>& time);

// The text of a file, with NaN and Infinity, which Python writes bare and JSON does not know, as
// null.
std::string json_of_python(std::string_view text);

}  // namespace nightjar::cli
