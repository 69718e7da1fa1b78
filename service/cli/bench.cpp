#include "service/cli/bench.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "runner/process/failure.hpp"
#include "service/cli/failure.hpp"
#include "storage/base/foreign_text.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

constexpr int exit_untestable = 125;  // as git bisect run has it

Measurement lost(const std::string& why, bool is_broken = false) {
  return {{}, {}, one_line(why), is_broken, {}};
}

Measurement numbers_in(Measured measured) {
  if (!measured.problem.empty()) return lost(measured.problem, true);
  return {std::move(measured.values)};
}

Measured values_of(const Ran& ran, const BisectOptions& options, const fs::path& folder) {
  if (!ran.counted) return measured_values(options.source, folder, ran.output);
  if (!ran.counted->problem.empty()) return {{}, ran.counted->problem};
  const std::string what = "instructions";
  return {{{what, what, Direction::lower_is_better, ran.counted->value, ""}}, ""};
}

Measurement measurement_of(const Ran& ran, const BisectOptions& options, const fs::path& folder,
                           const std::string& missing) {
  const auto& process = ran.process;
  if (process.stopped) throw runner::Stopped();
  if (process.exit_code == exit_untestable)
    return lost("says that it is untestable (exit code 125)");
  if (!process.flooded.empty()) return lost("prints too much output");
  // What this machine could not start, or had no memory for, is no failure of the commit.
  if (seeks_failures(options) && (!process.start_error.empty() || process.out_of_memory))
    return lost(process.describe());
  if (seeks_failures(options))
    return {{{"", "", Direction::lower_is_better, process.fine() ? 0.0 : 1.0, ""}}};
  if (process.timed_out) return lost(process.describe());
  if (process.fine()) return numbers_in(values_of(ran, options, folder));
  const bool is_missing =
      process.exit_code == 127 || process.output.find("No such file") != std::string::npos;
  Measurement broken = lost(process.describe(), true);
  broken.advice = "; " + (is_missing ? missing : "exit code 125 says that it cannot be tested");
  return broken;
}

}  // namespace

Measurement measure_once(const BisectOptions& options, const WorkPlace& work,
                         const std::string& missing, std::stop_token stop) {
  const Ran ran = options.counter ? run_counted(*options.counter, options.measure, work,
                                                options.timeout_seconds, std::move(stop))
                                  : run_command(options.measure, work, options.timeout_seconds,
                                                std::move(stop));
  return measurement_of(ran, options, work.folder, missing);
}

TemporaryFolder::TemporaryFolder(const std::string& wanted_for) {
  const char* named = std::getenv("TMPDIR");
  const fs::path place = fs::absolute(named && *named ? named : "/tmp").lexically_normal();
  std::string path = (place / "nightjar-bisect-XXXXXX").string();
  if (!::mkdtemp(path.data()))
    throw Broken("cannot make a folder in " + place.string() + " for " + wanted_for + ": " +
                 std::strerror(errno) + "; TMPDIR names another place");
  path_ = fs::canonical(path);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string short_name(const std::string& position) {
  constexpr std::size_t sha1_size = 40, sha256_size = 64, most_shown = 12;
  const bool is_id = position.size() == sha1_size || position.size() == sha256_size;
  return is_id && position.find_first_not_of("0123456789abcdef") == std::string::npos
             ? position.substr(0, most_shown)
             : position;
}

}  // namespace nightjar::cli
