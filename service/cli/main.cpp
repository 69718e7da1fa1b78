// nightjar: the statistics and the search of the service, for a person's terminal and for CI
// scripts.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>

#include "runner/process/failure.hpp"
#include "runner/process/output.hpp"
#include "runner/process/stop_on_signal.hpp"
#include "service/cli/bench_files.hpp"
#include "service/cli/bisect_run.hpp"
#include "service/cli/bisect_versions.hpp"
#include "service/cli/compare.hpp"
#include "service/cli/describe_program.hpp"
#include "service/cli/detect.hpp"
#include "service/cli/direction_options.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/profile_diff.hpp"
#include "service/cli/repeat.hpp"
#include "service/cli/service_commands.hpp"
#include "service/cli/summary.hpp"
#include "service/cli/verify.hpp"
#include "storage/base/terminal.hpp"
#include "storage/model/share.hpp"

namespace {
using namespace nightjar;
using namespace nightjar::cli;

double share(const std::string& text) {
  try {
    return parse_share(text);
  } catch (const std::invalid_argument& error) {
    throw BadInput(std::string("--threshold ") + error.what());
  }
}

struct Commands {
  CLI::App app{"Noise-aware change detection, comparison and bisection.", "nightjar"};
  DetectOptions detect;
  CompareOptions compare;
  BisectOptions bisect;
  UvOptions uv;
  VerifyOptions verify;
  SummaryOptions summary;
  RepeatOptions repeat;
  bool summary_json = false;
  ProfileDiffOptions profile_diff;
  ServiceCommands service;
  DescribeProgram describing;
  bool json_version = false;
  std::string threshold = "7%", direction = "lower", fail_on, sort = "name", at_least,
              metric = "number";
  std::vector<std::string> thresholds;  // of `compare`: for all metrics, or "GLOB=SHARE"
  CLI::App *detect_command, *compare_command, *bisect_command, *run_command, *versions_command,
      *verify_command, *summary_command, *repeat_command, *profile_diff_command;

  Commands() {
    // Before --version, whose text depends on it.
    app.add_flag("--json", json_version, "with --version: as JSON");
    app.set_version_flag("--version", [this] { return version_text(app, json_version); });
    app.require_subcommand(1);
    add_detect();
    add_compare();
    add_bisect();
    add_verify();
    add_summary();
    add_profile_diff();
    add_repeat();
    service.add_to(app);
    describing.add_to(app);
  }

  void add_fail_on(CLI::App& command) {
    command.add_option("--fail-on", fail_on, "exit with 1 if something is worse")
        ->check(CLI::IsMember({"worse"}));
  }

  static void add_badge(CLI::App& command, std::filesystem::path& file) {
    command.add_option("--badge", file, "file for a badge, as shields.io's endpoint reads it");
  }

  void add_detect() {
    detect_command =
        app.add_subcommand("detect", "Change points of a series, or of benchmarks in result files");
    detect_command->footer(
        "Example: since when has the parser been slow?\n"
        "  nightjar detect series.csv\n"
        "A level is told from at least five positions on, and in a series of at least 16. To ask "
        "what the very\n"
        "last change did, measure before and after it and use `nightjar compare --fail-on worse`.\n"
        "Rows are `position,value`; a first line that says so may be left out. Positions that are "
        "all numbers\n"
        "are sorted; others, such as commits or dates, are taken in the order of the file.\n"
        "Several files are what hyperfine, pytest-benchmark, Google Benchmark, Criterion, JMH, "
        "Catch2, asv or\n"
        "perf stat wrote at one position each. If all have a date, that is their order; else they "
        "are taken as given.");
    detect_command
        ->add_option("files", detect.files,
                     "CSV of position,value (- for standard input), or result files or folders")
        ->required();
    detect_command->add_option("--threshold", threshold, "smallest change to report")
        ->capture_default_str();
    detect_command->add_option("--direction", direction, "which way is better")
        ->check(CLI::IsMember({"lower", "higher"}))
        ->capture_default_str();
    add_fail_on(*detect_command);
    add_badge(*detect_command, detect.badge);
    detect_command->add_flag("--json", detect.json);
  }

