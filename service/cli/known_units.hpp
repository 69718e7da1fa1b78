// Units of time and of memory that people write behind a number. Used by `detect` and `compare`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nightjar::cli {

enum class Dimension { time, memory };

struct KnownUnit {
  std::string_view name;  // "ms", "MiB"
  Dimension dimension = Dimension::time;
  double factor = 1;  // of seconds, or of bytes
};

// nullopt: it is none of those in docs/formats.md.
std::optional<KnownUnit> known_unit(std::string_view name);
// What one of `from` is in `to`: 1000 of "ms" in "us", and 1e-6 of "ops/s" in "ops/us". nullopt:
// the units do not go together, or are not known.
std::optional<double> factor_of_units(std::string_view from, std::string_view to);

// "100us", "2 MiB", "5".
struct Amount {
  double value = 0;
  std::optional<KnownUnit> unit;

  // What it is in a metric's unit; nullopt if the units do not go together. A number without a unit
  // is in whatever unit the metric has.
  std::optional<double> in(std::string_view metric_unit) const;
};
// Throws std::invalid_argument that says what is wrong.
Amount parse_amount(const std::string& text);

}  // namespace nightjar::cli
