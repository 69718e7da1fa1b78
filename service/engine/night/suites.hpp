// What the suites of a night came to, once it is over: for each compiled backend how many models
// pass, the means over its members, and whether a mean moved. Imported nights are summed up alike,
// and again if they get more values. No issue is opened for a suite: its members have verdicts of
// their own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "service/engine/context.hpp"
#include "storage/model/night.hpp"
#include "storage/model/suite.hpp"
#include "storage/suites.hpp"

namespace nightjar::service {

struct SuiteFacts {
  Night night;
  std::string variant;  // of its build
  std::vector<storage::SuiteRun> runs;
  // The same suites on nights before this one, newest first.
  std::map<SuiteKey, std::vector<storage::SummedSuite>> earlier;
};
// The night has a build.
SuiteFacts load_suites(const EngineView& view, const Night& night);

struct SumUp {
  std::vector<storage::SummedSuite> suites;
};
SumUp decide(const SuiteFacts& facts);

// Sums up a few of the nights that are over, the oldest first. False: none is left.
bool sum_up_nights(EngineContext& context);

}  // namespace nightjar::service
