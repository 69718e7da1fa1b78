// Results of airspeed velocity (asv), versions 1 and 2 of its files.
#include <chrono>
#include <map>
#include <stdexcept>

#include "service/cli/history/asv_file.hpp"
#include "service/cli/history/fields.hpp"
#include "service/cli/history/formats.hpp"
#include "storage/base/digest.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"
#include "storage/model/json_problem.hpp"

namespace nightjar::cli {
namespace {
using nlohmann::json;

// The unit of a benchmark that tracks a number stands in benchmarks.json.
KnownMetric metric_of(const std::string& benchmark, const json& benchmarks) {
  const AsvKind& kind = asv_kind(benchmark);
  if (*kind.metric) return {kind.metric, 1};
  const std::string unit = text_field(object_field(benchmarks, benchmark.c_str()), "unit");
  return {"", 1, asv_method(benchmark), *kind.unit ? kind.unit : unit};
}

// Some choose by a parameter what is tracked. It counts where method and unit say nothing.
KnownMetric with_parameters(KnownMetric metric, const std::string& parameters) {
  if (!metric.foreign.empty() && !parameters.empty() &&
      direction_of(metric.foreign, metric.unit) == Direction::unknown)
    metric.foreign += "-" + parameters;
  return metric;
}

// Whether any needs the benchmarks.json, which may be large.
bool has_tracks(const json& results) {
  for (const auto& [benchmark, result] : results.items())
    if (std::string_view(asv_kind(benchmark).task) == "track") return true;
  return false;
}

// asv compares results of one version of a benchmark only; it is a digest of the benchmark's source
// or what the author says. A part of the name, so that each version is a series of its own.
std::string version_word(const std::string& version) {
  constexpr std::size_t most_shown = 8;
  if (version.empty()) return "";
  const bool short_enough = version.size() <= most_shown;
  const bool is_digest = version.find_first_not_of("0123456789abcdef") == std::string::npos;
  return "v" + (short_enough
                    ? version
                    : (is_digest ? version : digest_of(version).str()).substr(0, most_shown));
}

// Results of one machine in two environments are no series.
std::string asv_class(const json& root, const std::string& place) {
  std::string machine = text_field(object_field(root, "params"), "machine");
  if (const auto slash = place.rfind('/'); machine.empty() && slash != std::string::npos)
    machine = place.substr(0, slash).substr(place.rfind('/', slash - 1) + 1);
  const std::string environment = text_field(root, "env_name");
  return machine + (environment.empty() ? "" : " " + environment);
}

}  // namespace

Reading read_asv(const ResultFile& file) {
  json root;
  try {
    root = parse_foreign_or_throw(json_of_python(file.text));
    const Time at = nearest_time(std::chrono::milliseconds(field<std::int64_t>(root, "date")));
    const std::string hash = root.at("commit_hash").get<std::string>();
    HistoryNight night;
    night.measured_at = at;
    night.commit = CommitSha::parse(hash);
    if (!night.commit) throw std::invalid_argument("'" + hash + "' is no commit");
    night.origin = file.place;
    Reading reading;
    NightReader values(reading, asv_class(root, file.place), night, file.directions);
    const json benchmarks = has_tracks(root.at("results")) ? parse_foreign(file.beside) : json();
    for (const AsvOutcome& outcome : asv_outcomes(root, reading.left_out)) {
      const std::string& benchmark = outcome.benchmark;
      const KnownMetric metric = metric_of(benchmark, benchmarks);
      for (std::size_t i = 0; i < outcome.names.size(); ++i) {
        const auto& measured = outcome.values[i];
        if (measured.empty()) ++reading.unmeasured["null or NaN"];
        const std::string source = asv_name(outcome, i);
        values.add(
            {"asv", source, asv_kind(benchmark).task, "cpu", "", "", version_word(outcome.version)},
            with_parameters(metric, outcome.names[i]), measured, source);
      }
    }
    values.finish();
    return reading;
  } catch (const json::exception& error) {
    throw std::invalid_argument(problem_of(error));
  }
}

}  // namespace nightjar::cli