  void add_compare() {
    compare_command = app.add_subcommand("compare", "Files of metrics, control against treatment");
    compare_command->add_option("--control", compare.control, "files; several are runs")
        ->required();
    compare_command->add_option("--treatment", compare.treatment, "files; several are runs")
        ->required();
    compare_command
        ->add_option("--threshold", thresholds,
                     "smallest change to flag (7%); 'parse*=3%' for metrics that a glob fits")
        ->allow_extra_args(false);
    compare_command->add_option("--at-least", at_least,
                                "a smaller change does not count, such as 100us, 2MiB or 5");
    compare_command->add_flag("--only-changed", compare.only_changed,
                              "list no metric that stayed the same");
    compare_command->add_option("--sort", sort, "by name, or the largest change first")
        ->check(CLI::IsMember({"name", "size"}))
        ->capture_default_str();
    add_direction_options(*compare_command, compare.directions);
    add_fail_on(*compare_command);
    add_badge(*compare_command, compare.badge);
    compare_command->add_option("--format", compare.format)
        ->check(CLI::IsMember({"table", "markdown", "json", "github", "junit"}))
        ->capture_default_str();
    compare_command->footer(
        "Files: TorchBench's metrics-*.json, dynamo's performance CSV, and what\n"
        "`nightjar-runner measure --json` wrote, whose runs count each. With --fail-on worse, a "
        "workload\n"
        "counts that the control has and that failed, or is missing, in the treatment.");
  }

  void add_summary() {
    summary_command = app.add_subcommand(
        "summary", "What suites came to: pass rate, speed-up, compile time, memory");
    summary_command->footer(
        "Example: what does this build's compiler do for the models?\n"
        "  nightjar summary inductor_torchbench_float32_inference_cpu_performance.csv\n"
        "Files: dynamo's performance and accuracy CSV (X_accuracy.csv beside X_performance.csv is "
        "found), and\n"
        "what `nightjar-runner measure --json` wrote. Definitions are the PyTorch dashboard's "
        "(docs/formats.md).");
    summary_command->add_option("files", summary.files, "dynamo CSV or measure JSON")->required();
    summary_command->add_option("--beside", summary.beside,
                                "the same suites on another machine class");
    summary_command->add_option("--format", summary.format)
        ->check(CLI::IsMember({"table", "markdown", "json"}))
        ->capture_default_str();
    summary_command->add_flag("--json", summary_json, "the same as --format json");
  }

  void add_bisect() {
    bisect_command =
        app.add_subcommand("bisect", "Find the commit that made something worse, or better");
    bisect_command->require_subcommand(1);
    run_command = bisect_command->add_subcommand("run", "git bisect run for noisy numbers");
    run_command->footer(
        "Example: which commit made the parser slower?\n"
        "  nightjar bisect run --repo . --good v1.2 --bad main --build 'make -s' \\\n"
        "    --measure './bench parse | tail -1' --state search.json\n"
        "The last line that --measure prints is one number; lower is better, unless --direction "
        "higher\n"
        "says otherwise. With --measure-file it is in the results of hyperfine, pytest-benchmark, "
        "Google\n"
        "Benchmark, Criterion, JMH, Catch2, asv or perf stat, or where --value says. Of\n"
        "several benchmarks each has its culprit. Exit code 125 "
        "of --measure, or a failing --build, says that a commit is "
        "untestable.\n"
        "Both find the commit's id in $NIGHTJAR_COMMIT.\n"
        "Searched is the first-parent history from good to bad. The repository is never modified.\n"
        "Exit codes: 0 culprit found, 1 none, or interrupted, 2 wrong use, 3 something broke.");
    run_command->add_option("--repo", bisect.repository, "git repository")->capture_default_str();
    add_ends(*run_command, "revision");
    run_command->add_option("--measure-file", bisect.source.file,
                            "file, or folder, in the work tree that --measure writes its numbers "
                            "to, in place of its last line");
    run_command->add_option("--build", bisect.build, "command; runs once a commit");
    run_command
        ->add_option("--path", bisect.paths,
                     "only commits that changed something there; repeatable")
        ->allow_extra_args(false);
    run_command->add_flag("--into-merges", bisect.into_merges,
                          "if a merge is to blame, go on in the branch that it brought");
    run_command->add_option("--jobs", bisect.jobs, "builds at once; measuring stays one at a time")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    add_rules(*run_command);
    add_versions();
  }

