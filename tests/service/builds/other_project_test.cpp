// A project that is not PyTorch, from its wheel's name to the environment that measures it.
#include <catch2/catch.hpp>

#include "service/builds/directory_source.hpp"
#include "service/builds/discovery.hpp"
#include "service/builds/native_state.hpp"
#include "service/builds/overlay.hpp"
#include "service/builds/wheel_name.hpp"
#include "tests/service/builds/support.hpp"
#include "tests/support/literal_graph.hpp"
#include "tests/support/manual_clock.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;

namespace {

Project scatter() {
  Project project;
  project.name = project.package = project.module = "torch_scatter";
  project.version_file = "";
  project.overlay = {"torch_scatter/"};
  return project;
}

const nightjar::test::Members scatter_files = {{"torch_scatter/__init__.py", "VALUE = 1\n"}};

}  // namespace

TEST_CASE("paths of another project are told apart by its folders") {
  struct Row {
    const char* path;
    PathEffect effect;
  };
  const auto row = GENERATE(values<Row>({
      {"torch_scatter/scatter.py", PathEffect::python},
      {"torch_scatter/typing.pyi", PathEffect::python},
      {"torch_scatter/table.json", PathEffect::native},
      {"torch_scatter/README.md", PathEffect::native},  // installed: its package may read it
      {"csrc/cpu/scatter_cpu.cpp", PathEffect::native},
      {"setup.py", PathEffect::native},
      {"third_party/parallel-hashmap", PathEffect::native},
      {"torch/nn/linear.py", PathEffect::native},  // PyTorch's paths mean nothing here
      {"README.md", PathEffect::none},
      {"CHANGELOG", PathEffect::none},
      {"LICENSE", PathEffect::none},
      {"csrc/LICENSE_GENERATOR.cpp", PathEffect::native},
      {"docs/source/index.rst", PathEffect::none},
      {"test/test_scatter.py", PathEffect::none},
      {"benchmark/scatter_segment.py", PathEffect::none},
      {".github/workflows/testing.yml", PathEffect::none},
  }));
  INFO(row.path);
  CHECK(classify(row.path, scatter()) == row.effect);
  CHECK(installed_path(row.path, scatter()) == row.path);
}

TEST_CASE("the version file of another project is written by its build") {
  Project vision = scatter();
  vision.version_file = "torch_scatter/version.py";
  CHECK(classify("torch_scatter/version.py", vision) == PathEffect::none);
  CHECK(classify("torch_scatter/version.py", scatter()) == PathEffect::python);
}

TEST_CASE("states by the rules of one project are no states by another's") {
  Project more = scatter(), reordered = scatter(), versioned = scatter();
  more.overlay.push_back("extra/");
  reordered.overlay = {"extra/", "torch_scatter/"};
  versioned.version_file = "torch_scatter/version.py";
  CHECK(path_rules({}) == 1);
  CHECK(path_rules(scatter()) > 1);
  CHECK(path_rules(scatter()) == path_rules(scatter()));
  CHECK(path_rules(more) == path_rules(reordered));  // an order means nothing
  CHECK(path_rules(more) != path_rules(scatter()));
  CHECK(path_rules(versioned) != path_rules(scatter()));
}

TEST_CASE("a native group of another project is made of its own native files") {
  git::LiteralGraph graph;
  const CommitSha first =
      graph.commit("main", "Begin", {{"torch_scatter/a.py", "1"}, {"csrc/a.cpp", "1"}});
  const CommitSha python = graph.commit("main", "Python", {{"torch_scatter/a.py", "2"}});
  const CommitSha native = graph.commit("main", "C++", {{"csrc/a.cpp", "2"}});
  NativeStates states(graph, scatter()), as_pytorch(graph, {});
  CHECK(states.of(first)->native == states.of(python)->native);
  CHECK(states.of(first)->native == states.of(python)->library);
  CHECK_FALSE(states.of(python)->native == states.of(native)->native);
  CHECK(states.of(first)->rules == path_rules(scatter()));
  CHECK_FALSE(as_pytorch.of(first)->native == as_pytorch.of(python)->native);
}

TEST_CASE("a version names a commit beside its variant") {
  struct Row {
    const char* local;
    const char* variant;
    const char* commit;
  };
  const auto row = GENERATE(values<Row>({{"cpu.g1a2b3c4", "cpu", "1a2b3c4"},
                                         {"g1a2b3c4d5e6f", "", "1a2b3c4d5e6f"},
                                         {"git1234567", "", "1234567"},
                                         {"pt213.cpu.g1a2b3c4", "pt213.cpu", "1a2b3c4"},
                                         {"cpu", "cpu", ""},
                                         {"cpu.1234567", "cpu.1234567", ""},
                                         {"g12345", "g12345", ""},
                                         {"gfx1100", "gfx1100", ""},
                                         {"", "", ""}}));
  INFO(row.local);
  CHECK(local_parts(row.local).variant == row.variant);
  CHECK(local_parts(row.local).commit == row.commit);
}

