// What sessions took and what they found, on machine classes that have a GPU, or on the others.
#pragma once

#include <optional>

namespace nightjar::service {

struct MeasuringCost {
  double minutes = 0;  // that sessions held machines
  int named = 0;       // findings with a culprit
  // Minutes; nullopt: nothing was named.
  std::optional<double> per_finding() const {
    return named > 0 ? std::optional(minutes / named) : std::nullopt;
  }
};

}  // namespace nightjar::service
