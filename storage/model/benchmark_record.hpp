// A record of PyTorch's benchmark database, schema version 3, in the shape that PyTorch's own
// benchmarks write. Measurements and verdicts go out as such records. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/workload.hpp"

namespace nightjar {

// Who measured what in which workflow. The database wants all of it in each record.
struct BenchmarkMetadata {
  std::int64_t timestamp = 0;  // seconds since 1970
  std::string name;            // of the workflow
  std::string repository;      // "pytorch/pytorch"
  std::string branch;
  std::int64_t workflow = 0, job = 0;  // of which a page is looked up, if they are GitHub's
};

struct BenchmarkRecord {
  WorkloadName workload;
  std::string metric;
  std::vector<double> values;                       // the dashboards show their mean
  std::optional<double> target = {};                // what it should be
  std::map<std::string, std::string> more = {};     // about the values
  std::string benchmark = "nightjar";               // what the values come from
  std::string commit = {}, version = {};            // of the build
  std::map<std::string, std::string> machine = {};  // facts of its class
  std::optional<BenchmarkMetadata> metadata = {};   // nullopt: who uploads the record adds it
};

// One JSON object, on one line.
std::string benchmark_record_json(const BenchmarkRecord& record);

}  // namespace nightjar
