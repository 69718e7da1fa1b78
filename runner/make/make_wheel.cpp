#include "runner/make/make_wheel.hpp"

#include <chrono>
#include <ctime>
#include <optional>
#include <system_error>

#include "runner/make/build_failure.hpp"
#include "runner/make/compiler_cache.hpp"
#include "runner/make/place.hpp"
#include "runner/make/wheel_check.hpp"
#include "runner/make/work_tree.hpp"
#include "runner/process/cpu_quota.hpp"
#include "runner/process/failure.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/file_lock.hpp"
#include "storage/base/files.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {
constexpr int most_processes = 8192;
constexpr int engine_failed = 125;  // podman's and docker's exit code for a failure of their own

FileLock lock_work(const fs::path& work) {
  try {
    return lock_folder(work, "lock", "give each builder a folder of its own (--work)");
  } catch (const std::runtime_error& error) {
    throw WrongUse(error.what());
  }
}

fs::path tree_folder(const MakeWheel& order) {
  return order.work / "trees" / (digest_of(order.repository).brief() + "-" + order.recipe.name);
}

void write_python_wrappers(const fs::path& folder, const fs::path& python) {
  fs::create_directories(folder);
  for (const char* name : {"python", "python3"})
    write_durably(folder / name, "#!/bin/sh\nexec '" + python.string() + "' \"$@\"\n", 0755);
}

