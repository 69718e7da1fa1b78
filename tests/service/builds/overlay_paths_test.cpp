// What becomes of files that a commit deletes, renames, packages or generates.
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "service/builds/overlay.hpp"
#include "service/builds/overlay_archive.hpp"
#include "tests/service/builds/support.hpp"
#include "tests/support/literal_graph.hpp"
#include "tests/support/manual_clock.hpp"
#include "web/secret.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using Paths = std::vector<std::string>;

namespace {

struct PathsWorld {
  git::LiteralGraph graph;
  CommitSha first = graph.commit("main", "Begin",
                                 {{"torch/__init__.py", "1"},
                                  {"torch/a.py", "1"},
                                  {"torch/nn/__init__.py", "1"},
                                  {"torch/nn/linear.py", "1"},
                                  {"torch/nn/deep/__init__.py", "1"},
                                  {"torch/nn/deep/x.py", "1"},
                                  {"torch/nn/deep/x.pyi", "1"},
                                  {"torch/scripts/run.py", "1"},
                                  {"torch/scripts/inner/__init__.py", "1"},
                                  {"torch/scripts/inner/y.py", "1"},
                                  {"torch/csrc/engine.cpp", "1"},
                                  {"torch/csrc/api/include/torch/nn.h", "1"},
                                  {"torch/csrc/api/include/torch/old.h", "1"},
                                  {"torchgen/gen.py", "1"}});

  static Build wheel(std::int64_t id, const CommitSha& commit) {
    Build build;
    build.id = BuildId{id};
    build.version = "2.15.0.dev2026082" + std::to_string(id) + "+cpu";
    build.variant = "cpu";
    build.url = "https://h/torch-" + build.version + "-cp311-cp311-linux_x86_64.whl";
    build.commit = commit;
    build.sha256 = web::sha256(build.version);
    build.state = BuildState::proved;
    return build;
  }
  CommitSha change(const git::LiteralGraph::Changes& changes) {
    return graph.commit("main", "Change", changes);
  }
  std::variant<OverlayPlan, NoOverlay> try_over_first(const git::LiteralGraph::Changes& changes,
                                                      OverlayUse use = OverlayUse::any_workload) {
    const Build base = wheel(1, first);
    return plan_overlay(graph, {&base, 1}, change(changes), {}, use);
  }
  OverlayPlan over_first(const git::LiteralGraph::Changes& changes,
                         OverlayUse use = OverlayUse::any_workload) {
    const auto plan = try_over_first(changes, use);
    if (const auto* none = std::get_if<NoOverlay>(&plan)) FAIL(none->reason);
    return std::get<OverlayPlan>(plan);
  }
  std::string reason(const git::LiteralGraph::Changes& changes,
                     OverlayUse use = OverlayUse::any_workload) {
    const auto plan = try_over_first(changes, use);
    const auto* none = std::get_if<NoOverlay>(&plan);
    return none ? none->reason : "";
  }
};

}  // namespace

TEST_CASE_METHOD(PathsWorld, "a deleted file is removed from the environment") {
  const OverlayPlan plan = over_first({{"torch/a.py", std::nullopt}});
  CHECK(plan.files.empty());
  CHECK(plan.removed == Paths{"torch/a.py"});
}

TEST_CASE_METHOD(PathsWorld, "a renamed file is there under its new name only") {
  const OverlayPlan plan = over_first({{"torch/a.py", std::nullopt}, {"torch/b.py", "1"}});
  CHECK(plan.files == Paths{"torch/b.py"});
  CHECK(plan.removed == Paths{"torch/a.py"});
  CHECK_THAT(reason({{"torch/csrc/engine.cpp", std::nullopt}, {"torch/engine.py", "1"}}),
             Contains("torch/csrc/engine.cpp differs"));
}

TEST_CASE_METHOD(PathsWorld,
                 "a new package is laid over whole, a folder that is none is not installed") {
  CHECK(over_first({{"torch/new/__init__.py", ""}, {"torch/new/x.py", "1"}}).files ==
        Paths{"torch/new/__init__.py", "torch/new/x.py"});
  CHECK(over_first({{"torch/new/__init__.py", std::nullopt},
                    {"torch/new/x.py", std::nullopt},
                    {"torch/tools/x.py", "1"}})
            .files.empty());
}

TEST_CASE_METHOD(PathsWorld,
                 "a folder that becomes a package takes with it what lies there already") {
  const OverlayPlan plan = over_first({{"torch/scripts/__init__.py", ""}});
  CHECK(plan.files == Paths{"torch/scripts/__init__.py", "torch/scripts/inner/__init__.py",
                            "torch/scripts/inner/y.py", "torch/scripts/run.py"});
}

TEST_CASE_METHOD(PathsWorld, "a folder that is a package no longer loses its Python files") {
  const OverlayPlan plan = over_first({{"torch/nn/deep/__init__.py", std::nullopt}});
  CHECK(plan.removed == Paths{"torch/nn/deep/__init__.py", "torch/nn/deep/x.py"});
  CHECK(plan.files == Paths{"torch/nn/deep/x.pyi"});  // type stubs are installed wherever they lie
}

