#include "service/cli/history/reading.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "storage/base/digest.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::cli {
namespace {

constexpr std::size_t longest_name_read = 120;

bool may_stand(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
}

std::string word_of(const std::string& text) {
  std::string word;
  for (const char c : text) {
    if (may_stand(c))
      word += c;
    else if (!word.ends_with('_'))
      word += '_';
  }
  while (word.ends_with('_')) word.pop_back();
  if (word.size() > longest_name_read)
    word = word.substr(0, longest_name_read) + "-" + digest_of(text).str().substr(0, 8);
  return word.empty() ? "unknown" : word;
}

std::string batch_word(const std::string& text) {
  const auto number = text.substr(text.starts_with('b') ? 1 : 0);
  const bool digits = !number.empty() && number.size() < 9 && number[0] != '0' &&
                      number.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "b" + number : "bdefault";
}

bool means_something(const std::string& metric, double value) {
  const Metric* known = find_metric(metric);
  const bool may_be_zero = known && known->repeatability == Repeatability::slope;
  return std::isfinite(value) && (value > 0 || may_be_zero);
}

const char* word_for(double value) {
  return std::isfinite(value) ? (value == 0 ? "0" : "below 0") : "NaN or infinite";
}

// The length of a number that only Python writes, at the begin of `text`; else 0.
std::size_t bare_word(std::string_view text) {
  for (const std::string_view word : {"NaN", "Infinity", "-Infinity"})
    if (text.starts_with(word)) return word.size();
  return 0;
}

}  // namespace

WorkloadName workload_of(const WorkloadWords& words) {
  const std::string text = word_of(words.suite) + "/" + word_of(words.model) + "/" +
                           word_of(words.task) + "/" + word_of(words.device) + "/" +
                           word_of(words.precision) + "/" + batch_word(words.batch) + "/" +
                           word_of(words.backend);
  const auto name = WorkloadName::parse(text);
  if (!name) throw std::logic_error(text + " is made of words and yet no workload's name");
  return *name;
}

WorkloadWords words_of(const WorkloadName& name) {
  const auto text = [](std::string_view part) { return std::string(part); };
  return {text(name.suite()),     text(name.model()), text(name.task()),   text(name.device()),
          text(name.precision()), text(name.batch()), text(name.backend())};
}

KnownMetric foreign_metric(WorkloadWords& words, const std::string& name, const std::string& unit) {
  words.model += (words.model.empty() ? "" : ".") + name;
  return {"", 1, name, unit};
}

std::string peak_memory_on(const std::string& device) {
  return device == "cpu" ? "peak_cpu_memory" : "peak_gpu_memory";
}

WorkloadWords outcome_words(WorkloadWords words) {
  words.batch.clear();
  return words;
}

std::optional<bool> accuracy_passed(const std::string& word) {
  static const std::set<std::string> good{"pass", "pass_due_to_skip", "eager_variation"};
  static const std::set<std::string> unknown{"",
                                             "model_fail_to_load",
                                             "infra_error",
                                             "eager_fail_to_run",
                                             "eager_1st_run_OOM",
                                             "eager_1st_run_fail",
                                             "eager_2nd_run_OOM",
                                             "eager_2nd_run_fail",
                                             "eager_two_runs_differ",
                                             "no_evidence"};
  if (unknown.contains(word)) return std::nullopt;
  return good.contains(word);
}

NightReader::NightReader(Reading& reading, std::string machine_class, HistoryNight night,
                         ChosenDirections directions)
    : reading_(reading),
      directions_(std::move(directions)),
      found_{std::move(machine_class), std::move(night)} {}

std::string NightReader::name_of_ours(const KnownMetric& metric) {
  if (metric.foreign.empty()) {
    const Metric* known = find_metric(metric.metric);
    reading_.directions[metric.metric] = known ? known->direction : Direction::unknown;
    return metric.metric;
  }
  const Direction direction = direction_of(metric.foreign, metric.unit, directions_);
  reading_.directions[metric.foreign] = direction;
  if (direction == Direction::unknown) return "imported_value";
  return direction == Direction::higher_is_better ? "imported_rate" : "imported_cost";
}

void NightReader::finish() {
  std::erase_if(found_.night.values,
                [&](const HistoryValue& value) { return failed_.contains(value.workload); });
  for (const auto& [workload, outcome] : outcomes_) {
    HistoryValue value{workload, std::string(failures_metric), {}, outcome.accuracy};
    if (outcome.passed) value.values = {*outcome.passed ? 1 : failed_value};
    found_.night.values.push_back(std::move(value));
  }
  if (found_.night.values.empty()) return;
  if (const auto why = future_in(found_.night, SystemClock().now()))
    reading_.left_out.push_back("all " + std::to_string(found_.night.values.size()) +
                                " values of a night: " + *why);
  else
    reading_.nights.push_back(std::move(found_));
}

void NightReader::add(const WorkloadWords& words, const KnownMetric& metric,
                      const std::vector<double>& values, const std::string& source) {
  HistoryValue value{workload_of(words), name_of_ours(metric), {}};
  for (const double one : values) {
    if (means_something(value.metric, one * metric.factor))
      value.values.push_back(one * metric.factor);
    else
      ++reading_.unmeasured[word_for(one)];
  }
  if (!value.values.empty()) put(std::move(value), source);
}

void NightReader::add_outcome(const WorkloadWords& words, bool passed) {
  std::optional<bool>& known = outcomes_[workload_of(words)].passed;
  known = known.value_or(true) && passed;
}

void NightReader::add_failure(const WorkloadWords& words, const WorkloadWords& outcome) {
  failed_.insert(workload_of(words));
  add_outcome(outcome, false);
}

void NightReader::add_accuracy(const WorkloadWords& words, const std::string& word) {
  if (word.empty()) return;
  const WorkloadName name = workload_of(words);
  if (const auto accuracy = enum_from<Accuracy>(word))
    outcomes_[name].accuracy = accuracy;
  else
    reading_.left_out.push_back("the accuracy '" + word + "' of " + name.str() +
                                " is no word that is known here");
}

void NightReader::put(HistoryValue value, const std::string& source) {
  auto& values = found_.night.values;
  const auto [place, is_new] =
      places_.try_emplace({value.workload.str(), value.metric}, std::pair(values.size(), source));
  if (is_new)
    values.push_back(std::move(value));
  else if (place->second.second == source)
    values[place->second.first] = std::move(value);
  else
    reading_.left_out.push_back("'" + source + "' would be " + value.metric + " of " +
                                value.workload.str() + ", as '" + place->second.second + "' is");
}

Time require_time(const std::optional<Time>& time) {
  if (time) return *time;
  throw std::invalid_argument(
      "nothing says when it was measured; put it into a folder that is named by the date, such as "
      "2026-08-20, or 2026-08-20_COMMIT");
}

std::string json_of_python(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      out += c;
      if (c == '\\' && i + 1 < text.size())
        out += text[++i];
      else if (c == '"')
        quoted = false;
      continue;
    }
    const std::size_t bare = c == 'N' || c == 'I' || c == '-' ? bare_word(text.substr(i, 9)) : 0;
    if (bare > 0) {
      out += "null";
      i += bare - 1;
      continue;
    }
    quoted = c == '"';
    out += c;
  }
  return out;
}

}  // namespace nightjar::cli
