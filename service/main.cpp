// nightjard: the service.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <malloc.h>
#include <optional>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>

#include "service/config_check.hpp"
#include "service/daemon.hpp"
#include "service/local_runner.hpp"
#include "storage/base/log.hpp"
#include "storage/base/terminal.hpp"
#include "storage/database.hpp"
#include "storage/restore.hpp"
#include "web/credentials.hpp"

namespace {
using namespace nightjar;

struct Options {
  std::filesystem::path config, backup, restore, commands;
  bool check = false, offline = false, local_runner = false, verbose = false;
};

std::filesystem::path beside_this_program(const char* name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

int back_up(const service::Config& config, const std::filesystem::path& to) {
  const auto folder = to.has_parent_path() ? to.parent_path() : std::filesystem::path(".");
  if (std::filesystem::exists(to) || !std::filesystem::is_directory(folder)) {
    say(stderr, "nightjard: cannot back up to %s: name a new file in a folder that is there\n",
        to.c_str());
    return 2;
  }
  storage::Database::open_reader(service::database_file(config)).backup(to);
  say(stdout, "backed up %s to %s\n", service::database_file(config).c_str(), to.c_str());
  return 0;
}

int restore(const service::Config& config, const std::filesystem::path& copy) {
  const FileLock lock = service::lock_data(config);
  const auto database = service::database_file(config);
  const auto kept = storage::restore(copy, database, SystemClock().now());
  say(stdout, "restored %s from %s\n", database.c_str(), copy.c_str());
  if (kept) say(stdout, "the database that was there is %s now\n", kept->c_str());
  return 0;
}

// The server may hold nine hundred connections, each with a file; many systems let a program begin
// with 1,024 descriptors. Where no more are allowed, silent connections are given up for new ones.
void allow_descriptors() {
  constexpr rlim_t wanted = 4096;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, wanted));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Nobody else of this machine reads what this program writes: tokens' hashes, the secret of issues'
// markers, what was measured.
void keep_files_from_others() {
  ::umask(::umask(0) | 027);
}

void warn_of_unbound_tokens(const service::Config& config) {
  if (const auto warning = service::unbound_runner_tokens(config)) log::warn("{}", *warning);
}

// 1: something that it names cannot be used now.
int check(const service::Config& config, const Options& options) {
  warn_of_unbound_tokens(config);
  const auto problems =
      options.offline ? std::vector<std::string>() : service::check_surroundings(config);
  for (const std::string& problem : problems) say(stderr, "nightjard: %s\n", problem.c_str());
  say(stdout, "%s is a valid configuration%s\n", options.config.c_str(),
      problems.empty() ? "" : ", but not all that it names can be used");
  return problems.empty() ? 0 : 1;
}

int serve(const service::Config& config, const Options& options) {
  allow_descriptors();
  service::Daemon daemon(config);
  warn_of_unbound_tokens(config);  // a start that fails says why, and nothing else
  std::optional<service::LocalRunner> runner;
  if (options.local_runner)
    runner.emplace(beside_this_program("nightjar-runner"),
                   "http://127.0.0.1:" + std::to_string(daemon.port()), daemon.local_runner_token(),
                   config.service.data / "local-runner",
                   service::local_runner_options(config, options.commands));
  daemon.run();
  return 0;
}

int run(const Options& options) {
  service::Config config;
  try {
    config = service::load_config(options.config);
  } catch (const std::exception& error) {
    std::istringstream problems(error.what());
    for (std::string problem; std::getline(problems, problem);)
      say(stderr, "nightjard: %s\n", problem.c_str());
    return 2;
  }
  for (const std::string& warning : service::exposed_secrets(config)) log::warn("{}", warning);
  if (const auto& file = config.service.credentials_file; !file.empty())
    web::set_credentials(web::Credentials::read(file));
  if (options.check) return check(config, options);
  if (!options.backup.empty()) return back_up(config, options.backup);
  if (!options.restore.empty()) return restore(config, options.restore);
  return serve(config, options);
}

}  // namespace

int main(int argc, char** argv) {
  // glibc raises this limit with each large block that is freed. Bodies would then fragment the
  // heap, which keeps what they held.
  ::mallopt(M_MMAP_THRESHOLD, 64 << 10);
  keep_files_from_others();
  nightjar::log::start("nightjard", nightjar::log::Style::coloured);
  Options options;
  CLI::App app{"Watches PyTorch nightlies for performance regressions.", "nightjard"};
  app.add_option("--config", options.config, "Configuration file (TOML); see deploy/nightjar.toml")
      ->required();
  auto* check = app.add_flag("--check-config", options.check,
                             "Check the configuration and what it names: folders, repository, "
                             "indexes; and end");
  app.add_flag("--offline", options.offline, "With --check-config: look at the file only")
      ->needs(check);
  auto* local =
      app.add_flag("--local-runner", options.local_runner, "Start an agent on this machine, too");
  app.add_option("--commands", options.commands,
                 "With --local-runner: TOML file of commands of your own that are workloads")
      ->check(CLI::ExistingFile)
      ->needs(local);
  auto* backup =
      app.add_option("--backup", options.backup,
                     "Copy the database to this file while the service may be running, and end");
  app.add_option(
         "--restore", options.restore,
         "Check this backup and put it in place of the database, which is kept under another "
         "name, and end; the service must not be running")
      ->excludes(backup);
  app.add_flag("--verbose", options.verbose, "Log more");
  app.set_version_flag("--version", "nightjard " NIGHTJAR_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (options.verbose) nightjar::log::only(nightjar::log::Level::debug);
  try {
    return run(options);
  } catch (const std::exception& error) {
    say_trouble("nightjard", error.what());
    return 3;
  }
}
