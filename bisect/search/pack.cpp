// Sorts the log of runs into blocks.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bisect/search/model.hpp"
#include "bisect/statistics.hpp"

namespace nightjar::bisect::search {
namespace {

constexpr double least_sd = .004;
constexpr double caution = 1.4;  // a median deviation of ten runs is often too small
// The largest outlier lies within this many sd. Outliers come from the machine and do not shrink
// with the threshold.
constexpr double largest_outlier_z = 3;

// Log values of `commit` in the first session that has it, on the wheel that it was first on.
std::vector<double> first_values(const SearchLog& log, int commit, double unit) {
  const SearchRun* first = nullptr;
  for (const SearchRun& run : log.runs) {
    if (run.commit == commit && (!first || run.session < first->session)) first = &run;
  }
  std::vector<double> out;
  for (const SearchRun& run : log.runs) {
    if (run.commit == commit && run.session == first->session && run.wheel == first->wheel)
      out.push_back(std::log(run.value) / unit);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void set_first_guesses(const SearchLog& log, const SearchPolicy& policy, Data& data,
                       std::vector<double>& good) {
  auto bad = first_values(log, log.commits, data.unit);
  const double centre = median(good), end = median(bad);
  data.end_change = end - centre;
  std::vector<double> rest;
  for (double y : good) rest.push_back(y - centre);
  for (double y : bad) rest.push_back(y - end);
  data.first_sd = std::max(robust_sd(rest) * caution, least_sd);
  if (policy.expected_noise > 0) {
    data.first_sd = std::max(policy.expected_noise / data.unit, least_sd);
    data.known_runs = policy.expected_noise_runs;
  }
}

// Prior mass of the culprit positions in each gap.
void set_masses(const SearchLog& log, Data& data) {
  double all = 0;
  for (double mass : log.prior) all += mass;
  data.mass.assign(static_cast<std::size_t>(data.gaps()), 0);
  for (int gap = 0; gap < data.gaps(); ++gap) {
    const int from = data.commits[static_cast<std::size_t>(gap)];
    const int to = data.commits[static_cast<std::size_t>(gap) + 1];
    double sum = 0;
    for (int commit = from + 1; commit <= to; ++commit) {
      sum += log.prior.empty() ? 1.0 / log.commits
                               : log.prior[static_cast<std::size_t>(commit) - 1] / all;
    }
    data.mass[static_cast<std::size_t>(gap)] = sum;
  }
}

}  // namespace

void guess_outliers(Data& data) {
  data.outlying.assign(data.y.size(), .02);
  double largest = 0;
  for (const Block& block : data.blocks) {
    if (block.count < 3) continue;
    const auto values = std::span(data.y).subspan(static_cast<std::size_t>(block.first),
                                                  static_cast<std::size_t>(block.count));
    const double middle = median(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] - middle > 4 * data.first_sd) {
        data.outlying[static_cast<std::size_t>(block.first) + i] = .9;
      }
    }
    largest = std::max(largest, values.back() - middle);
  }
  data.outlier_sd = std::max(data.outlier_sd, (largest - outlier_mean) / largest_outlier_z);
}

namespace {

// The wheels of the runs. Where all are on one, it plays no part.
void set_wheels(const SearchLog& log, Data& data) {
  std::set<int> numbers;
  for (const SearchRun& run : log.runs)
    if (!log.origins.empty()) numbers.insert(run.wheel);
  if (numbers.size() < 2) return;
  for (const int number : numbers)
    data.wheels.push_back({number, log.origins[static_cast<std::size_t>(number)]});
}

// Each commit on the wheel that has most of its runs.
SearchLog on_main_wheels(SearchLog log) {
  std::map<int, std::map<int, int>> runs;  // by commit and wheel
  for (const SearchRun& run : log.runs) ++runs[run.commit][run.wheel];
  const auto main_of = [&](int commit) {
    const auto& wheels = runs.at(commit);
    return std::max_element(wheels.begin(), wheels.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  };
  std::erase_if(log.runs, [&](const SearchRun& run) { return run.wheel != main_of(run.commit); });
  return log;
}

}  // namespace

Data pack(const SearchLog& all, const SearchPolicy& policy, bool apart) {
  const SearchLog log = apart ? all : on_main_wheels(all);
  Data data;
  data.unit = std::log1p(policy.threshold) / threshold_step;
  data.of_inverses = policy.of_inverses;
  data.searches = policy.searches;
  data.stretch = 1 / std::min(1.0, data.unit);
  std::map<int, int> session_index;
  if (apart) set_wheels(log, data);
  std::map<std::array<int, 3>, std::vector<double>> by_block;  // commit, wheel, session
  auto good = first_values(log, 0, data.unit);
  const double centre = median(good);
  for (const SearchRun& run : log.runs) {
    session_index[run.session] = 0;
    by_block[{run.commit, run.wheel, run.session}].push_back(std::log(run.value) / data.unit -
                                                             centre);
  }
  for (auto& [session, index] : session_index) index = data.sessions++;
  data.last_session = session_index.rbegin()->first;
  for (auto& [key, values] : by_block) {
    const auto [commit, number, session] = key;
    const bool new_commit = data.commits.empty() || data.commits.back() != commit;
    if (new_commit) data.commits.push_back(commit);
    if (new_commit || data.measured.back().number != number) {
      data.measured.push_back(
          {static_cast<int>(data.commits.size()) - 1, data.wheel_index(number), number});
      data.build_blocks.push_back(static_cast<int>(data.blocks.size()));
    }
    std::sort(values.begin(), values.end());
    data.blocks.push_back(
        {session_index[session], data.builds() - 1, data.runs(), static_cast<int>(values.size())});
    data.y.insert(data.y.end(), values.begin(), values.end());
    if (session == data.last_session) data.in_session += static_cast<int>(values.size());
  }
  data.build_blocks.push_back(static_cast<int>(data.blocks.size()));
  set_first_guesses(log, policy, data, good);
  set_masses(log, data);
  guess_outliers(data);
  return data;
}

}  // namespace nightjar::bisect::search
