#include <cstdio>

#include "service/builds/wheel_name.hpp"
#include "service/report/evidence.hpp"
#include "service/report/quantity.hpp"
#include "service/report/sections.hpp"
#include "storage/base/markdown.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::service {
namespace {

constexpr double usual_seconds = 2;               // of measuring in a run, by default
constexpr double least_measuring_seconds = .001;  // what repeats without it needs no measuring time

// Both sides take turns, so that a machine that is slow for a while is slow for both. Each turn
// begins with a check of the environment, which costs more than a run: hence two runs a turn.
constexpr int rounds = 5, runs_of_turn = 2;

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

// The Python that pip needs for this wheel: "python3.11" for cp311.
std::string python_of(const std::string& wheel) {
  const auto name = parse_wheel_name(file_name_of(wheel));
  const std::string tag = name && !name->python_tags.empty() ? name->python_tags.front() : "";
  if (!tag.starts_with("cp3") || tag.size() < 4) return "python3";
  return "python3." + tag.substr(3);
}

// A run as the service measured it; `python` as the shell finds it.
std::string measure(const ReportInput& input, const std::string& python, int runs) {
  const ReportSeries& lead = input.series.front();
  const double seconds = is_steady(lead.metric) ? least_measuring_seconds : input.run_seconds;
  std::string text = "nightjar-runner measure " + shell_word(lead.workload) + " --runs " +
                     std::to_string(runs) + " --python " + python + " --json";
  if (seconds != usual_seconds) text += " --seconds " + figure(seconds);
  return text;
}

std::string percent(double threshold) {
  return figure(threshold * 100) + "%";
}

std::string compare(const ReportInput& input, const std::string& before, const std::string& after) {
  return "build/bin/nightjar compare --threshold " + percent(input.threshold) +
         " --control reproduce/" + before + "-?.json --treatment reproduce/" + after + "-?.json\n";
}

// `first` and `second` print results to standard output.
std::string in_turns(const std::string& before, const std::string& first, const std::string& after,
                     const std::string& second) {
  return "for round in $(seq " + std::to_string(rounds) + "); do\n  " + first + " >reproduce/" +
         before + "-$round.json\n  " + second + " >reproduce/" + after + "-$round.json\ndone\n";
}

// Installs the packages that the wheel was measured with. Where the source did it, that was with
// the good end's.
std::string packages(const ReportInput& input, const ReportBuild& build,
                     const std::string& folder) {
  const bool held = input.attribution && input.attribution->held && !is_environment(input);
  const std::string& lock = held ? input.good.lock : build.lock;
  if (lock.empty()) return {};
  return "curl -fsS " + shell_word(lock) + " >" + folder + "-packages.txt\n" + folder +
         "/bin/pip install --no-deps --require-hashes -r " + folder + "-packages.txt\n";
}

// The folders of two sides have names of one length: a longer path alone moved the latency of a
// Python loop by 5 %.
std::string both_ends(const ReportInput& input) {
  std::string commands = "mkdir -p reproduce\n";
  for (const std::string end : {"old", "new"}) {
    const ReportBuild& build = end == "old" ? input.good : input.bad;
    if (build.wheel.empty()) return {};
    const std::string folder = "reproduce/" + end;
    const std::string index =
        input.index.empty() ? "" : "--extra-index-url " + shell_word(input.index) + " ";
    const std::string locked = packages(input, build, folder);
    commands += python_of(build.wheel) + " -m venv " + folder + "\n" + locked + folder +
                "/bin/pip install " + (locked.empty() ? "" : "--no-deps ") + index +
                shell_word(build.wheel) + "\n";
  }
  const auto measured = [&](const std::string& end) {
    return "build/bin/" + measure(input, "reproduce/" + end + "/bin/python", runs_of_turn);
  };
  return commands + in_turns("old", measured("old"), "new", measured("new")) +
         compare(input, "old", "new");
}

std::string kept_wheels(const ReportInput& input) {
  if (input.good.kept.empty() || input.bad.kept.empty()) return {};
  return "\nIf its index has a wheel no more, the service may still: " + code(input.good.kept) +
         " and " + code(input.bad.kept) + ", with a runner's token as `Authorization: Bearer`.\n";
}

// Makes a commit's environment: an end's wheel with the commit's Python files over it.
std::string build_script(const ReportInput& input) {
  std::string choice;
  const auto end = [&](const char* name, const std::string& condition, const CommitSha& base) {
    choice += (choice.empty() ? "if git " : "elif git ") + condition + "; then end=" + name +
              " base=" + base.str() + "\n";
  };
  if (input.over_good)
    end("old", "merge-base --is-ancestor HEAD " + input.over_good->str(), *input.good.commit);
  if (input.over_bad)
    end("new", "merge-base --is-ancestor " + input.over_bad->str() + " HEAD", *input.bad.commit);
  return "cat >reproduce/build.sh <<'END'\n"
         "set -e\n" +
         choice +
         "else echo 'this commit needs another wheel'; exit 1; fi\n"
         "cp -al \"$(dirname \"$0\")/$end\" .venv\n"
         "site=$(.venv/bin/python -c 'import sysconfig; "
         "print(sysconfig.get_paths()[\"platlib\"])')\n"
         "git ls-files -z 'torch/*.py' 'torch/*.pyi' 'torch/*.py.jinja' 'functorch/*.py' "
         "':!torch/version.py' |\n"
         "  tar -c --null -T - | tar -x -C \"$site\"\n"
         "git diff -z --name-only --diff-filter=D $base HEAD -- torch functorch | (cd \"$site\" && "
         "xargs -0 -r rm -f)\n"
         "END\n";
}

// Before and after the named commits: their own effect.
std::string boundary(const ReportInput& input) {
  const auto& commits = input.culprit->commits;
  const std::string before = commits.front().sha.str() + "~1", after = commits.back().sha.str();
  const auto measured = [&](const std::string& side) {
    const std::string python = "reproduce/" + side + "-tree/.venv/bin/python";
    return "build/bin/" + measure(input, python, runs_of_turn);
  };
  return "git -C reproduce/pytorch worktree add --detach ../parent-tree " + before +
         "\ngit -C reproduce/pytorch worktree add --detach ../change-tree " + after +
         "\n(cd reproduce/parent-tree && sh ../build.sh)\n"
         "(cd reproduce/change-tree && sh ../build.sh)\n" +
         in_turns("parent", measured("parent"), "change", measured("change")) +
         compare(input, "parent", "change");
}

constexpr const char* no_wheels = "The wheels' addresses are not known any more.\n";

// A metric of which `nightjar bisect run` can be told in one positive number.
bool can_be_searched(const std::string& metric) {
  return !has_no_ratio(metric) && metric != failures_metric;
}

// A run that never saw the machine undisturbed has no value and is repeated.
constexpr int tries = 5;

std::string search(const ReportInput& input) {
  const std::string& metric = input.series.front().metric;
  const Metric* known = find_metric(metric);
  const bool higher = known && known->direction == Direction::higher_is_better;
  const std::string number =
      "python3 -c \"import json, sys; value = json.load(sys.stdin)[\\\"items\\\"][0]"
      "[\\\"metrics\\\"][\\\"" +
      metric + "\\\"][\\\"location\\\"]; print(value or sys.exit(1))\"";
  const std::string measured =
      "for try in $(seq " + std::to_string(tries) + "); do \"$HERE/build/bin/\"" +
      measure(input, ".venv/bin/python", 1) + " | " + number + " && exit; done; exit 1";
  return "TMPDIR=$PWD/reproduce HERE=$PWD build/bin/nightjar bisect run --repo reproduce/pytorch "
         "\\\n"
         "  --good " +
         input.good.commit->str() + " --bad " + input.bad.commit->str() +
         " \\\n"
         "  --threshold " +
         percent(input.search_threshold) + (higher ? " --direction higher" : "") +
         " \\\n"
         "  --build 'sh \"$HERE/reproduce/build.sh\"' \\\n"
         "  --measure " +
         shell_word(measured) + "\n";
}

Reproduction single_commits(const ReportInput& input) {
  if (!input.good.commit || !input.bad.commit || !(input.over_good || input.over_bad)) return {};
  Reproduction steps{
      {"\nA single commit's build is a wheel of its native group with the commit's Python files "
       "over it. As far as the last good or the first bad wheel serves, this makes it:\n",
       "git clone " + shell_word(input.repository) + " reproduce/pytorch\n" + build_script(input)}};
  if (input.culprit)
    steps.push_back({"\nThe change itself, and the commits right before and after it:\n",
                     "git -C reproduce/pytorch show --stat " +
                         input.culprit->commits.back().sha.str() + "\n" + boundary(input)});
  if (can_be_searched(input.series.front().metric))
    steps.push_back({"\nThe search:\n", search(input)});
  return steps;
}

// Gives the steps for a package other than PyTorch: its wheels are installed beside the PyTorch of
// a Python, and its workload is defined in the operator's file alone.
Reproduction beside_torch(const ReportInput& input) {
  if (input.good.wheel.empty() || input.bad.wheel.empty()) return {{no_wheels, ""}};
  const auto measured = [&](const ReportBuild& build) {
    return "\"$PYTHON\" -m pip install --quiet --no-deps --force-reinstall " +
           shell_word(build.wheel) + "\n  build/bin/" +
           measure(input, "\"$PYTHON\"", runs_of_turn) + " --commands \"$COMMANDS\"";
  };
  return {
      {"Type this in a checkout of Nightjar that `deploy/build` has made ready. `PYTHON` names a "
       "Python with PyTorch in which the package may be replaced, and `COMMANDS` the file that "
       "describes the workload:\n",
       "mkdir -p reproduce\n" + in_turns("old", measured(input.good), "new", measured(input.bad)) +
           compare(input, "old", "new")},
      {"\nA single commit's wheel is made by `nightjar-runner build COMMIT` with the project's "
       "recipe.\n",
       ""}};
}

}  // namespace

Reproduction reproduction(const ReportInput& input) {
  if (input.package != "torch") return beside_torch(input);
  const std::string ends = both_ends(input);
  if (ends.empty()) return {{no_wheels, ""}};
  const ReportSeries& lead = input.series.front();
  Reproduction steps{
      {"Type this in a checkout of Nightjar that `deploy/build` has made ready. Every build gets a "
       "virtual environment of its own below `reproduce`. Both ends, measured in turns:\n",
       ends},
      {"\nCompare with what was found on this machine class: " + plain(brief_change(lead)) +
           change_in_brackets(lead) + ".\n" + kept_wheels(input),
       ""}};
  for (ReproductionStep& step : single_commits(input)) steps.push_back(std::move(step));
  return steps;
}

std::string reproduction_section(const ReportInput& input) {
  std::string text = "\n## Reproduce\n\n";
  for (const ReproductionStep& step : reproduction(input)) {
    text += step.said;
    if (!step.commands.empty()) text += "\n```sh\n" + step.commands + "```\n";
  }
  return text;
}

}  // namespace nightjar::service
