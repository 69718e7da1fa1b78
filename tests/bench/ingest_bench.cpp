// Runs stored per second: store_result against SQLite's bare batch insert of the same rows (the
// same columns and bytes, prepared statements, one transaction a session, synced alike, but no
// foreign keys, checks, secondary indexes, medians or job state). Then claims per CPU second:
// claim_job against the bare SELECT and UPDATE of a queue's first row, before the commit, so that
// no disk hides them. Both in turn, several times; medians count. `ingest_bench [--ratio]`: the
// short form counts CPU seconds only, which neither a busy disk nor other programs change.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <sqlite3.h>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include "bisect/statistics.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/model/json.hpp"
#include "storage/nights.hpp"
#include "storage/runners.hpp"
#include "storage/sessions.hpp"
#include "tests/bench/made_session.hpp"
#include "tests/bench/ratio.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using nightjar::bisect::median;

namespace {

// How often the two take turns, and the sessions of a turn.
struct Size {
  int turns, sessions;
};

constexpr Size long_size{9, 60}, short_size{5, 25};
constexpr int runs_a_session = 100;  // a session
constexpr int iterations = 30;
constexpr int workload_count = 4;
constexpr double bound = 0.5;

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
    for (int i = 0; i < workload_count; ++i) {
      const auto name = "python/m" + std::to_string(i) + "/eval/cpu/fp32/b4/eager";
      spec_.workloads.push_back(intern_workload(Autocommit(db_), *WorkloadName::parse(name), 1));
      runner.workloads.add(name + "@1");
    }
    for (int i = 0; i < runs_a_session; ++i) spec_.order.push_back({i % 2, i / 2 % workload_count});
    runner_ = register_runner(Autocommit(db_), runner);
    night_ = add_night(Autocommit(db_), {}).id;
  }

  // Each claim takes one of these.
  void queue(int jobs) {
    Autocommit transaction(db_);
    Job job;
    job.night = night_;
    job.machine = machine_;
    job.spec = spec_;
    for (int i = 0; i < jobs; ++i) {
      job.key = std::to_string(++jobs_);
      add_job(transaction, job);
    }
  }
  // Returns the CPU seconds that it took.
  double claim(int jobs, std::vector<JobId>& claimed) {
    Autocommit transaction(db_);
    return test::cpu_seconds_of([&] {
      for (int i = 0; i < jobs; ++i)
        claimed.push_back(
            claim_job(transaction, runner_, Time{}, Time{} + std::chrono::hours(1))->id);
    });
  }
  std::string spec() const { return nlohmann::json(spec_).dump(); }
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
    execute(
        "CREATE TABLE job (id INTEGER PRIMARY KEY, machine, state, priority, attempt, runner, "
        "lease_until_us, spec)");
    execute("CREATE INDEX job_to_claim ON job (machine, priority DESC, id) WHERE state = 'queued'");
    queue_ = prepare("INSERT INTO job VALUES (NULL, 1, 'queued', 0, 0, NULL, NULL, ?)");
    find_ = prepare(
        "SELECT id, spec FROM job WHERE state = 'queued' AND machine = 1 "
        "ORDER BY priority DESC, id LIMIT 1");
    lease_ = prepare(
        "UPDATE job SET state = 'leased', attempt = attempt + 1, runner = 1, "
        "lease_until_us = 3600000000 WHERE id = ?");
    run_ = prepare("INSERT INTO run VALUES (NULL, ?, ?, ?, ?, 'measured', '', ?, ?, ?, ?, ?, ?)");
    sample_ = prepare("INSERT INTO sample VALUES (?, ?, ?)");
    value_ = prepare("INSERT INTO series_value VALUES (?, ?, ?, 1, ?, ?)");
  }
  ~Bare() {
    for (sqlite3_stmt* statement : {run_, sample_, value_, queue_, find_, lease_})
      sqlite3_finalize(statement);
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
  void queue(int jobs, const std::string& spec) {
    execute("BEGIN");
    sqlite3_bind_text(queue_, 1, spec.data(), static_cast<int>(spec.size()), SQLITE_STATIC);
    for (int i = 0; i < jobs; ++i) step(queue_);
    execute("COMMIT");
  }
  // Returns the CPU seconds that it took.
  double claim(int jobs) {
    execute("BEGIN IMMEDIATE");
    const double seconds = test::cpu_seconds_of([&] {
      for (int i = 0; i < jobs; ++i) {
        if (sqlite3_step(find_) != SQLITE_ROW) check(SQLITE_ERROR);
        const auto id = sqlite3_column_int64(find_, 0);
        read_ += static_cast<std::size_t>(sqlite3_column_bytes(find_, 1));
        sqlite3_reset(find_);
        sqlite3_bind_int64(lease_, 1, id);
        step(lease_);
      }
    });
    execute("COMMIT");
    return seconds;
  }

 private:
  void insert(const RunResult& run) {
    const int build = run.order % 2, workload = run.order / 2 % workload_count;
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
  sqlite3_stmt *queue_ = nullptr, *find_ = nullptr, *lease_ = nullptr;
  int jobs_ = 0;
  std::size_t read_ = 0;  // bytes of specs
};

double wall_seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// One side's rates per second, one a repeat.
struct Rates {
  int sessions;
  std::vector<double> stored = {}, claimed = {};

  void add(double claim_seconds, double store_seconds) {
    claimed.push_back(sessions / claim_seconds);
    stored.push_back(sessions * runs_a_session / store_seconds);
  }
};

double median_ratio(const std::vector<double>& ours, const std::vector<double>& bare) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / bare[i]);
  return median(ratios);
}

int measure(const std::filesystem::path& folder, bool only_ratio) {
  const SessionResult session = test::made_session(runs_a_session, iterations);
  Ours ours(folder / "ours.db");
  Bare bare(folder / "bare.db");
  const Size size = only_ratio ? short_size : long_size;
  const auto seconds_of = only_ratio ? test::cpu_seconds_of : wall_seconds_of;
  Rates our_rates{size.sessions}, bare_rates{size.sessions};
  for (int repeat = 0; repeat < size.turns; ++repeat) {
    ours.queue(size.sessions);
    bare.queue(size.sessions, ours.spec());
    std::vector<JobId> jobs;
    const double claim_seconds = ours.claim(size.sessions, jobs),
                 bare_claim_seconds = bare.claim(size.sessions);
    our_rates.add(claim_seconds, seconds_of([&] {
                    for (const JobId job : jobs) ours.store(job, session);
                  }));
    bare_rates.add(bare_claim_seconds, seconds_of([&] {
                     for (int i = 0; i < size.sessions; ++i) bare.store(session);
                   }));
  }
  const double ratio = median_ratio(our_rates.stored, bare_rates.stored);
  const double claims = median_ratio(our_rates.claimed, bare_rates.claimed);
  if (only_ratio) {
    test::print_ratio("ingest", ratio);
    test::print_ratio("claim", claims);
    return 0;
  }
  std::printf("ingest | %.0f runs/s | %.0f runs/s bare SQLite | %.2f | >= %.2f\n",
              median(our_rates.stored), median(bare_rates.stored), ratio, bound);
  std::printf("claim | %.0f jobs/s | %.0f jobs/s bare SQLite | %.2f |\n", median(our_rates.claimed),
              median(bare_rates.claimed), claims);
  return ratio >= bound ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  std::string name = (std::filesystem::temp_directory_path() / "nightjar-bench-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  int code = 3;
  try {
    code = measure(folder, test::wants_ratio(count, arguments));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ingest: %s\n", error.what());
  }
  std::filesystem::remove_all(folder);
  return code;
}
