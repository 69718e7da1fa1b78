#include "service/builds/proof.hpp"

#include <functional>
#include <map>

#include <catch2/catch.hpp>

#include "tests/support/literal_graph.hpp"
#include "web/secret.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;

namespace {

// Two days of main, a nightly of each, and a pull request. What a test changes makes it a lie.
struct ProofWorld {
  git::LiteralGraph graph;
  Config::Repository branches{"repo", "main", "nightly"};
  CommitSha early = graph.commit("main", "Begin", {{"a", "1"}});
  CommitSha first_release = graph.release("nightly", "2026-08-19", early);
  CommitSha late = graph.commit("main", "Go on (#12)", {{"a", "2"}});
  CommitSha release = graph.release("nightly", "2026-08-20", late);
  CommitSha after = graph.commit("main", "Later", {{"a", "3"}});
  CommitSha pull_request = graph.commit("pull/77", "Try something", {{"a", "4"}});
  Sha256 file_hash = web::sha256("wheel");
  Build build;
  WheelFacts facts;
  Project project;

  ProofWorld() {
    graph.fetch();
    build.version = "2.15.0.dev20260820+cpu";
    build.variant = "cpu";
    build.date = "2026-08-20";
    build.url = "https://h/torch-2.15.0.dev20260820%2Bcpu-cp311-cp311-linux_x86_64.whl";
    facts.metadata_name = "torch";
    facts.metadata_version = build.version;
    facts.version_file.version = build.version;
    facts.version_file.git_version = release.str();
  }
  std::variant<Proved, Unproved> prove() const {
    return service::prove(build, file_hash, facts, graph, branches, project);
  }
  void date(const std::string& date, const std::string& digits) {
    build.date = date;
    build.version = "2.15.0.dev" + digits + "+cpu";
    build.url = "https://h/torch-" + build.version + "-cp311-cp311-linux_x86_64.whl";
    facts.metadata_version = facts.version_file.version = build.version;
  }
};

}  // namespace

TEST_CASE("a wheel whose parts agree is proved, with the main commit that its nightly names") {
  ProofWorld world;
  world.build.sha256 = world.file_hash;
  const auto verdict = world.prove();
  REQUIRE(std::holds_alternative<Proved>(verdict));
  CHECK(std::get<Proved>(verdict).commit == world.late);
  CHECK(std::get<Proved>(verdict).git_version == world.release);
}

TEST_CASE("a build that started before or after midnight is still of its release") {
  ProofWorld world;
  SECTION("built a day after the release") {
    world.date("2026-08-21", "20260821");
  }
  SECTION("built a day before") {
    world.date("2026-08-19", "20260819");
  }
  CHECK(std::holds_alternative<Proved>(world.prove()));
}

TEST_CASE("a git_version that is a main commit itself is proved") {
  ProofWorld world;
  world.facts.version_file.git_version = world.early.str();
  const auto verdict = world.prove();
  REQUIRE(std::holds_alternative<Proved>(verdict));
  CHECK(std::get<Proved>(verdict).commit == world.early);
  CHECK(std::get<Proved>(verdict).git_version == world.early);
}

TEST_CASE("a wheel of a GPU variant is proved by what it was built for") {
  ProofWorld world;
  world.build.variant = "cu130";
  world.facts.version_file.cuda = "13.0";
  CHECK(std::holds_alternative<Proved>(world.prove()));
  world.build.variant = "rocm7.2";
  world.facts.version_file.cuda.reset();
  world.facts.version_file.hip = "7.2.1";
  CHECK(std::holds_alternative<Proved>(world.prove()));
}