namespace {

// A directory with wheels of the package, and a service that watches it.
struct Shelf {
  nightjar::test::ScratchFolder folder;
  ManualClock clock{*parse_rfc3339("2026-08-20T12:00:00Z")};
  git::LiteralGraph graph;
  CommitSha commit = graph.commit("main", "Begin", {{"torch_scatter/__init__.py", "1"}});
  Artifacts artifacts{folder / "artifacts", 1 << 20, clock};
  storage::Database db = storage::Database::open_writer(":memory:");
  Config config;

  Shelf() {
    std::filesystem::create_directories(folder / "wheels");
    config.project = scatter();
    config.repository.url = "the repository";
    config.source.directory = folder / "wheels";
  }
  void add(const std::string& version, const std::string& tags = "cp311-cp311-linux_x86_64",
           const std::string& metadata_name = "torch-scatter") {
    const std::string info = "torch_scatter-" + version + ".dist-info";
    auto members = scatter_files;
    members.push_back({info + "/METADATA", "Metadata-Version: 2.1\nName: " + metadata_name +
                                               "\nVersion: " + version + "\n\n"});
    members.push_back({info + "/WHEEL", "Wheel-Version: 1.0\nTag: " + tags + "\n"});
    nightjar::test::write_wheel(
        folder / "wheels" / ("torch_scatter-" + version + "-" + tags + ".whl"), members, info);
  }
  std::string named(const std::string& day, const CommitSha& sha) const {
    return "2.1.2.dev202608" + day + "+cpu.g" + sha.str();
  }
  std::optional<Build> look() {
    const auto source = make_source(config.source, config.project.package);
    return Discovery(*source, graph, artifacts, config, clock).tick(db).settled;
  }
};

}  // namespace

TEST_CASE_METHOD(Shelf, "a wheel whose version names its commit is proved and can be measured") {
  add(named("19", commit));
  const auto build = look();
  REQUIRE(build);
  CHECK(build->reason == "");
  REQUIRE(build->state == BuildState::proved);
  CHECK(build->commit == commit);
  CHECK(build->variant == "cpu");
  CHECK(build->date == "2026-08-19");
  const EnvironmentSpec spec = environment_of(*build, config.project);
  CHECK(spec.module == "torch_scatter");
  CHECK(spec.version == named("19", commit));
  CHECK(spec.git_version == "");  // a module does not have one
}

TEST_CASE_METHOD(Shelf, "a wheel for any Python, with one variant only, is a build of it too") {
  add("2.1.2.dev20260819+g" + commit.str(), "py3-none-any");
  const auto build = look();
  REQUIRE(build);
  CHECK(build->state == BuildState::proved);
  CHECK(build->variant == "cpu");
}

TEST_CASE_METHOD(Shelf, "a wheel that does not say its commit is kept, with what to do") {
  add("2.1.2.dev20260819+cpu");
  CHECK_THAT(look()->reason, Contains("does not name a commit, as in"));
}

TEST_CASE_METHOD(Shelf, "a wheel of a commit that is not on main proves nothing") {
  const CommitSha request = graph.commit("pull/7", "Try something", {{"a", "1"}});
  add(named("18", request));
  CHECK_THAT(look()->reason, Contains("which is not on main"));
  add("2.1.2.dev20260819+cpu.g9999999");
  CHECK_THAT(look()->reason, Contains("is not one commit of the repository"));
  add(named("20", commit), "cp311-cp311-linux_x86_64", "another");
  const auto another = look();
  CHECK_THAT(another->reason,
             Contains("METADATA is of 'another', not torch_scatter; check [project] package"));
  CHECK(another->state == BuildState::unusable);
}

TEST_CASE_METHOD(Shelf, "wheels of other packages, variants and Pythons are not listed") {
  add("2.1.2.dev20260819+cu130.g" + commit.str());
  add(named("19", commit), "cp312-cp312-linux_x86_64");
  add("2.1.2+cpu.g" + commit.str());  // no nightly
  nightjar::test::WheelRecipe{}.write(folder / "wheels");
  CHECK_FALSE(look());
  const auto source = make_source(config.source, config.project.package);
  Discovery discovery(*source, graph, artifacts, config, clock);
  CHECK_THAT(discovery.survey(discovery.known(db)).source_failure,
             Contains("lists no wheel of torch_scatter of variant cpu for cp311; check [source] "
                      "directory, variant and python_tag, and [project] package"));
}
