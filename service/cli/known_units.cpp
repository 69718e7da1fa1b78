#include "service/cli/known_units.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <stdexcept>

namespace nightjar::cli {
namespace {

using enum Dimension;
constexpr KnownUnit unit_table[] = {
    {"ns", time, 1e-9},        {"us", time, 1e-6},       {"\xC2\xB5s", time, 1e-6},
    {"\xCE\xBCs", time, 1e-6}, {"ms", time, 1e-3},       {"s", time, 1},
    {"sec", time, 1},          {"min", time, 60},        {"h", time, 3600},
    {"B", memory, 1},          {"bytes", memory, 1},     {"kB", memory, 1e3},
    {"KB", memory, 1e3},       {"MB", memory, 1e6},      {"GB", memory, 1e9},
    {"KiB", memory, 1024},     {"MiB", memory, 1048576}, {"GiB", memory, 1073741824}};

}  // namespace

std::optional<KnownUnit> known_unit(std::string_view name) {
  const auto found = std::find_if(std::begin(unit_table), std::end(unit_table),
                                  [&](const KnownUnit& unit) { return unit.name == name; });
  return found == std::end(unit_table) ? std::nullopt : std::optional(*found);
}

std::optional<double> factor_of_units(std::string_view from, std::string_view to) {
  if (from == to) return 1;
  const auto one = known_unit(from), other = known_unit(to);
  if (one && other)
    return one->dimension == other->dimension ? std::optional(one->factor / other->factor)
                                              : std::nullopt;
  const auto slash = from.find('/'), other_slash = to.find('/');
  if (slash == from.npos || other_slash == to.npos) return std::nullopt;
  const auto above = factor_of_units(from.substr(0, slash), to.substr(0, other_slash)),
             below = factor_of_units(from.substr(slash + 1), to.substr(other_slash + 1));
  return above && below ? std::optional(*above / *below) : std::nullopt;
}

std::optional<double> Amount::in(std::string_view metric_unit) const {
  if (!unit) return value;
  const auto factor = factor_of_units(unit->name, metric_unit);
  return factor ? std::optional(value * *factor) : std::nullopt;
}

Amount parse_amount(const std::string& text) {
  Amount amount;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount.value);
  if (error != std::errc() || !(amount.value > 0) || !std::isfinite(amount.value))
    throw std::invalid_argument("must be a positive number, such as 100us, 2MiB or 5, not '" +
                                text + "'");
  std::string_view name =
      std::string_view(text).substr(static_cast<std::size_t>(end - text.data()));
  while (name.starts_with(' ')) name.remove_prefix(1);
  if (name.empty()) return amount;
  amount.unit = known_unit(name);
  if (!amount.unit)
    throw std::invalid_argument("has no unit of time or memory that is known: '" + text + "'");
  return amount;
}

}  // namespace nightjar::cli
