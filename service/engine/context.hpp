// What every step of the engine works with. The steps are ticks over rows: each reads what is
// stored, does what is missing and may run again at any time; all of them run on the writer's
// thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "bisect/git/commit_graph.hpp"
#include "service/complaints.hpp"
#include "service/config.hpp"
#include "storage/database.hpp"
#include "storage/model/time.hpp"

namespace nightjar::service {

class Artifacts;

struct EngineContext {
  storage::Database& db;
  const git::CommitGraph& graph;
  Artifacts& artifacts;
  const Config& config;
  const Clock& clock;
  // Tells who watches ("night", "regression", "bisection", "job"; JSON object). Never throws.
  std::function<void(std::string_view event, const std::string& json)> publish;
  Complaints complaints{};  // of steps that fail again and again
};

}  // namespace nightjar::service
