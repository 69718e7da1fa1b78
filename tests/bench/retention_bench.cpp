// What a database holds after years, and how long dropping old samples keeps the writer's lock.
// Beside it the same nights with every sample kept. `retention_bench [NIGHTS]`, 30 unless given:
// each night has 60 sessions of 100 runs, which are 30,000 values of series.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include "bisect/statistics.hpp"
#include "storage/builds.hpp"
#include "storage/connection.hpp"
#include "storage/jobs.hpp"
#include "storage/nights.hpp"
#include "storage/retention.hpp"
#include "storage/runners.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"
#include "tests/bench/made_session.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using nightjar::bisect::median;

namespace {

constexpr int session_count = 60, runs_a_session = 100,
              iterations = 60;      // a night, a session, a run
constexpr int workload_count = 20;  // a session; a fifth of its runs each
constexpr int at_once = 10;         // sessions of one transaction, as the service drops them
constexpr int kept_days = 180;      // that samples are kept
constexpr int kept_years = 10;
constexpr double longest_lock = .5;  // s

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

double mebibytes(const std::filesystem::path& file) {
  return static_cast<double>(std::filesystem::file_size(file)) / (1 << 20);
}

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

// Five series a run, with `failures`.
SessionResult session_of_runs() {
  SessionResult session = test::made_session(runs_a_session, iterations);
  for (RunResult& run : session.runs) run.slowdown.assign(iterations, 1.001);
  return session;
}

class Years {
 public:
  explicit Years(const std::filesystem::path& path) : db_(Database::open_writer(path)) {
    machine_ = intern_machine(Autocommit(db_), {{}, *Sha256::parse(std::string(64, '1')), {}}).id;
    Runner runner;
    runner.name = "bench";
    runner.machine = machine_;
    for (int session = 0; session < session_count; ++session)
      for (int i = 0; i < workload_count; ++i) runner.workloads.add(name_of(session, i) + "@1");
    runner_ = register_runner(Autocommit(db_), runner);
  }

  void measure(int night, const SessionResult& result) {
    Build build;
    build.version = std::to_string(night);
    build.variant = "cpu";
    char date[16];
    std::snprintf(date, sizeof date, "%04d-%02d-%02d", 2026 + night / 336, night / 28 % 12 + 1,
                  night % 28 + 1);
    build.date = date;
    build = add_build(Autocommit(db_), build);
    Night stored;
    stored.build = build.id;
    stored.state = NightState::done;
    stored = add_night(Autocommit(db_), stored);
    for (int session = 0; session < session_count; ++session) {
      Job job;
      job.key = std::to_string(night) + "/" + std::to_string(session);
      job.night = stored.id;
      job.machine = machine_;
      job.spec.environments = {
          {build.id, "", "", *Sha256::parse(std::string(64, '2')), {}, "", ""}};
      for (int i = 0; i < workload_count; ++i)
        job.spec.workloads.push_back(
            intern_workload(Autocommit(db_), *WorkloadName::parse(name_of(session, i)), 1));
      for (int i = 0; i < runs_a_session; ++i) job.spec.order.push_back({0, i % workload_count});
      add_job(Autocommit(db_), job);
      const Time now = Time{} + std::chrono::days(night);
      const auto claimed = claim_job(Autocommit(db_), runner_, now, now + std::chrono::hours(1));
      if (!claimed ||
          store_result(Autocommit(db_), claimed->id, 1, result, now) != Accepted::stored)
        throw std::runtime_error("a result was not stored");
    }
  }

  // How long each write took, s.
  std::vector<double> drop(int before_night) {
    std::vector<double> locks;
    const Time before = Time{} + std::chrono::days(before_night);
    while (true) {
      const auto sessions = sessions_with_old_samples(db_, before, at_once);
      if (sessions.empty()) return locks;
      const Clock clock;
      write(db_, [&](Transaction& transaction) {
        for (const JobId session : sessions) drop_samples(transaction, session, before);
      });
      locks.push_back(clock.seconds());
      const Clock vacuum;
      give_back_pages(db_, 2'000);
      locks.push_back(vacuum.seconds());
    }
  }

  // Returns how many seconds it takes to read the points of a series, for each of `count` series.
  std::vector<double> read(int count) {
    std::vector<double> times;
    for (int i = 1; i <= count; ++i) {
      const Clock clock;
      if (points_of_series(db_, SeriesId{i * 7}, 10'000).empty())
        throw std::runtime_error("a series is empty");
      times.push_back(clock.seconds());
    }
    return times;
  }

  void settle() { db_.impl().ask("PRAGMA wal_checkpoint(TRUNCATE)"); }

 private:
  static std::string name_of(int session, int i) {
    return "python/m" + std::to_string(session) + "/t" + std::to_string(i) + "/cpu/fp32/b4/eager";
  }

  Database db_;
  MachineId machine_;
  Runner runner_;
};

int measure(const std::filesystem::path& folder, int nights) {
  const std::filesystem::path file = folder / "years.db";
  const SessionResult result = session_of_runs();
  Years years(file);
  for (int night = 0; night < nights; ++night) {
    years.measure(night, result);
    if (night % 10 == 9) std::fprintf(stderr, "%d of %d nights\n", night + 1, nights);
  }
  years.settle();
  const double whole = mebibytes(file) / nights;
  const std::vector<double> reads_before = years.read(100);
  const std::vector<double> locks = years.drop(nights + 1);
  years.settle();
  const double kept = mebibytes(file) / nights;
  const std::vector<double> reads = years.read(100);
  const double all_nights = 365.0 * kept_years;
  const double rolled = (kept * (all_nights - kept_days) + whole * kept_days) / 1024;
  std::printf("a night: %.1f MiB with samples, %.1f MiB without\n", whole, kept);
  std::printf("%d years of such nights: %.1f GiB with %d days of samples | %.1f GiB with all\n",
              kept_years, rolled, kept_days, whole * all_nights / 1024);
  std::printf("a series of %d nights: %.2f ms | %.2f ms with all samples (medians of 100)\n",
              nights, 1e3 * median(reads), 1e3 * median(reads_before));
  std::printf("retention | %.1f ms median write | %.1f ms longest | <= %.0f ms\n",
              1e3 * median(locks), 1e3 * largest(locks), 1e3 * longest_lock);
  return largest(locks) <= longest_lock ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  const int nights = count > 1 ? std::atoi(words[1]) : 30;
  if (nights < 1) {
    std::fprintf(stderr, "retention: '%s' is no number of nights\n", words[1]);
    return 2;
  }
  std::string name = (std::filesystem::temp_directory_path() / "nightjar-bench-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  int code = 3;
  try {
    code = measure(folder, nights);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "retention: %s\n", error.what());
  }
  std::filesystem::remove_all(folder);
  return code;
}
