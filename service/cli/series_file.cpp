#include "service/cli/series_file.hpp"

#include <algorithm>

#include "service/cli/failure.hpp"
#include "service/cli/series_rows.hpp"

namespace nightjar::cli {

Series parse_series(const std::string& text, const std::filesystem::path& file) {
  const std::string attempt = "cannot read the series " + file.string();
  SeriesRows read = series_rows(text, attempt);
  std::vector<PositionName> names;
  for (const SeriesRow& row : read.rows) names.push_back({row.line, row.position});
  const PositionOrder order = position_order(names, attempt);
  Series series;
  series.kind = order.kind;
  series.unmeasured = std::move(read.unmeasured);
  const auto last = *std::max_element(order.places.begin(), order.places.end());
  for (std::size_t place = 0; place <= last; ++place)
    series.positions.push_back({static_cast<long long>(place), {}});
  series.names.resize(last + 1);
  for (std::size_t i = 0; i < read.rows.size(); ++i) {
    series.names[order.places[i]] = read.rows[i].position;
    series.positions[order.places[i]].runs.push_back(read.rows[i].value);
  }
  return series;
}

}  // namespace nightjar::cli
