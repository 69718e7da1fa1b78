// Reports of the two regressions that every test of this folder tells about, and golden files.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "service/report/report.hpp"
#include "tests/support/source_tree.hpp"

namespace nightjar::service::examples {

inline CommitSha sha(char digit) {
  return *CommitSha::parse(std::string(40, digit));
}

inline ReportCommit commit(char digit, std::string subject, std::string author) {
  return {sha(digit), std::move(subject), std::move(author),
          *parse_rfc3339("2026-08-19T14:03:11Z")};
}

// soft_actor_critic is 23 % slower in two series, one commit did it.
inline ReportInput redundant_check() {
  ReportInput input;
  input.regression = 7;
  input.repository = "https://github.com/pytorch/pytorch.git";
  input.details_url = "http://127.0.0.1:8187/#/regressions/7";
  input.evidence_url = "http://127.0.0.1:8187/api/v1/regressions/7/evidence";
  input.found_on = "2026-08-20";
  input.series = {{"python/soft_actor_critic/act/cpu/fp32/b1/eager", "latency", 4.103e-4, 5.047e-4,
                   1.23, 1.21, 1.252},
                  {"python/soft_actor_critic/update/cpu/fp32/b256/eager", "latency", .02051, .02242,
                   1.093, 1.075, 1.111}};
  input.classes = {{{MachineId{1}, "", ClassState::seen, NightId{3}, 1.23, 1.21, 1.252},
                    "machine class 1 (Intel(R) Xeon(R) @ 2.80GHz)",
                    "2026-08-20"},
                   {{MachineId{2}, "NVIDIA A100", ClassState::not_looked_for, {}, {}, {}, {}},
                    "machine class 2 (AMD EPYC 7V12)",
                    ""},
                   {{MachineId{3}, "", ClassState::not_seen, {}, 1.004, {}, {}},
                    "machine class 3 (AMD EPYC 9R14)",
                    ""},
                   {{MachineId{4}, "NVIDIA L4", ClassState::seen, NightId{5}, 1.18, 1.18, 1.18},
                    "machine class 4",
                    "2026-08-22"}};
  input.culprit = ReportCulprit{
      {commit('b', "Validate arguments of Normal | again, as @soulitzer asked in #60001 (#61056)",
              "Jane Doe")},
      .9962,
      1.228,
      1.209,
      1.246};
  input.fingerprint = fingerprint_of(input.repository, std::vector{sha('b')});
  input.rule = "one step holds 99.6 % of the posterior and was confirmed in a fresh session";
  input.good = {"2.15.0.dev20260819+cpu", sha('a'), sha('1'),
                "torch-2.15.0.dev20260819+cpu-cp311-cp311-linux_x86_64.whl", ""};
  input.bad = {"2.15.0.dev20260820+cpu", sha('e'), sha('2'),
               "torch-2.15.0.dev20260820+cpu-cp311-cp311-linux_x86_64.whl", ""};
  input.index = "https://download.pytorch.org/whl/nightly/cpu";
  input.good.kept = "http://127.0.0.1:8187/api/v1/artifacts/" + std::string(64, 'a');
  input.bad.kept = "http://127.0.0.1:8187/api/v1/artifacts/" + std::string(64, 'e');
  input.over_good = sha('c');
  input.over_bad = sha('b');
  input.range_commits = 44;
  input.runs = 58;
  input.sessions = 4;
  input.builds_made = 6;
  input.runner = "lab-01";
  input.machine = {{"cpu_model", "Intel(R) Xeon(R) @ 2.80GHz"}, {"cpu_count", "2"}};
  input.differences = std::vector<ReportDifference>{};
  input.tested = {{sha('a'), "Tidy up (#61040)", 14, 1.0, ""},
                  {sha('c'), "Refactor `foo` <script>", 0, std::nullopt, "ImportError: no module x",
                   UntestableCause::does_not_import},
                  {sha('d'), "[docs] mention @pytorch/core and fixes #12", 6, 1.004, ""},
                  {sha('b'), "Validate arguments of Normal | again (#61056)", 12, 1.226, ""},
                  {sha('e'), "Bump version", 26, 1.231, ""}};
  input.alternatives = {{"", {sha('c'), sha('d')}, .0031}, {"no change", {}, .0004}};
  return input;
}

// Memory that is never given back, by one of three commits of which two do not build; the
// environment changed too.
inline ReportInput leak() {
  ReportInput input = redundant_check();
  input.regression = 8;
  input.repository = "/srv/mirror/pytorch";
  input.classes.clear();
  input.details_url.clear();
  input.evidence_url.clear();
  input.index.clear();
  input.good.kept.clear();
  input.bad.kept.clear();
  input.over_good = sha('e');
  input.over_bad.reset();
  input.series = {
      {"native/resnet18/train/cpu/fp32/b4/eager", "peak_cpu_memory", 241172480., 293601280., 1.2174,
       1.2150, 1.2201},
      {"native/resnet18/train/cpu/fp32/b4/eager", "leaked_memory", 0., 1258291.2, 1, 1, 1}};
  input.leak = ReportLeak{"leaked_memory", 1258291.2, 1205862.4, 1310720};
  input.culprit = ReportCulprit{{commit('c', "Cache the workspace (#85447)", "Li Wei"),
                                 commit('d', "Revert \"Cache the workspace (#85447)\"", "Li Wei"),
                                 commit('f', "Reland the workspace cache", "Li Wei")},
                                .9999,
                                1.217,
                                1.214,
                                1.221};
  input.fingerprint = fingerprint_of(input.repository, std::vector{sha('c'), sha('d'), sha('f')});
  input.differences =
      std::vector<ReportDifference>{{"triton", "3.5.0", "3.6.0"}, {"numpy", "", "2.3.1"}};
  input.tested = {{sha('a'), "Tidy up (#61040)", 3, 1.0, ""},
                  {sha('c'), "Cache the workspace (#85447)", 0, std::nullopt, "",
                   UntestableCause::does_not_compile},
                  {sha('d'), "Revert \"Cache the workspace (#85447)\"", 0, std::nullopt, "",
                   UntestableCause::does_not_compile},
                  {sha('f'), "Reland the workspace cache", 3, 1.218, ""}};
  input.alternatives.clear();
  return input;
}

// resnet18 is slower within five commits, of which no build is here.
inline ReportInput native_range() {
  ReportInput input = redundant_check();
  input.classes.clear();
  input.regression = 9;
  input.culprit.reset();
  ReportCulprit range{{}, .9871, 1.228, 1.209, 1.246};
  for (const char digit : {'b', 'c', 'd', 'f', 'e'})
    range.commits.push_back(commit(digit, "Change the kernels @pytorch/core (#6105)", "Jane Doe"));
  input.fingerprint = fingerprint_of(input.repository,
                                     std::vector{sha('b'), sha('c'), sha('d'), sha('f'), sha('e')});
  input.range = std::move(range);
  input.range_obstacles = {
      "no build here: none of the 2 proved wheels of variant cpu here (nightly, ci, source) is of "
      "its native group 0123456789ab; aten/src/ATen/Add.cpp differs from 2.15.0.dev20260819+cpu "
      "and "
      "needs a native build",
      "does not import: ImportError: no module x"};
  input.tested = {{sha('a'), "Tidy up (#61040)", 14, 1.0, ""},
                  {sha('c'), "Change the kernels", 0, std::nullopt, "none of the 2 proved wheels",
                   UntestableCause::no_build_here},
                  {sha('e'), "Bump version", 26, 1.231, ""}};
  return input;
}

// Compares with tests/service/report/golden/<name>; NIGHTJAR_UPDATE_GOLDEN=1 writes it instead.
inline std::string golden(const std::string& name, const std::string& actual) {
  const auto path = nightjar::test::source_tree() / "tests/service/report/golden" / name;
  if (std::getenv("NIGHTJAR_UPDATE_GOLDEN")) std::ofstream(path) << actual;
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace nightjar::service::examples
