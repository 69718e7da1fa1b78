// Searches that a person had taken up again: who and why, what each had come to by then, and what
// it may spend from then on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::storage {

struct Widening {
  BisectionId bisection;
  Time at{};
  std::string actor, reason;
  // The search before the widening: its state, good end and posterior, and what it had spent.
  BisectionState outcome = BisectionState::inconclusive;
  BuildId good;
  std::string posterior;
  int runs = 0, sessions = 0;
  double spent_seconds = 0;
  Time finished_at{};
  // Limits from then on. They include what the search had spent before.
  int max_runs = 0, max_minutes = 0;
  std::optional<double> threshold = {};  // nullopt: the configured one
};

void add_widening(Transaction& transaction, const Widening& widening);
std::vector<Widening> widening_history(const Database& db, BisectionId id);  // oldest first

}  // namespace nightjar::storage