  void add_versions() {
    versions_command =
        bisect_command->add_subcommand("versions", "The same search over releases of a package");
    versions_command->footer(
        "Example: which release of numpy made it slower?\n"
        "  nightjar bisect versions --package numpy --good 2.2 --bad 2.3 \\\n"
        "    --measure 'python bench.py | tail -1' --state search.json\n"
        "uv makes an environment for each version. --measure runs in this folder with that "
        "environment first\n"
        "in PATH, and finds the version in $NIGHTJAR_VERSION. Yanked releases and, without --pre, "
        "pre-releases\n"
        "are left out. Exit codes are those of `nightjar bisect run`.");
    versions_command->add_option("--package", bisect.package, "name of the package")->required();
    add_ends(*versions_command, "version");
    versions_command->add_option("--python", uv.python,
                                 "Python of the environments, a version or a path");
    versions_command->add_option("--index", uv.index,
                                 "index of packages, or a folder of wheels, in place of uv's");
    versions_command->add_option("--with", uv.with, "what the measure needs besides; repeatable")
        ->allow_extra_args(false);
    versions_command->add_flag("--pre", uv.pre_releases, "also pre-releases in between");
    versions_command->add_option("--uv", uv.program, "the program uv")->capture_default_str();
    add_rules(*versions_command);
  }

  // What is searched between, and by which number.
  void add_ends(CLI::App& command, const std::string& what) {
    command.add_option("--good", bisect.good, what + " that is still good")->required();
    command.add_option("--bad", bisect.bad, what + " that is bad")->required();
    command.add_option("--measure", bisect.measure, "command; prints a number as its last line")
        ->required();
    command.add_option("--value", bisect.source.value,
                       "where in the JSON of --measure the number is, such as results.0.median");
    command
        .add_option("--measure-format", bisect.source.format,
                    "benchmark program that wrote it (recognised by its content)")
        ->check(CLI::IsMember(bench_formats()));
    command
        .add_option("--metric", metric,
                    "number: what --measure gives; instructions: how many of them it and its "
                    "children execute in user\nspace, by the CPU's counters or by valgrind")
        ->check(CLI::IsMember({"number", "instructions"}))
        ->capture_default_str();
    command.add_option("--only", bisect.only, "benchmarks that count; a glob, repeatable")
        ->allow_extra_args(false);
  }

  // What a search believes, and where it is shown and kept.
  void add_rules(CLI::App& command) {
    command.add_option("--threshold", threshold, "smallest change to blame for")
        ->capture_default_str();
    command.add_option("--direction", direction, "which number is better; higher for a throughput")
        ->check(CLI::IsMember({"lower", "higher"}))
        ->capture_default_str();
    command
        .add_option("--find", bisect.find,
                    "what to search for: what made it worse, or better; broken: since when "
                    "--measure fails, or\nfails more often (exit status, time-outs)")
        ->check(CLI::IsMember({"worse", "better", "broken"}))
        ->capture_default_str();
    command
        .add_option("--max-runs", bisect.max_runs,
                    "budget; the search ends undecided when it is spent")
        ->check(CLI::Range(10, 1'000'000))
        ->capture_default_str();
    command.add_option("--timeout", bisect.timeout_seconds, "seconds that one command may take")
        ->check(CLI::Range(0.01, 1e6))
        ->capture_default_str();
    command.add_option("--state", bisect.state, "file to keep the search in, and to go on from");
    command.add_option("--html", bisect.html,
                       "file to draw the search in, for a browser, while it runs");
    command.add_flag("--json", bisect.json);
  }

  void add_verify() {
    verify_command = app.add_subcommand("verify", "Judge a verdict again from its evidence bundle");
    verify_command->footer(
        "Example: is regression 3 what the service says it is?\n"
        "  curl -s $SERVICE/api/v1/regressions/3/evidence | nightjar verify -\n"
        "Exit codes: 0 every verdict agrees, 1 one differs, 2 no bundle.");
    verify_command->add_option("bundle", verify.bundle, "file; - for standard input")->required();
    verify_command->add_flag("--json", verify.json);
  }

  void add_profile_diff() {
    profile_diff_command =
        app.add_subcommand("profile-diff", "Which operators got slower between two profiles");
    profile_diff_command
        ->add_option("before", profile_diff.before, "file of `nightjar-runner profile --json`")
        ->required();
    profile_diff_command->add_option("after", profile_diff.after, "the same, of the later build")
        ->required();
    profile_diff_command->add_flag("--json", profile_diff.json);
  }

