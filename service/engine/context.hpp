// What every step of the engine works with. A step is a tick over rows: it reads what is stored,
// does what is missing and may run again at any time; all steps run on the writer's thread. Each
// has three parts: load (takes an EngineView), decide (a pure function), and apply (takes the
// EngineContext, stores the decision with its evidence in one transaction, then tells who watches).
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>

#include "bisect/git/commit_graph.hpp"
#include "service/complaints.hpp"
#include "service/config.hpp"
#include "service/importing.hpp"
#include "storage/database.hpp"
#include "storage/model/night.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/time.hpp"

namespace nightjar::service {

class Artifacts;

// What a step reads and decides by. It has no right to write.
struct EngineView {
  const storage::Database& db;
  const git::CommitGraph& graph;
  const Artifacts& artifacts;
  const Config& config;
  const Clock& clock;
};

struct EngineContext {
  storage::Database& db;
  const git::CommitGraph& graph;
  Artifacts& artifacts;
  const Config& config;
  const Clock& clock;
  // Tells who watches ("night", "regression", "bisection", "job"; JSON object). Never throws.
  std::function<void(std::string_view event, const std::string& json)> publish;
  Complaints complaints{};               // of steps that fail again and again
  const Importing* importing = nullptr;  // null: nothing is ever being imported

  operator EngineView() const { return {db, graph, artifacts, config, clock}; }
};

// Takes the step for each item, which has an id or is one. One that fails is complained about as
// "<what> <id>" and does not keep the others from their turn. True if a step changed something.
template <class Items, class Step>
bool for_each_item(EngineContext& context, const char* what, const Items& items, Step step) {
  const auto number_of = [](const auto& item) {
    if constexpr (requires { item.id; })
      return item.id.value;
    else
      return item.value;
  };
  bool changed = false;
  for (const auto& item : items) {
    const std::string name = std::string(what) + " " + std::to_string(number_of(item));
    try {
      changed |= step(item);
      context.complaints.works(name);
    } catch (const std::exception& error) {
      context.complaints.fails(name, error.what());
    }
  }
  return changed;
}

// Tell who watches what is stored now.
void announce(const EngineContext& context, const Night& night);
void announce(const EngineContext& context, const Regression& regression, RegressionState state);
void announce(const EngineContext& context, const Bisection& search, std::string_view what);

}  // namespace nightjar::service
