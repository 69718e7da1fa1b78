// nightjar-runner: the agent that measures on one machine, and the same tools by hand.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <malloc.h>

#include "runner/cli/commands.hpp"
#include "runner/process/failure.hpp"
#include "runner/process/output.hpp"
#include "runner/run/control.hpp"
#include "runner/run/script.hpp"
#include "storage/base/log.hpp"
#include "storage/base/terminal.hpp"

namespace {
using nightjar::runner::Options;

// Adds options of the program to `app`, which is the program or a command that uses them, so that
// the help of both lists them.
void add_places(CLI::App& app, Options& options) {
  app.add_option("--python", options.python, "Python that has PyTorch's dependencies")
      ->default_str(".cache/python of the checkout, else python3");
  app.add_option("--torchbench", options.torchbench,
                 "checkout of TorchBench, whose models become workloads")
      ->default_str("none");
  app.add_option("--commands", options.commands,
                 "TOML file of commands of your own that are workloads")
      ->default_str("none");
  app.add_option("--workloads", options.workloads, "folder of workloads.json")
      ->default_str("the program's own");
  app.add_option("--suite", options.suite,
                 "a file of the suites folder (quick, nightly, ...), or the begin of names "
                 "(native, hf, ...)")
      ->default_str("none");
  app.add_option("--device", options.device, "where they run")
      ->check(CLI::IsMember(std::vector<std::string>{"cpu", "cuda"}))
      ->default_str("as their names say");
  app.add_option("--cache", options.cache,
                 "folder for environments, compiled workloads and results")
      ->default_str(".cache/runner of the checkout, else ~/.cache/nightjar-runner");
}

void add_confinement(CLI::App& app, Options& options, const char* usual) {
  app.add_option("--confinement", options.confinement,
                 "of processes that run a build, without network and secrets: required, "
                 "preferred (if this machine can), off")
      ->check(CLI::IsMember(std::vector<std::string>{"required", "preferred", "off"}))
      ->default_str(usual);
  app.add_option("--visible", options.visible,
                 "folder that confined processes may read, may be repeated")
      ->allow_extra_args(false);
}

void add_agent(CLI::App& app, Options& options) {
  app.add_option("--service", options.service, "address of nightjard, http://HOST:PORT");
  app.add_option("--token-file", options.token_file, "this runner's token, in a file")
      ->default_str("with an own token: token, in --cache");
  app.add_option(
      "--enrol", options.enrol_file,
      "file with a one-time token, by which this runner gets a token of its own once; it "
      "is kept in --token-file");
  app.add_option("--oidc", options.oidc,
                 "enrol at each start, with the token of this CI job or pod: \"github\", or the "
                 "file that Kubernetes projects");
  app.add_option("--audience", options.audience, "whom --oidc github asks a token for")
      ->default_str("the service's address");
  app.add_option("--certificate", options.certificate,
                 "shown to a proxy in front of the service that asks for one; PEM");
  app.add_option("--key", options.key, "key of the certificate; PEM")
      ->default_str("in the certificate's file");
  app.add_option("--authorities", options.authorities,
                 "authorities that sign the certificate of the service's address; PEM")
      ->default_str("the system's");
  app.add_option("--credentials", options.credentials,
                 "logins at indexes and other hosts, a file as .netrc is");
  app.add_option("--internal", options.internal,
                 "https://HOST on an internal address that links of an index may lead to, may be "
                 "repeated")
      ->allow_extra_args(false);
  app.add_option("--rotate-after", options.rotate_after,
                 "seconds after which an own token is replaced")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--name", options.name, "name of this runner (default: the host's)");
  app.add_option("--label", options.labels, "k=v, may be repeated")->allow_extra_args(false);
  app.add_option("--devices", options.devices,
                 "whole-host: one agent, on the first device; each: an agent for each device, with "
                 "a part of the CPUs")
      ->check(CLI::IsMember(std::vector<std::string>{"whole-host", "each"}))
      ->capture_default_str();
  app.add_option("--cpus", options.cpus, "keeps to as many CPUs of those that it may run on")
      ->check(CLI::Range(1, 4096))
      ->default_str("what its CPU quota allows, else all");
  app.add_option("--cpu-locks", options.cpu_locks,
                 "folder that all runners of a node see: each keeps to CPUs that no other has")
      ->default_str("none");
  app.add_option("--doctor", options.doctor,
                 "asks the doctor first. required: ends with 1 where something harms; advisory: "
                 "goes on, and each session notes it")
      ->check(CLI::IsMember(std::vector<std::string>{"off", "advisory", "required"}))
      ->capture_default_str();
  app.add_option("--until", options.until,
                 "claims nothing after this time (2026-08-20T06:00:00Z, or seconds from now) and "
                 "ends between two jobs")
      ->default_str("no end");
  app.add_option("--idle", options.idle, "ends after this many seconds without a job")
      ->check(CLI::Range(1, 1'000'000))
      ->default_str("no end");
  app.add_option("--cache-bytes", options.cache_bytes,
                 "size limit of environments, and of packages kept for later ones")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 60))
      ->default_str("40 GiB, or half of the disk that has less");
  app.add_option("--wheels", options.wheels,
                 "folder that has wheels by their file names, so that they are not downloaded")
      ->check(CLI::ExistingDirectory)
      ->default_str("none");
  app.add_option("--uv", options.uv, "installs the packages that builds are locked to")
      ->default_str("uv, as PATH has it");
  app.add_flag("--builder{also}", options.builder,
               "takes build jobs, too; --builder=only: no sessions")
      ->check(CLI::IsMember(std::vector<std::string>{"also", "only"}));
  app.add_option("--work", options.work, "a builder's folder: checkout and compiler cache")
      ->default_str("builder, below --cache");
  app.add_option("--scripted", options.scripted,
                 "measure nothing; results as FILE says (`nightjar-runner script-help`)");
}

