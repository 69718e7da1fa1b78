// `nightjar-runner build`: the wheel of one commit, by hand.
#include <cmath>

#include "runner/build/python.hpp"
#include "runner/cli/commands.hpp"
#include "runner/machine/lock.hpp"
#include "runner/make/make_wheel.hpp"
#include "runner/process/failure.hpp"
#include "runner/process/stop_on_signal.hpp"
#include "storage/base/child.hpp"
#include "storage/base/terminal.hpp"
#include "storage/model/json.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

// A folder is meant from here; the build runs elsewhere.
std::string repository_of(const Options& options) {
  std::error_code error;
  const fs::path folder = fs::absolute(options.repository);
  if (fs::is_directory(folder, error)) return folder.lexically_normal().string();
  if (options.repository.find(':') == std::string::npos)
    throw WrongUse("--repo " + options.repository + " is neither a folder nor an address");
  return options.repository;
}

nlohmann::ordered_json json_of(const MadeWheel& made) {
  const auto counts = [](const CacheCounts& of) {
    return nlohmann::ordered_json{{"hits", of.hits}, {"misses", of.misses}};
  };
  const SourceResult& result = made.result;
  nlohmann::ordered_json out{{"commit", made.commit.str()},
                             {"outcome", std::string(name_of(result.outcome))},
                             {"reason", result.reason},
                             {"wheel", made.wheel.string()},
                             {"sha256", result.sha256 ? result.sha256->str() : ""},
                             {"seconds", result.seconds},
                             {"compile_seconds", result.compile_seconds},
                             {"attempts", result.attempts},
                             {"warm", result.warm},
                             {"made_before", made.made_before},
                             {"log", made.log.string()}};
  out["cache"] = {{"program", result.cache.program},
                  {"cxx", counts(result.cache.cxx)},
                  {"cuda", counts(result.cache.cuda)}};
  return out;
}

void print(const MadeWheel& made) {
  const SourceResult& result = made.result;
  const auto rate = [](const CacheCounts& of) {
    return std::to_string(of.hits) + " of " + std::to_string(of.hits + of.misses);
  };
  say(stdout, "%s: %s%s%s\n", made.commit.brief().c_str(),
      std::string(name_of(result.outcome)).c_str(), result.reason.empty() ? "" : ": ",
      result.reason.c_str());
  if (!made.wheel.empty()) say(stdout, "wheel    %s\n", made.wheel.c_str());
  say(stdout, "log      %s\n", made.log.c_str());
  if (made.made_before) return;
  say(stdout, "seconds  %lld, of which the commands %lld\n", std::llround(result.seconds),
      std::llround(result.compile_seconds));
  if (!result.cache.program.empty())
    say(stdout, "cached   C++ %s, CUDA %s (%s)\n", rate(result.cache.cxx).c_str(),
        rate(result.cache.cuda).c_str(), result.cache.program.c_str());
}

int exit_code_of(SourceOutcome outcome) {
  switch (outcome) {
    case SourceOutcome::built:
      return 0;
    case SourceOutcome::does_not_compile:
    case SourceOutcome::does_not_import:
      return 1;
    case SourceOutcome::infrastructure:
      break;
  }
  return 3;
}

}  // namespace

fs::path builder_python(const Options& options) {
  const fs::path found = find_program(default_python(options.python).string());
  std::error_code error;
  if (!found.is_absolute() || !fs::exists(found, error))
    throw WrongUse("--python " + options.python.string() + ": there is no such program");
  return found;
}

int run_build(const Options& options) {
  const StopOnSignal stop;
  MakeWheel order{
      .recipe = read_recipe(options.recipe),
      .repository = repository_of(options),
      .revision = options.revision,
      .work = options.work.empty() ? cache_folder(options.cache) / "builder"
                                   : fs::absolute(options.work),
      .out = {},
      .python = builder_python(options),
      .say = [](const std::string& progress) { put_text(stderr, shown_lines(progress) + "\n"); }};
  order.out = options.out.empty() ? order.work / "wheels" : fs::absolute(options.out);
  const auto lock = lock_this_machine("builds " + options.revision, stop.token());
  const MadeWheel made = make_wheel(order, stop.token());
  if (options.json)
    put_text(stdout, json_of(made).dump(2) + "\n");
  else
    print(made);
  return exit_code_of(made.result.outcome);
}

}  // namespace nightjar::runner
