// Seconds from a wheel's address to a PyTorch that was imported once: this runner, `uv pip install`
// and `pip install`, in turn, from one server on the loopback. Cold: nothing is cached. Warm: the
// same build was had before, by the same cache. Medians count.
//
//   environments_bench [WHEEL]     (the one in .cache/wheels)
//
// All three compile the byte code, so that no measured run has to; `uv` does it only on request,
// and its time without is beside it. Only this runner compares each file's hash with the wheel's
// RECORD and waits for the disk.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include "bisect/statistics.hpp"
#include "runner/build/environments.hpp"
#include "runner/build/python.hpp"
#include "runner/catalog/source_tree.hpp"
#include "runner/process/process.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"
#include "storage/base/log.hpp"
#include "tests/runner/file_server.hpp"

using namespace nightjar;
using namespace nightjar::runner;
using nightjar::bisect::median;
namespace fs = std::filesystem;

namespace {

constexpr int rounds = 3;

fs::path the_wheel(int argc, char** argv) {
  if (argc > 1) return fs::absolute(argv[1]);
  for (const auto& entry : fs::directory_iterator(source_tree() / ".cache/wheels"))
    if (entry.path().extension() == ".whl") return entry.path();
  throw std::runtime_error("there is no wheel in .cache/wheels; name one");
}

// The one of the tests' tools.
std::string uv_program() {
  return source_tree() / ".cache/tools/bin/uv";
}

double seconds_of(const std::function<void()>& work) {
  ::sync();  // nobody pays for what another wrote
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Wheel {
  fs::path python, file;
  std::string address;
  Sha256 sha256;
};

// Makes an environment of the wheel in `target`, with what `cache` has kept of earlier ones.
using Install =
    std::function<void(const Wheel& wheel, const fs::path& cache, const fs::path& target)>;

void ours(const Wheel& wheel, const fs::path& cache, const fs::path&) {
  EnvironmentsConfig config;
  config.cache = cache;
  config.python = wheel.python;
  config.rights = Unconfined("a bench");
  const EnvironmentSpec spec{.build = BuildId{1},
                             .wheel_url = wheel.address,
                             .wheel_file = wheel.file.filename(),
                             .wheel_sha256 = wheel.sha256,
                             .overlay = {},
                             .version = "",
                             .git_version = ""};
  const Environment made = Environments(config).make(spec, {});
  if (!made.broken.empty()) throw std::runtime_error(made.broken);
}

// Runs an installer, and imports what it made as this runner does.
void theirs(const Wheel& wheel, const fs::path& target, std::vector<std::string> command,
            const std::vector<std::string>& arguments) {
  command.insert(command.end(), {"install", "--quiet", "--no-deps", "--target", target});
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.push_back(wheel.address);
  ProcessSpec spec;
  spec.command = std::move(command);
  spec.environment = clean_environment("/tmp");
  spec.folder = "/";
  spec.timeout_seconds = 600;
  const ProcessResult result = run_trusted(spec);
  if (!result.fine()) throw std::runtime_error(spec.command.front() + " " + result.describe());
  const std::string broken =
      check_import(wheel.python, target, {target, "", ""}, Unconfined("a bench"), {}).broken;
  if (!broken.empty()) throw std::runtime_error(broken);
}

void uv(const Wheel& wheel, const fs::path& cache, const fs::path& target) {
  theirs(wheel, target, {uv_program(), "pip"}, {"--cache-dir", cache, "--python", wheel.python});
}

void uv_compiling(const Wheel& wheel, const fs::path& cache, const fs::path& target) {
  theirs(wheel, target, {uv_program(), "pip"},
         {"--cache-dir", cache, "--python", wheel.python, "--compile-bytecode"});
}

void pip(const Wheel& wheel, const fs::path& cache, const fs::path& target) {
  theirs(wheel, target, {wheel.python, "-m", "pip"},
         {"--cache-dir", cache, "--disable-pip-version-check"});
}

struct Row {
  const char* name;
  Install install;
  std::vector<double> cold = {}, warm = {};
};

// Cold, and then warm into a second target of the same cache.
void measure(Row& row, const Wheel& wheel, const fs::path& folder) {
  const TemporaryFolder place(folder);
  for (auto* times : {&row.cold, &row.warm}) {
    const fs::path target = place.path() / (times == &row.cold ? "cold" : "warm");
    times->push_back(seconds_of([&] { row.install(wheel, place.path() / "cache", target); }));
  }
  std::fprintf(stderr, " %s %.1f and %.1f;", row.name, row.cold.back(), row.warm.back());
}

}  // namespace

int main(int argc, char** argv) try {
  nightjar::log::only(nightjar::log::Level::warn);
  const TemporaryFolder served("/tmp");  // where the server looks
  const fs::path kept = the_wheel(argc, argv), file = served.path() / kept.filename();
  fs::copy_file(kept, file);
  const Wheel wheel{default_python({}), file, FileServer::shared().url_of(file),
                    digest_of_file(file)};
  std::vector<Row> rows = {
      {"this runner", ours}, {"uv, byte code compiled", uv_compiling}, {"uv", uv}, {"pip", pip}};
  for (int round = 1; round <= rounds; ++round) {
    std::fprintf(stderr, "round %d of %d:", round, rounds);
    for (Row& row : rows) measure(row, wheel, served.path());
    std::fprintf(stderr, "\n");
  }
  std::printf("%-24s %8s %16s %8s %16s\n", "seconds", "cold", "(lowest-highest)", "warm",
              "(lowest-highest)");
  for (const Row& row : rows) {
    const auto cold = std::ranges::minmax(row.cold), warm = std::ranges::minmax(row.warm);
    std::printf("%-24s %8.2f %8.2f-%-7.2f %8.2f %8.2f-%-7.2f\n", row.name, median(row.cold),
                cold.min, cold.max, median(row.warm), warm.min, warm.max);
  }
  const Row &mine = rows[0], &rival = rows[1];
  const bool held =
      median(mine.cold) <= median(rival.cold) && median(mine.warm) <= median(rival.warm);
  std::printf("%s: this runner takes at most the time of uv\n", held ? "held" : "NOT HELD");
  return held ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "environments_bench: %s\n", error.what());
  return 2;
}
