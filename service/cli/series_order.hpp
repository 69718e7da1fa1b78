// The order of time of a series' positions. Used by series_file.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/time.hpp"

namespace nightjar::cli {

struct PositionName {
  int line = 0;
  std::string text;
};

enum class PositionKind { numbers, versions, dates, as_listed };

struct PositionOrder {
  PositionKind kind = PositionKind::as_listed;
  // For each name that was given, the number of its position: 0 is the oldest. Equal ones are one.
  std::vector<std::size_t> places;
};

// Numbers, versions (PEP 440 and semantic ones: 3.9 before 3.10, 2.0rc1 before 2.0) and ISO dates
// are sorted. Anything else, such as commits, stays in the order of the file.
//
// Throws BadInput that begins with `attempt` and names the line where the order is ambiguous:
// 3.9 and 3.10 in an order that fits neither decimals nor versions, 03/04/2026, a word among dates.
PositionOrder position_order(const std::vector<PositionName>& names, const std::string& attempt);

// An ISO date with hyphens, with or without a time of day. Without one it is midnight, without a
// zone UTC. nullopt: it is none.
std::optional<Time> date_in(std::string_view text);

}  // namespace nightjar::cli