TEST_CASE_METHOD(PathsWorld, "what the build generates is never taken from the tree") {
  CHECK(over_first({{"torch/version.py", "git_version = 'nonsense'"}}).files.empty());
  CHECK_THAT(reason({{"torchgen/gen.py", "2"}}), Contains("torchgen/gen.py differs"));
  CHECK_THAT(reason({{"torchgen/gen.py", "1"}, {"torch/nn/functional.pyi.in", "1"}}),
             Contains("torch/nn/functional.pyi.in differs"));
  CHECK(over_first({{"torch/nn/functional.pyi.in", std::nullopt}, {"torch/_VF.pyi", "1"}}).files ==
        Paths{"torch/_VF.pyi"});
}

TEST_CASE_METHOD(PathsWorld,
                 "package data is laid over, and data that setup.py does not list is native") {
  const OverlayPlan plan = over_first({{"torch/_inductor/kernel/flex/templates/flex.py.jinja", "1"},
                                       {"torch/_export/serde/schema.yaml", "1"},
                                       {"torch/_dynamo/graph_break_registry.json", "1"},
                                       {"torch/utils/model_dump/code.js", "1"}});
  CHECK(plan.files == Paths{"torch/_dynamo/graph_break_registry.json",
                            "torch/_export/serde/schema.yaml",
                            "torch/_inductor/kernel/flex/templates/flex.py.jinja",
                            "torch/utils/model_dump/code.js"});
  CHECK(over_first({{"torch/utils/model_dump/code.js", std::nullopt}}).files.size() == 3);
  CHECK_THAT(reason({{"torch/_dynamo/other.json", "1"}}), Contains("torch/_dynamo/other.json"));
}

TEST_CASE_METHOD(PathsWorld,
                 "a header is laid over for native workloads, where the wheel installs it") {
  const git::LiteralGraph::Changes headers = {{"torch/csrc/api/include/torch/nn.h", "2"},
                                              {"torch/csrc/api/include/torch/old.h", std::nullopt},
                                              {"torch/a.py", "2"}};
  CHECK_THAT(reason(headers), Contains("torch/csrc/api/include/torch/nn.h differs"));
  const OverlayPlan plan = over_first({{"docs/x.rst", "1"}}, OverlayUse::native_workload);
  CHECK(plan.headers);
  CHECK(plan.files == Paths{"torch/a.py", "torch/csrc/api/include/torch/nn.h"});
  CHECK(plan.removed == Paths{"torch/include/torch/csrc/api/include/torch/old.h"});

  const nightjar::test::ScratchFolder scratch;
  ManualClock clock{*parse_rfc3339("2026-08-20T00:00:00Z")};
  Artifacts artifacts(scratch / "artifacts", 1 << 20, clock);
  const Build made = make_overlay(graph, plan, {}, artifacts, clock);
  const EnvironmentSpec spec = environment_of(made, plan.base, artifacts, {});
  CHECK(spec.overlay->removed == plan.removed);
  const auto archive = artifacts.path(*made.sha256);
  REQUIRE(archive);
  std::ostringstream tar;
  tar << std::ifstream(*archive).rdbuf();
  CHECK_THAT(tar.str(), Contains("torch/include/torch/csrc/api/include/torch/nn.h"));

  CHECK_THAT(reason({{"c10/core/Device.h", "1"}}, OverlayUse::native_workload),
             Contains("c10/core/Device.h differs"));
}

TEST_CASE_METHOD(PathsWorld,
                 "a wheel with the commit's own headers is preferred, then the nearest") {
  const CommitSha header = change({{"torch/csrc/api/include/torch/nn.h", "2"}});
  const CommitSha python = change({{"torch/a.py", "2"}, {"torch/nn/linear.py", "2"}});
  const CommitSha target = change({{"torch/a.py", "1"}, {"torch/nn/linear.py", "1"}});
  const auto base_of = [&](std::vector<Build> wheels, OverlayUse use) {
    const auto plan = plan_overlay(graph, wheels, target, {}, use);
    REQUIRE(std::holds_alternative<OverlayPlan>(plan));
    return std::get<OverlayPlan>(plan).base.id.value;
  };
  const Build before = wheel(1, first), own = wheel(2, header), far = wheel(3, python);
  CHECK(base_of({before, far}, OverlayUse::native_workload) == 3);  // though it needs more files
  CHECK(base_of({before, own, far}, OverlayUse::any_workload) == 2);
  const CommitSha again = change({{"docs/x.rst", "1"}});
  const Build near = wheel(4, again);
  CHECK(base_of({own, near}, OverlayUse::any_workload) == 4);
  CHECK(base_of({near, own}, OverlayUse::any_workload) == 4);
}