TEST_CASE("a wheel that disagrees with itself or with history is unproved, with the reason") {
  struct Row {
    const char* reason;
    std::function<void(ProofWorld&)> lie;
  };
  const auto row = GENERATE(values<Row>({
      {"the index says SHA-256", [](ProofWorld& w) { w.build.sha256 = web::sha256("other"); }},
      {"METADATA is of 'torchvision'",
       [](ProofWorld& w) { w.facts.metadata_name = "torchvision"; }},
      {"METADATA says version 2.14.0", [](ProofWorld& w) { w.facts.metadata_version = "2.14.0"; }},
      {"version.py says version 2.14.0",
       [](ProofWorld& w) { w.facts.version_file.version = "2.14.0"; }},
      {"is not version",
       [](ProofWorld& w) { w.build.url = "https://h/torch-2.14.0-cp311-cp311-any.whl"; }},
      {"of variant cpu, but was built for CUDA 13.0",
       [](ProofWorld& w) { w.facts.version_file.cuda = "13.0"; }},
      {"of variant cu130, but was built for the CPU only",
       [](ProofWorld& w) { w.build.variant = "cu130"; }},
      {"of variant cu126, but was built for CUDA 13.0",
       [](ProofWorld& w) { w.build.variant = "cu126", w.facts.version_file.cuda = "13.0"; }},
      {"of variant rocm7.2, but", [](ProofWorld& w) { w.build.variant = "rocm7.2"; }},
      {"no commit", [](ProofWorld& w) { w.facts.version_file.git_version.reset(); }},
      {"'Unknown', no commit", [](ProofWorld& w) { w.facts.version_file.git_version = "Unknown"; }},
      {"on neither main nor nightly",
       [](ProofWorld& w) { w.facts.version_file.git_version = std::string(40, 'f'); }},
      {"(Try something) is neither a nightly release nor on main",
       [](ProofWorld& w) { w.facts.version_file.git_version = w.pull_request.str(); }},
      {"calls itself a nightly release but is not on nightly",
       [](ProofWorld& w) {
         w.facts.version_file.git_version = w.graph.release("fork", "2026-08-20", w.late).str();
         w.graph.fetch();
       }},
      {"names",
       [](ProofWorld& w) {
         w.facts.version_file.git_version =
             w.graph.release("nightly", "2026-08-20", w.pull_request).str();
         w.graph.fetch();
       }},
      {"has another tree than",
       [](ProofWorld& w) {
         w.facts.version_file.git_version =
             w.graph.commit("nightly", "2026-08-20 nightly release (" + w.early.str() + ")").str();
         w.graph.fetch();
       }},
      {"is of 2026-08-20, its version of 2026-08-22",
       [](ProofWorld& w) { w.date("2026-08-22", "20260822"); }},
  }));
  INFO(row.reason);
  ProofWorld world;
  row.lie(world);
  const auto verdict = world.prove();
  REQUIRE(std::holds_alternative<Unproved>(verdict));
  CHECK_THAT(std::get<Unproved>(verdict).reason, Contains(row.reason));
}

namespace {

// A wheel of CI for `late`, compiled from it or from an older commit.
struct CiProofWorld : ProofWorld {
  std::map<CommitSha, Sha256> states;

  CiProofWorld() { name_as(late); }
  void name_as(const CommitSha& commit) {
    build.version = "2.15.0a0+git" + commit.str().substr(0, 7);
    build.url = "https://b/artifacts.zip!/dist/torch-2.15.0a0%2Bgit" + commit.str().substr(0, 7) +
                "-cp311-cp311-linux_x86_64.whl";
    facts.metadata_version = facts.version_file.version = build.version;
    facts.version_file.git_version = late.str();
  }
  std::string verdict(const CommitSha& head) const {
    const auto found = prove_ci(build, head, facts, graph, branches,
                                [this](const CommitSha& commit) -> std::optional<Sha256> {
                                  const auto at = states.find(commit);
                                  if (at == states.end()) return std::nullopt;
                                  return at->second;
                                });
    const auto* unproved = std::get_if<Unproved>(&found);
    return unproved ? unproved->reason : "proved " + std::get<Proved>(found).git_version.str();
  }
};

}  // namespace

TEST_CASE_METHOD(CiProofWorld, "a wheel of CI is of the run's head, which is on main") {
  CHECK(verdict(late) == "proved " + late.str());
  CHECK_THAT(verdict(*CommitSha::parse(std::string(40, '7'))), Contains("does not name"));
  name_as(pull_request);
  facts.version_file.git_version = pull_request.str();
  CHECK_THAT(verdict(pull_request), Contains("is not on main"));
  name_as(late);
  facts.version_file.git_version = "Unknown";
  CHECK_THAT(verdict(late), Contains("'Unknown', no commit"));
  name_as(late);
  facts.metadata_version = "2.15.0a0+git7777777";
  CHECK_THAT(verdict(late), Contains("its METADATA says version"));
}

TEST_CASE_METHOD(CiProofWorld, "a reused wheel of CI needs equal native states of both commits") {
  facts.version_file.git_version = early.str();
  CHECK_THAT(verdict(late), Contains("their native states are not known"));
  states.emplace(early, web::sha256("one"));
  states.emplace(late, web::sha256("another"));
  CHECK_THAT(verdict(late), Contains("whose native state is not that of"));
  states.at(late) = states.at(early);
  CHECK(verdict(late) == "proved " + early.str());
  facts.version_file.git_version = pull_request.str();
  CHECK_THAT(verdict(late), Contains("is not on main"));
}