// Adds the options of one run, which is measured or profiled.
void add_run(CLI::App& command, Options& options) {
  command.add_option("--threads", options.threads, "threads of PyTorch within an operator")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command.add_option("--timeout", options.timeout_seconds, "seconds until a run is ended")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  command.add_option("--seed", options.seed, "seed of inputs and weights")->capture_default_str();
}

void add_list(CLI::App& list, Options& options) {
  list.footer(
      "Example: what is there of dlrm, on a GPU?\n"
      "  nightjar-runner list 'python/dlrm/**' --device cuda");
  list.add_option("workload", options.globs, "names or globs, e.g. 'python/*/eval/cpu/**'")
      ->default_str("all");
  list.add_flag("--json", options.json, "names, versions and kinds as JSON");
}

std::vector<std::string> written_formats() {
  return {"table", "csv", "accuracy-csv", "torchbench", "database"};
}

void add_measure(CLI::App& measure, Options& options) {
  measure.footer(
      "Example: how fast is this build's resnet18 on the CPU?\n"
      "  nightjar-runner measure native/resnet18/eval/cpu/fp32/b4/eager --runs 5\n"
      "What cannot run is listed with its reason, and the others go on.\n"
      "Exit codes: 0 all were measured, 1 one was not, 2 wrong use, 3 something broke.");
  measure.add_option("workload", options.globs, "names or globs, e.g. 'python/*/eval/cpu/**'");
  measure.add_option("--runs", options.runs, "processes a workload")
      ->check(CLI::Range(1, 10000))
      ->default_str("5, or the suite's");
  measure
      .add_option("--minutes", options.minutes,
                  "no run begins after this time; higher priorities go first")
      ->check(CLI::Range(0.01, 100'000.0))
      ->default_str("no end, or the suite's");
  measure.add_option("--seconds", options.seconds, "measuring time of a run after warm-up")
      ->check(CLI::Range(0.001, 3600.0))
      ->default_str("2, or the suite's");
  measure.add_flag("--peak-memory", options.peak_memory,
                   "also peak_memory, by a second process: repeats better, takes longer");
  std::vector<std::string> formats = written_formats();
  formats.emplace_back("json");
  measure.add_option("--format", options.format, "what is printed, see docs/formats.md")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
  measure.add_flag("--json", options.json, "the same as --format json");
}

void add_libtorch(CLI::App& command, Options& options) {
  command
      .add_option("--libtorch", options.libtorch,
                  "native workloads against this LibTorch: the unpacked folder, or a prefix (/usr)")
      ->default_str("the Python's");
}

void add_convert(CLI::App& convert, Options& options) {
  convert.footer(
      "Example: dynamo's performance file of a measurement\n"
      "  nightjar-runner convert monday.json --format csv > performance.csv");
  convert.add_option("file", options.measurement, "what `measure --json` wrote")->required();
  convert.add_option("--format", options.format, "what is printed, see docs/formats.md")
      ->check(CLI::IsMember(written_formats()))
      ->capture_default_str();
}

void add_profile(CLI::App& profile, Options& options) {
  profile.footer(
      "Example: which operators take resnet18's time?\n"
      "  nightjar-runner profile native/resnet18/eval/cpu/fp32/b4/eager --out resnet18.json\n"
      "Exit codes: 0 all were profiled, 1 one was not, 2 wrong use, 3 something broke.");
  profile.add_option("workload", options.globs, "names or globs of workloads")->required();
  profile.add_option("--runs", options.runs, "processes a workload")
      ->check(CLI::Range(1, 100))
      ->default_str("5");
  profile.add_option("--iterations", options.iterations, "profiled in each run")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  profile.add_flag("--json", options.json, "all that was seen, for `nightjar profile-diff`");
  profile.add_option("--out", options.out, "write that JSON to FILE as well");
  profile.add_flag("--remeasure", options.remeasure, "measure the machine's ceilings again");
}

void add_build(CLI::App& build, Options& options) {
  build.footer(
      "Example: the wheel of a branch's newest commit\n"
      "  nightjar-runner build main --recipe deploy/recipes/extension.toml --repo ../my-extension\n"
      "docs/building.md describes recipes. Exit codes: 0 built, 1 it does not compile or import,\n"
      "2 wrong use, 3 the machine, the network or the recipe was at fault.");
  build.add_option("commit", options.revision, "a hash or a branch")->required();
  build.add_option("--recipe", options.recipe, "TOML file that says how")->required();
  build.add_option("--repo", options.repository, "address or folder of the git repository")
      ->required();
  build.add_option("--work", options.work, "the builder's folder: checkout and compiler cache")
      ->default_str("builder, below --cache");
  build.add_option("--out", options.out, "folder for wheel and log")
      ->default_str("wheels, in --work");
  build.add_option("--python", options.python, "builds with it, and imports the wheel")
      ->default_str(".cache/python of the checkout, else python3");
  build.add_flag("--json", options.json, "what came of it as JSON");
}

int parse_and_run(int argc, char** argv) {
  Options options;
  CLI::App app("Measures PyTorch workloads on this machine for a Nightjar service.");
  app.set_version_flag("--version", "nightjar-runner " NIGHTJAR_VERSION);
  app.require_subcommand(0, 1);
  app.fallthrough();
  add_agent(app, options);
  add_confinement(app, options, "preferred");
  add_places(app, options);
  auto* list = app.add_subcommand("list", "names of workloads, one a line");
  add_list(*list, options);
  auto* measure = app.add_subcommand("measure", "measure here and now, without a service");
  add_measure(*measure, options);
  add_run(*measure, options);
  add_libtorch(*measure, options);
  auto* convert = app.add_subcommand("convert", "an earlier measurement in another format");
  add_convert(*convert, options);
  auto* profile =
      app.add_subcommand("profile", "where time and memory go: operators, roofline, peak memory");
  add_profile(*profile, options);
  add_run(*profile, options);
  auto* build = app.add_subcommand("build", "make the wheel of a commit from source");
  add_build(*build, options);
  auto* control = app.add_subcommand("control", "the control workload (request on stdin)");
  auto* doctor = app.add_subcommand(
      "doctor", "what makes measurements noisy here (exit 1: something that can be mended)");
  doctor->footer(
      "Example: what is to be mended before a night?\n"
      "  nightjar-runner doctor | grep -A 1 harms");
  doctor->add_flag("--json", options.json, "the findings as JSON");
  auto* native = app.add_subcommand("prepare-native", "compile the native workloads ahead of time");
  add_libtorch(*native, options);
  for (CLI::App* command : {list, measure, profile, native}) add_places(*command, options);
  auto* script = app.add_subcommand("script-help", "what a file for --scripted holds");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    nightjar::say_trouble("nightjar-runner", error.what());
    return 2;
  }
  // Children start in folders of their own.
  for (std::filesystem::path* path : {&options.workloads, &options.torchbench})
    if (!path->empty()) *path = std::filesystem::absolute(*path);
  if (list->parsed()) return nightjar::runner::run_list(options);
  if (measure->parsed()) return nightjar::runner::run_measure(options);
  if (convert->parsed()) return nightjar::runner::run_convert(options);
  if (profile->parsed()) return nightjar::runner::run_profile(options);
  if (build->parsed()) return nightjar::runner::run_build(options);
  if (control->parsed()) return nightjar::runner::run_control();
  if (doctor->parsed()) return nightjar::runner::run_doctor(options);
  if (native->parsed()) return nightjar::runner::run_prepare_native(options);
  if (script->parsed()) return std::cout << nightjar::runner::scripted_help(), 0;
  return nightjar::runner::run_agent(options);
}

int exit_code(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const nightjar::runner::WrongUse& error) {
    nightjar::say_trouble("nightjar-runner", error.what());
    return 2;
  } catch (const nightjar::runner::Stopped& stopped) {
    nightjar::say(stderr, "nightjar-runner: %s before the first run\n", stopped.what());
    return 1;
  } catch (const std::exception& error) {
    nightjar::say_trouble("nightjar-runner", error.what());
    return 3;
  }
}

}  // namespace

int main(int argc, char** argv) {
  ::mallopt(M_ARENA_MAX, 1);  // the agent shares its machine with what it measures
  nightjar::log::start("nightjar-runner", nightjar::log::Style::plain);
  return nightjar::runner::finish_output("nightjar-runner", exit_code(argc, argv));
}