  void add_repeat() {
    repeat_command =
        app.add_subcommand("repeat", "How well workloads repeat: CV, A/A ratio, noise class");
    repeat_command->footer(
        "Example: which workloads are noisy on this machine?\n"
        "  nightjar-runner measure --suite quick --runs 12 --json > one.json\n"
        "  nightjar repeat one.json\n"
        "With one file, odd runs are compared with even ones; with two (the same build again), "
        "the second with\n"
        "the first. Exit codes: 0 every A/A interval holds 1, 1 one does not, 2 wrong use.");
    repeat_command->add_option("files", repeat.files, "what `nightjar-runner measure --json` wrote")
        ->required()
        ->expected(1, 2);
    repeat_command->add_option("--metric", repeat.metric)->capture_default_str();
    repeat_command->add_option("--format", repeat.format)
        ->check(CLI::IsMember({"table", "markdown", "json"}))
        ->capture_default_str();
  }

  int run_compare() {
    for (const std::string& one : thresholds) {
      const auto sign = one.rfind('=');
      if (sign == std::string::npos)
        compare.threshold = share(one);
      else
        compare.thresholds.emplace_back(one.substr(0, sign), share(one.substr(sign + 1)));
    }
    try {
      if (!at_least.empty()) compare.at_least = parse_amount(at_least);
    } catch (const std::invalid_argument& error) {
      throw BadInput(std::string("--at-least ") + error.what());
    }
    compare.by_size = sort == "size";
    return cli::compare(compare);
  }

  int run() {
    if (json_version)
      throw BadInput(
          "--json before a command goes with --version alone; write it behind the command");
    detect.threshold = bisect.threshold = share(threshold);
    const CLI::App* search_command = *versions_command ? versions_command : run_command;
    if (search_command->count("--direction") > 0) bisect.direction = direction;
    if (seeks_failures(bisect) && search_command->count("--threshold") == 0)
      bisect.threshold = least_rise_of_failures;
    if (detect_command->count("--direction") > 0)
      detect.direction =
          direction == "higher" ? Direction::higher_is_better : Direction::lower_is_better;
    detect.fail_on_worse = compare.fail_on_worse = fail_on == "worse";
    if (*detect_command) return cli::detect(detect);
    if (*compare_command) return run_compare();
    if (*profile_diff_command) return cli::profile_diff(profile_diff);
    if (*verify_command) return cli::verify(verify);
    if (summary_json) summary.format = "json";
    if (const auto code = service.run()) return *code;
    if (const auto code = describing.run(app)) return *code;
    if (*repeat_command) return cli::repeat(repeat);
    if (*summary_command) return cli::summary(summary);
    if (metric == "instructions") {
      bisect.counter = find_instruction_counter();
      say(stderr, "counting %s\n", metric_word(bisect).c_str());
    }
    const runner::StopOnSignal stop;
    if (*versions_command) return bisect_versions(bisect, uv, stop.token());
    return bisect_run(bisect, stop.token());
  }
};

// The first word that is no command where one is wanted, as a sentence; else empty.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  std::string path;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto commands = at->get_subcommands([](const CLI::App*) { return true; });
    if (commands.empty() || word.starts_with('-')) return "";
    std::string names;
    const CLI::App* next = nullptr;
    for (const CLI::App* one : commands) {
      if (!one->get_group().empty()) names += (names.empty() ? "" : ", ") + one->get_name();
      if (one->get_name() == word) next = one;
    }
    if (!next) return "there is no command '" + path + word + "'; there are: " + names;
    path += word + " ";
    at = next;
  }
  return "";
}

int report(const char* kind, int code) {
  say(stderr, "nightjar: %s\n", kind);
  return code;
}

int exit_code(int argc, char** argv) {
  Commands commands;
  try {
    commands.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const std::string unknown = unknown_command(commands.app, argc, argv);
    if (!unknown.empty()) return report(unknown.c_str(), 2);
    std::ostringstream help, problem;
    const int code = commands.app.exit(error, help, problem);
    std::fputs(help.str().c_str(), stdout);
    std::fputs(shown_lines(problem.str()).c_str(), stderr);
    return code == 0 ? 0 : 2;
  }
  try {
    return commands.run();
  } catch (const BadInput& error) {
    return report(error.what(), 2);
  } catch (const runner::Stopped&) {
    return report("stopped; nothing was measured", 1);
  } catch (const std::exception& error) {
    return report(error.what(), 3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return runner::finish_output("nightjar", exit_code(argc, argv));
}
