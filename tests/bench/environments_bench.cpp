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
#include <map>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include "runner/build/environments.hpp"
#include "runner/build/python.hpp"
#include "runner/catalog/source_tree.hpp"
#include "runner/process/process.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"
#include "tests/runner/file_server.hpp"

using namespace nightjar;
using namespace nightjar::runner;
namespace fs = std::filesystem;

namespace {

constexpr int kRounds = 3;

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

void run(std::vector<std::string> command, std::map<std::string, std::string> environment) {
  ProcessSpec spec;
  spec.command = std::move(command);
  spec.environment = clean_environment("/tmp");
  spec.environment.merge(environment);
  spec.folder = "/";
  spec.timeout_seconds = 600;
  const std::string name = spec.command.front();
  const ProcessResult result = run_process(spec, {});
  if (!result.fine()) throw std::runtime_error(name + " " + result.describe());
}

struct Times {
  const char* name;
  std::vector<double> cold, warm;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Bench {
  fs::path python, wheel, folder;
  std::string address;
  Sha256 sha256;

  void ours(const fs::path& cache) const {
    EnvironmentsConfig config;
    config.cache = cache;
    config.python = python;
    const EnvironmentSpec spec{.build = BuildId{1},
                               .wheel_url = address,
                               .wheel_file = wheel.filename(),
                               .wheel_sha256 = sha256,
                               .overlay = {},
                               .version = "",
                               .git_version = ""};
    const Environment made = Environments(config).make(spec, {});
    if (!made.broken.empty()) throw std::runtime_error(made.broken);
  }

  void import(const fs::path& target) const {
    run({python, "-c", "import torch"}, {{"PYTHONPATH", target}});
  }

  void uv(const fs::path& cache, const fs::path& target, bool compile) const {
    std::vector<std::string> command = {uv_program(), "pip",  "install",  "--quiet", "--no-deps",
                                        "--target",   target, "--python", python,    address};
    if (compile) command.push_back("--compile-bytecode");
    run(command, {{"UV_CACHE_DIR", cache}});
    import(target);
  }

  void pip(const fs::path& cache, const fs::path& target) const {
    run({python, "-m", "pip", "install", "--quiet", "--no-deps", "--cache-dir", cache, "--target",
         target, address},
        {{"PIP_DISABLE_PIP_VERSION_CHECK", "1"}});
    import(target);
  }

  // Each in a folder of its own; `warm` is a second target of the same cache.
  void round(std::vector<Times>& times) const {
    const TemporaryFolder place(folder);
    const auto at = [&](const char* name) { return place.path() / name; };
    times[0].cold.push_back(seconds_of([&] { ours(at("ours")); }));
    times[0].warm.push_back(seconds_of([&] { ours(at("ours")); }));
    fs::remove_all(at("ours"));
    for (const bool compile : {true, false}) {
      auto& row = times[compile ? 1 : 2];
      row.cold.push_back(seconds_of([&] { uv(at("uv"), at("uv-1"), compile); }));
      row.warm.push_back(seconds_of([&] { uv(at("uv"), at("uv-2"), compile); }));
      for (const char* name : {"uv", "uv-1", "uv-2"}) fs::remove_all(at(name));
    }
    times[3].cold.push_back(seconds_of([&] { pip(at("pip"), at("pip-1")); }));
    times[3].warm.push_back(seconds_of([&] { pip(at("pip"), at("pip-2")); }));
  }
};

}  // namespace

int main(int argc, char** argv) try {
  const TemporaryFolder served("/tmp");  // where the server looks
  const fs::path kept = the_wheel(argc, argv), wheel = served.path() / kept.filename();
  fs::copy_file(kept, wheel);
  const Bench bench{default_python({}), wheel, served.path(), FileServer::shared().url_of(wheel),
                    digest_of_file(wheel)};
  std::vector<Times> times = {
      {"this runner", {}, {}}, {"uv, byte code compiled", {}, {}}, {"uv", {}, {}}, {"pip", {}, {}}};
  for (int round = 0; round < kRounds; ++round) {
    bench.round(times);
    std::fprintf(stderr, "round %d of %d:", round + 1, kRounds);
    for (const auto& row : times)
      std::fprintf(stderr, " %s %.1f and %.1f;", row.name, row.cold.back(), row.warm.back());
    std::fprintf(stderr, "\n");
  }
  std::printf("%-24s %8s %16s %8s %16s\n", "seconds", "cold", "(lowest-highest)", "warm",
              "(lowest-highest)");
  for (const auto& row : times) {
    const auto cold = std::ranges::minmax(row.cold), warm = std::ranges::minmax(row.warm);
    std::printf("%-24s %8.2f %8.2f-%-7.2f %8.2f %8.2f-%-7.2f\n", row.name, median(row.cold),
                cold.min, cold.max, median(row.warm), warm.min, warm.max);
  }
  const bool held = median(times[0].cold) <= median(times[1].cold) &&
                    median(times[0].warm) <= median(times[1].warm);
  std::printf("%s: this runner takes at most the time of uv\n", held ? "held" : "NOT HELD");
  return held ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "environments_bench: %s\n", error.what());
  return 2;
}
