// Runs stored per second: store_result against SQLite's bare batch insert of the same rows (the
// same columns and bytes, prepared statements, one transaction a session, synced alike, but no
// foreign keys, checks, secondary indexes, medians or job state). Both in turn, several times;
// medians count.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <sqlite3.h>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include "bisect/statistics.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/nights.hpp"
#include "storage/runners.hpp"
#include "storage/sessions.hpp"
#include "tests/bench/made_session.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using nightjar::bisect::median;

namespace {

constexpr int kRepeats = 9;
constexpr int kSessions = 60;  // a repeat and side
constexpr int kRuns = 100;     // a session
constexpr int kIterations = 30;
constexpr int kWorkloads = 4;
constexpr double kBound = 0.5;

class Ours {
 public:
  explicit Ours(const std::filesystem::path& path) : db_(Database::open_writer(path)) {
    machine_ = intern_machine(Autocommit(db_), {{}, *Sha256::parse(std::string(64, '1')), {}}).id;
    Runner runner;
    runner.name = "bench";
    runner.machine = machine_;
    for (const char* version : {"1", "2"}) {
      Build build;
      build.version = version;
      build.variant = "cpu";
      build = add_build(Autocommit(db_), build);
      spec_.environments.push_back(
          {build.id, "", "", *Sha256::parse(std::string(64, '2')), {}, "", ""});
    }
    for (int i = 0; i < kWorkloads; ++i) {
      const auto name = "python/m" + std::to_string(i) + "/eval/cpu/fp32/b4/eager";
      spec_.workloads.push_back(intern_workload(Autocommit(db_), *WorkloadName::parse(name), 1));
      runner.workloads.add(name + "@1");
    }
    for (int i = 0; i < kRuns; ++i) spec_.order.push_back({i % 2, i / 2 % kWorkloads});
    runner_ = register_runner(Autocommit(db_), runner);
    night_ = add_night(Autocommit(db_), {}).id;
  }

  JobId claim() {
    Job job;
    job.key = std::to_string(++jobs_);
    job.night = night_;
    job.machine = machine_;
    job.spec = spec_;
    add_job(Autocommit(db_), job);
    return claim_job(Autocommit(db_), runner_, Time{}, Time{} + std::chrono::hours(1))->id;
  }
  void store(JobId job, const SessionResult& session) {
    if (store_result(Autocommit(db_), job, 1, session, Time{}) != Accepted::stored)
      throw std::runtime_error("a result was not stored");
  }

 private:
  Database db_;
  MachineId machine_;
  Runner runner_;
  NightId night_;
  JobSpec spec_;
  int jobs_ = 0;
};

class Bare {
 public:
  explicit Bare(const std::filesystem::path& path) {
    check(sqlite3_open(path.c_str(), &connection_));
    execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -8000");
    execute(
        "CREATE TABLE run (id INTEGER PRIMARY KEY, job, position, build, workload, status, "
        "reason, checksum, warmup_iterations, started_at_us, seconds, cpu_seconds, wait_seconds)");
    execute("CREATE TABLE sample (run, metric, samples, PRIMARY KEY (run, metric)) WITHOUT ROWID");
    execute(
        "CREATE TABLE series_value (series, build, run, screened, value, wait_share, "
        "PRIMARY KEY (series, build, run)) WITHOUT ROWID");
    run_ = prepare("INSERT INTO run VALUES (NULL, ?, ?, ?, ?, 'measured', '', ?, ?, ?, ?, ?, ?)");
    sample_ = prepare("INSERT INTO sample VALUES (?, ?, ?)");
    value_ = prepare("INSERT INTO series_value VALUES (?, ?, ?, 1, ?, ?)");
  }
  ~Bare() {
    for (sqlite3_stmt* statement : {run_, sample_, value_}) sqlite3_finalize(statement);
    sqlite3_close(connection_);
  }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;

  void store(const SessionResult& session) {
    execute("BEGIN");
    ++jobs_;
    for (const RunResult& run : session.runs) insert(run);
    execute("COMMIT");
  }

 private:
  void insert(const RunResult& run) {
    const int build = run.order % 2, workload = run.order / 2 % kWorkloads;
    int column = 0;
    for (const int value : {jobs_, run.order, build, workload})
      sqlite3_bind_int64(run_, ++column, value);
    sqlite3_bind_double(run_, ++column, *run.checksum);
    sqlite3_bind_int64(run_, ++column, run.warmup_iterations);
    sqlite3_bind_int64(run_, ++column, to_us(run.started_at));
    sqlite3_bind_double(run_, ++column, run.seconds);
    bind(run_, ++column, run.cpu_seconds);
    bind(run_, ++column, run.wait_seconds);
    step(run_);
    const auto id = sqlite3_last_insert_rowid(connection_);
    int series = workload * 4;
    for (const auto& [metric, samples] : run.samples) {
      sqlite3_bind_int64(sample_, 1, id);
      sqlite3_bind_text(sample_, 2, metric.data(), static_cast<int>(metric.size()), SQLITE_STATIC);
      bind(sample_, 3, samples);
      step(sample_);
      sqlite3_bind_int64(value_, 1, ++series);
      sqlite3_bind_int64(value_, 2, build);
      sqlite3_bind_int64(value_, 3, id);
      sqlite3_bind_double(value_, 4, samples[0]);
      sqlite3_bind_double(value_, 5, run.wait_seconds[0]);
      step(value_);
    }
  }
  static void bind(sqlite3_stmt* statement, int column, const std::vector<double>& values) {
    sqlite3_bind_blob(statement, column, values.data(),
                      static_cast<int>(values.size() * sizeof(double)), SQLITE_STATIC);
  }
  void step(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) check(SQLITE_ERROR);
    sqlite3_reset(statement);
  }
  void execute(const char* sql) {
    check(sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr));
  }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(connection_, sql, -1, &statement, nullptr));
    return statement;
  }
  void check(int code) {
    if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(connection_));
  }

  sqlite3* connection_ = nullptr;
  sqlite3_stmt *run_ = nullptr, *sample_ = nullptr, *value_ = nullptr;
  int jobs_ = 0;
};

// Runs per second of a repeat.
template <class Store>
double rate_of(Store store) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kSessions; ++i) store(i);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  return kSessions * kRuns / taken.count();
}

int measure(const std::filesystem::path& folder) {
  const SessionResult session = test::made_session(kRuns, kIterations);
  Ours ours(folder / "ours.db");
  Bare bare(folder / "bare.db");
  std::vector<double> our_rates, bare_rates, ratios;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    std::vector<JobId> jobs;
    for (int i = 0; i < kSessions; ++i) jobs.push_back(ours.claim());
    our_rates.push_back(
        rate_of([&](int i) { ours.store(jobs[static_cast<std::size_t>(i)], session); }));
    bare_rates.push_back(rate_of([&](int) { bare.store(session); }));
    ratios.push_back(our_rates.back() / bare_rates.back());
  }
  const double ratio = median(ratios);
  std::printf("ingest | %.0f runs/s | %.0f runs/s bare SQLite | %.2f | >= %.2f\n",
              median(our_rates), median(bare_rates), ratio, kBound);
  return ratio >= kBound ? 0 : 1;
}

}  // namespace

int main() {
  std::string name = (std::filesystem::temp_directory_path() / "nightjar-bench-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  int code = 3;
  try {
    code = measure(folder);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ingest: %s\n", error.what());
  }
  std::filesystem::remove_all(folder);
  return code;
}