std::string day_of(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y%m%d", &utc);
  return text;
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// One shell for all, so that a command sees what the one before it exported.
std::string script_of(const Recipe& recipe) {
  std::string script = "set -e\n";
  for (const auto& command : recipe.commands)
    script += "printf '+ %s\\n' " + quoted(command) + "\n" + command + "\n";
  return script;
}

double seconds_between(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A verdict on one attempt; `wheel` lies in the work tree.
struct Attempt {
  SourceOutcome outcome = SourceOutcome::infrastructure;
  std::string reason;
  fs::path wheel;
};

class Maker {
 public:
  Maker(const MakeWheel& order, std::stop_token stop)
      : order_(order),
        recipe_(order.recipe),
        stop_(std::move(stop)),
        tree_(tree_folder(order), order.repository, order.say),
        state_(tree_folder(order) / "state.json"),
        home_(order.work / "home"),
        temporary_(order.work / "tmp") {
    fs::create_directories(home_);
  }

  MadeWheel make() {
    tree_.repair();
    MadeWheel made{find_commit(), {}, {}, {}};
    folder_ = result_folder(order_.out, made.commit, recipe_);
    if (auto before = made_before(made.commit)) return *std::move(before);
    fs::create_directories(folder_);
    fs::remove(folder_ / "result.json");
    log_ = made.log = folder_ / "build.log";
    const Attempt last = attempts(made.commit, made.result);
    made.result.outcome = last.outcome;
    made.result.reason = last.reason;
    if (last.outcome == SourceOutcome::built) {
      keep_wheel(last.wheel, made);
      write_durably(proof(), "");
    }
    made.result.seconds = seconds_between(start_);
    write_durably(folder_ / "result.json", nlohmann::json(made.result).dump(2) + "\n");
    return made;
  }

 private:
  // There once this recipe has built something here.
  fs::path proof() const { return state_.parent_path() / ("built-" + recipe_.sha256.brief()); }

  // A full hash is a commit even where its repository is away: then the build fails for that.
  CommitSha find_commit() {
    const auto exact = CommitSha::parse(order_.revision);
    try {
      return tree_.resolve(order_.revision, stop_);
    } catch (const TransientFailure& failure) {
      if (!exact) throw;
      unreadable_ = failure.what();
      return *exact;
    }
  }

  std::optional<MadeWheel> made_before(const CommitSha& commit) const {
    const auto text = read_file(folder_ / "result.json");
    if (!text) return std::nullopt;
    try {
      MadeWheel made{commit, parse_foreign_or_throw(*text).get<SourceResult>(), {}, {}};
      if (made.result.outcome != SourceOutcome::built) return std::nullopt;
      made.wheel = folder_ / made.result.wheel_file;
      made.log = folder_ / "build.log";
      made.made_before = true;
      if (digest_of_file(made.wheel) == made.result.sha256) return made;
      order_.say(made.wheel.string() + " is damaged; building it again");
    } catch (const std::exception& error) {
      order_.say("cannot use the result of before: " + std::string(error.what()));
    }
    return std::nullopt;
  }

  Attempt attempts(const CommitSha& commit, SourceResult& result) {
    fs::remove(log_);
    Attempt last;
    for (const bool clean : {false, true}) {
      last = attempt(commit, clean, result);
      const bool of_the_commit = last.outcome == SourceOutcome::does_not_compile ||
                                 last.outcome == SourceOutcome::does_not_import;
      if (!of_the_commit) break;
      if (!clean) order_.say(last.reason + "; trying again from a clean folder");
    }
    return last;
  }

  Attempt attempt(const CommitSha& commit, bool clean, SourceResult& result) {
    try {
      if (!unreadable_.empty()) throw TransientFailure(unreadable_);
      prepare(commit, clean, result);
      check_machine();
      ++result.attempts;
      const ProcessResult process = run_commands(result);
      return judge(process);
    } catch (const TransientFailure& failure) {
      return {SourceOutcome::infrastructure, failure.what(), {}};
    } catch (const std::system_error& error) {
      return {SourceOutcome::infrastructure, error.what(), {}};
    }
  }

  void prepare(const CommitSha& commit, bool clean, SourceResult& result) {
    const auto state = parse_foreign(read_file(state_).value_or(""));
    const bool known = state.is_object() && text_in(state, "recipe") == recipe_.sha256.str();
    // Without a state the last build was killed: what it left half-written may look whole.
    const bool interrupted = !state.is_object();
    result.warm = known && !clean && !recipe_.keep.empty() &&
                  std::any_of(recipe_.keep.begin(), recipe_.keep.end(), [&](const auto& folder) {
                    return fs::exists(tree_.path() / folder);
                  });
    fs::remove(state_);
    order_.say("checking out " + commit.brief());
    tree_.move_to(commit, recipe_.submodules,
                  result.warm ? recipe_.keep : std::vector<std::string>(), interrupted, stop_);
    for (const auto& pattern : recipe_.discard)
      for (const auto& path : matching(tree_.path(), pattern)) fs::remove_all(path);
    committed_at_ = tree_.committed_at(commit, stop_);
    variables_ = variables(commit);
    order_.say(std::string(result.warm ? "building in a warm folder" : "building from scratch") +
               "; the log is " + log_.string());
  }

  std::map<std::string, std::string> variables(const CommitSha& commit) {
    auto out = clean_environment(home_);
    const fs::path wrappers = order_.work / "bin";
    write_python_wrappers(wrappers, order_.python);
    std::string path = wrappers.string() + ":";
    if (order_.python.is_absolute()) path += order_.python.parent_path().string() + ":";
    out["PATH"] = path + out["PATH"];
    cache_ = find_compiler_cache(recipe_.cache.program, !recipe_.image.empty());
    const CacheFolders folders{order_.work / "cache" / cache_.program, order_.work / "compilers",
                               temporary_.path() / "cache.log", tree_.path(), recipe_.cache.bytes};
    for (const auto& [name, value] : use_cache(cache_, folders, out["PATH"])) out[name] = value;
    out["TMPDIR"] = temporary_.path().string();
    out["NIGHTJAR_COMMIT"] = commit.str();
    out["NIGHTJAR_COMMIT_DAY"] = day_of(committed_at_);
    out["SOURCE_DATE_EPOCH"] = std::to_string(committed_at_);
    out[WorkTree::mark_file] = tree_.path().string();
    const auto cores = static_cast<unsigned>(usable_cpus());
    for (const auto& [name, value] : environment_of(recipe_, cores, order_.python.string()))
      out[name] = value;
    return out;
  }

  void check_machine() {
    if (free_bytes(order_.work).value_or(0) < recipe_.limits.disk_bytes)
      throw TransientFailure("only " + std::to_string(free_bytes(order_.work).value_or(0) >> 20) +
                             " MiB are free below " + order_.work.string() +
                             "; the recipe asks for " +
                             std::to_string(recipe_.limits.disk_bytes >> 20));
    for (const auto& [tool, version] : recipe_.tools) {
      ProcessSpec spec = here({"sh", "-c", tool + " --version"});
      spec.timeout_seconds = 300;
      const ProcessResult result = run(spec);
      if (!result.fine() || result.output.find(version) == std::string::npos)
        throw TransientFailure("the recipe asks for " + tool + " " + version +
                               "; this machine has " +
                               (result.fine() ? result.output.substr(0, result.output.find('\n'))
                                              : "none: " + result.describe()));
    }
  }

  ProcessSpec here(std::vector<std::string> command) const {
    ProcessSpec spec;
    spec.command = std::move(command);
    spec.environment = variables_;
    spec.folder = tree_.path();
    spec.processes = most_processes;
    return spec;
  }

  ProcessResult run(ProcessSpec spec) const {
    std::vector<fs::path> seen;
    if (fs::exists(order_.repository)) seen.push_back(fs::absolute(order_.repository));
    const auto remove = put_in_place(recipe_, {order_.work, seen}, spec);
    ProcessResult result = run_untrusted(spec, of_recipes, stop_);
    if (!remove.empty() && !result.exit_code) {
      ProcessSpec ended;
      ended.command = remove;
      ended.environment = clean_environment(home_);
      run_trusted(ended);
    }
    if (stop_.stop_requested()) throw Stopped();
    return result;
  }

  ProcessResult run_commands(SourceResult& result) {
    const fs::path statistics = temporary_.path() / "cache.log";
    fs::remove(statistics);
    ProcessSpec spec =
        here({"sh", "-c", with_cache_server(cache_, statistics, script_of(recipe_))});
    spec.timeout_seconds = recipe_.limits.minutes * 60;
    spec.memory_bytes = recipe_.limits.memory_bytes;
    spec.output_bytes = recipe_.limits.log_bytes;
    spec.log = log_;
    spec.nice = 5;
    const ProcessResult process = run(spec);
    result.compile_seconds += process.seconds;
    result.cache = statistics_of(cache_, statistics);
    // What was killed may have left half-written files, which the next build must not trust.
    if (process.exit_code && process.flooded.empty() && !process.timed_out)
      write_durably(state_, nlohmann::json{{"recipe", recipe_.sha256.str()}}.dump() + "\n");
    return process;
  }

  Attempt judge(const ProcessResult& process) {
    if (!recipe_.image.empty() && process.exit_code == engine_failed)
      return {
          SourceOutcome::infrastructure, "the container could not run: " + process.describe(), {}};
    if (!process.fine()) {
      const BuildFacts facts{tree_.path(), free_bytes(order_.work).value_or(0),
                             fs::exists(proof())};
      if (const auto reason = machine_failure(process, facts))
        return {SourceOutcome::infrastructure, *reason, {}};
      return {SourceOutcome::does_not_compile, telling_line(process.output, facts.tree), {}};
    }
    const auto wheels = matching(tree_.path(), recipe_.wheel);
    if (wheels.size() != 1)
      return {SourceOutcome::infrastructure,
              "the commands of the recipe ended well, but " + std::to_string(wheels.size()) +
                  " files match its wheel '" + recipe_.wheel + "'",
              {}};
    order_.say("importing " + recipe_.module + " from " + wheels.front().filename().string());
    const bool contained = !recipe_.image.empty();
    const WheelCheck check = check_wheel(
        wheels.front(), recipe_.module, contained ? fs::path("python3") : order_.python,
        order_.work / "tmp",
        [&](ProcessSpec& spec) { put_in_place(recipe_, {order_.work, {}}, spec); }, stop_);
    if (!check.machine.empty()) return {SourceOutcome::infrastructure, check.machine, {}};
    if (!check.broken.empty()) return {SourceOutcome::does_not_import, check.broken, {}};
    return {SourceOutcome::built, {}, wheels.front()};
  }

  // Under its own name only once it is whole and on the disk.
  void keep_wheel(const fs::path& from, MadeWheel& made) {
    for (const auto& old : matching(folder_, "*.whl*")) fs::remove(old);  // of a build before
    made.wheel = folder_ / from.filename();
    const fs::path part = made.wheel.string() + ".part";
    fs::copy_file(from, part);
    made.result.sha256 = digest_of_file(part);
    made.result.wheel_file = from.filename().string();
    move_durably(part, made.wheel);
  }

  const MakeWheel& order_;
  const Recipe& recipe_;
  const std::stop_token stop_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  WorkTree tree_;
  const fs::path state_, home_;
  const TemporaryFolder temporary_;
  fs::path folder_, log_;
  std::string unreadable_;  // why the repository could not be read
  CompilerCache cache_;
  std::int64_t committed_at_ = 0;
  std::map<std::string, std::string> variables_;
};

}  // namespace

fs::path result_folder(const fs::path& out, const CommitSha& commit, const Recipe& recipe) {
  return out / (commit.str() + "-" + recipe.sha256.brief());
}

MadeWheel make_wheel(const MakeWheel& order, std::stop_token stop) {
  const FileLock lock = lock_work(order.work);
  TemporaryFolder::remove_leftovers(order.work / "tmp");
  return Maker(order, std::move(stop)).make();
}

}  // namespace nightjar::runner
