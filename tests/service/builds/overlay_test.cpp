#include "service/builds/overlay.hpp"

#include <clocale>

#include <catch2/catch.hpp>

#include "service/builds/overlay_archive.hpp"
#include "storage/base/foreign_text.hpp"
#include "tests/service/builds/support.hpp"
#include "tests/support/literal_graph.hpp"
#include "tests/support/manual_clock.hpp"
#include "web/secret.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using nightjar::test::ScratchFolder;

namespace {

// A day: good end, Python, documentation, C++, Python again; both ends are nightlies.
struct Day {
  ScratchFolder folder;
  ManualClock clock{*parse_rfc3339("2026-08-20T00:00:00Z")};
  Artifacts artifacts{folder / "artifacts", 1 << 20, clock};
  git::LiteralGraph graph;
  CommitSha first = graph.commit("main", "Begin",
                                 {{"torch/a.py", "a = 1\n"},
                                  {"torch/b.py", "b = 1\n"},
                                  {"torch/csrc/x.cpp", "1"},
                                  {"README.md", "1"}});
  CommitSha python = graph.commit("main", "Python",
                                  {{"torch/a.py", "a = 2\n"},
                                   {"torch/new/__init__.py", ""},
                                   {"torch/new/c.py", "c = 1\n"},
                                   {"torch/b.py", std::nullopt},
                                   {"test/test_a.py", "1"}});
  CommitSha docs = graph.commit("main", "Docs", {{"README.md", "2"}});
  CommitSha native = graph.commit("main", "C++", {{"torch/csrc/x.cpp", "2"}});
  CommitSha last = graph.commit("main", "More Python", {{"torch/a.py", "a = 3\n"}});
  Build good = nightly(1, first, "2.15.0.dev20260819+cpu");
  Build bad = nightly(2, last, "2.15.0.dev20260820+cpu");

  static Build nightly(std::int64_t id, const CommitSha& commit, const std::string& version) {
    Build build;
    build.id = BuildId{id};
    build.version = version;
    build.variant = "cpu";
    build.url = "https://h/torch-" + version + "-cp311-cp311-linux_x86_64.whl";
    build.commit = commit;
    build.nightly_commit = CommitSha::parse(std::string(39, 'e') + std::to_string(id));
    build.sha256 = web::sha256(version);
    build.state = BuildState::proved;
    return build;
  }
  OverlayPlan plan(const CommitSha& commit) const {
    const Build bases[] = {good, bad};
    auto plan = plan_overlay(graph, bases, commit, {});
    REQUIRE(std::holds_alternative<OverlayPlan>(plan));
    return std::get<OverlayPlan>(plan);
  }
};

}  // namespace

TEST_CASE("a path's effect on an installed build is known by its name") {
  struct Row {
    const char* path;
    PathEffect effect;
  };
  using enum PathEffect;
  const auto row = GENERATE(values<Row>({
      {"docs/source/notes.rst", none},
      {"README.md", none},
      {"torch/_inductor/README.md", none},
      {"test/test_nn.py", none},
      {"test/cpp/api/nn.cpp", none},
      {"aten/src/ATen/test/basic.cpp", none},
      {"benchmarks/dynamo/common.py", none},
      {".github/workflows/trunk.yml", none},
      {".github/ci_commit_pins/vision.txt", none},
      {".ci/pytorch/test.sh", none},
      {".lintrunner.toml", none},
      {"CODEOWNERS", none},
      {"tools/linter/adapters/x.py", none},
      {"torch/version.py", none},
      {"torch/nn/modules/linear.py", python},
      {"torch/testing/_internal/common_utils.py", python},
      {"torch/_inductor/kernel/flex/templates/flex.py.jinja", python},
      {"torch/utils/hooks.pyi", python},
      {"functorch/einops/rearrange.py", python},
      {"torch/py.typed", python},
      {"torch/_export/serde/schema.yaml", python},
      {"torch/_inductor/codegen/aoti_runtime/interface.cpp", python},
      {"torch/_inductor/script.ld", python},
      {"torch/_dynamo/graph_break_registry.json", python},
      {"torch/utils/model_dump/code.js", python},
      {"torch/utils/benchmark/utils/valgrind_wrapper/callgrind.h", python},
      {"torch/utils/benchmark/utils/other/callgrind.h", native},
      {"torch/_dynamo/other.json", native},
      {"torch/nn/functional.pyi", python},
      {"torch/nn/functional.pyi.in", native},
      {"torch/csrc/api/include/torch/nn/modules/linear.h", header},
      {"torch/csrc/api/include/torch/version.h.in", native},
      {"torch/csrc/api/src/nn/modules/linear.cpp", native},
      {"torch/csrc/autograd/variable.h", native},
      {"torch/headeronly/util/Half.h", native},
      {"c10/core/TensorImpl.h", native},
      {"aten/src/ATen/TensorIterator.h", native},
      {"torch/csrc/autograd/engine.cpp", native},
      {"torch/csrc/jit/codegen.py", native},
      {"torch/_C/__init__.pyi.in", native},
      {"torch/CMakeLists.txt", native},
      {"torchgen/gen.py", native},
      {"tools/autograd/derivatives.yaml", native},
      {"tools/setup_helpers/cmake.py", native},
      {"aten/src/ATen/native/native_functions.yaml", native},
      {"setup.py", native},
      {"requirements.txt", native},
      {"version.txt", native},
      {"third_party/fbgemm", native},
      {".gitmodules", native},
      {".ci/docker/ci_commit_pins/triton.txt", native},
      {".ci/manywheel/build_cuda.sh", native},
      {".github/scripts/generate_binary_build_matrix.py", native},
      {"something/new.py", native},
      {"", native},
  }));
  INFO(row.path);
  CHECK(classify(row.path, {}) == row.effect);
}

TEST_CASE_METHOD(Day, "a plan takes the changed Python files since the build at hand") {
  const OverlayPlan overlay = plan(python);
  CHECK(overlay.base.id == good.id);
  CHECK(overlay.files ==
        std::vector<std::string>{"torch/a.py", "torch/new/__init__.py", "torch/new/c.py"});
  CHECK(overlay.removed == std::vector<std::string>{"torch/b.py"});
}

TEST_CASE_METHOD(Day, "a commit behind a native change is laid over the other end") {
  const OverlayPlan overlay = plan(native);
  CHECK(overlay.base.id == bad.id);
  CHECK(overlay.files == std::vector<std::string>{"torch/a.py"});
  CHECK(overlay.removed.empty());
}

TEST_CASE_METHOD(Day, "a commit that equals a build but for documentation needs no file at all") {
  const CommitSha later = graph.commit("main", "Docs again", {{"docs/x.rst", "1"}});
  const OverlayPlan overlay = plan(later);
  CHECK(overlay.base.id == bad.id);
  CHECK(overlay.files.empty());
  const Build build = make_overlay(graph, overlay, {}, artifacts, clock);
  const EnvironmentSpec spec = environment_of(build, bad, artifacts, {});
  REQUIRE(spec.overlay);
  CHECK(spec.overlay->removed.empty());
}

TEST_CASE_METHOD(Day, "of two ends that would do, the one with fewer changes is taken") {
  const CommitSha near_end = graph.commit("main", "x", {{"torch/new/d.py", "1"}});
  Build third = nightly(3, near_end, "2.15.0.dev20260821+cpu");
  const CommitSha target = graph.commit("main", "y", {{"torch/a.py", "a = 4\n"}});
  const Build bases[] = {bad, third};
  const auto overlay = plan_overlay(graph, bases, target, {});
  REQUIRE(std::holds_alternative<OverlayPlan>(overlay));
  CHECK(std::get<OverlayPlan>(overlay).base.id == third.id);
}

TEST_CASE_METHOD(Day, "what needs a compiler on both sides is no overlay, and the paths say why") {
  const CommitSha other = graph.commit("side", "C++", {{"c10/y.h", "1"}});
  const Build bases[] = {good, bad};
  const auto overlay = plan_overlay(graph, bases, other, {});
  REQUIRE(std::holds_alternative<NoOverlay>(overlay));
  CHECK_THAT(std::get<NoOverlay>(overlay).reason,
             Contains("c10/y.h differs from 2.15.0.dev20260819+cpu") && Contains("native build"));
  CHECK_THAT(std::get<NoOverlay>(plan_overlay(graph, {}, other, {})).reason, Contains("no build"));
  Build unproved = good;
  unproved.state = BuildState::unproved;
  CHECK_THAT(std::get<NoOverlay>(plan_overlay(graph, {&unproved, 1}, python, {})).reason,
             Contains("is not proved"));
}

TEST_CASE_METHOD(Day, "a changed file whose name is no plain text is no overlay") {
  for (const std::string name : {"torch/\xff.py", "torch/a\n../b.py", "torch/\x1b[2J.py"}) {
    INFO(name);
    const CommitSha odd = graph.commit("main", "Odd", {{name, "1"}});
    const auto refused = plan_overlay(graph, std::span(&bad, 1), odd, {});
    REQUIRE(std::holds_alternative<NoOverlay>(refused));
    const std::string& reason = std::get<NoOverlay>(refused).reason;
    CHECK_THAT(reason, Contains("no plain text"));
    CHECK(reason == one_line(reason));
  }
}

TEST_CASE_METHOD(Day, "an overlay's hash depends on its content only") {
  const Build first_time = make_overlay(graph, plan(python), {}, artifacts, clock);
  clock.advance(std::chrono::hours(24));
  CHECK(make_overlay(graph, plan(python), {}, artifacts, clock).sha256 == first_time.sha256);
  CHECK(make_overlay(graph, plan(docs), {}, artifacts, clock).sha256 == first_time.sha256);
  CHECK(make_overlay(graph, plan(native), {}, artifacts, clock).sha256 != first_time.sha256);
  OverlayPlan keeps_b = plan(python);
  keeps_b.removed.clear();
  CHECK(make_overlay(graph, keeps_b, {}, artifacts, clock).sha256 != first_time.sha256);
}

TEST_CASE_METHOD(Day, "an overlay build says what it is, and its environment what a runner needs") {
  Build build = make_overlay(graph, plan(python), {}, artifacts, clock);
  build.id = BuildId{9};
  CHECK(build.kind == BuildKind::overlay);
  CHECK(build.version == "2.15.0.dev20260819+cpu+" + python.brief());
  CHECK(build.state == BuildState::proved);
  CHECK(build.commit == python);
  CHECK(build.base == good.id);
  CHECK(build.url.empty());

  const EnvironmentSpec spec = environment_of(build, good, artifacts, {});
  CHECK(spec.build == build.id);
  CHECK(spec.wheel_url == "/api/v1/artifacts/" + good.sha256->str());
  CHECK(spec.wheel_file == "torch-2.15.0.dev20260819+cpu-cp311-cp311-linux_x86_64.whl");
  CHECK(spec.wheel_sha256 == *good.sha256);
  CHECK(spec.version == good.version);
  CHECK(spec.git_version == good.nightly_commit->str());
  REQUIRE(spec.overlay);
  CHECK(spec.overlay->url == "/api/v1/artifacts/" + build.sha256->str());
  CHECK(spec.overlay->removed == std::vector<std::string>{"torch/b.py"});

  CHECK_FALSE(environment_of(good, {}).overlay);
  CHECK_THROWS_AS(environment_of(build, {}), std::invalid_argument);
  CHECK_THROWS_AS(environment_of(build, bad, artifacts, {}), std::invalid_argument);
  std::filesystem::remove(*artifacts.path(*build.sha256));
  CHECK_THROWS_WITH(environment_of(build, good, artifacts, {}), Contains("make it again"));
}

TEST_CASE_METHOD(Day, "the archive holds regular files with fixed times and owners, sorted") {
  const Build build = make_overlay(graph, plan(python), {}, artifacts, clock);
  const std::unique_ptr<archive, int (*)(archive*)> tar(archive_read_new(), archive_read_free);
  archive_read_support_format_tar(tar.get());
  REQUIRE(archive_read_open_filename(tar.get(), artifacts.path(*build.sha256)->c_str(), 4096) ==
          ARCHIVE_OK);
  std::vector<std::string> names;
  archive_entry* entry = nullptr;
  while (archive_read_next_header(tar.get(), &entry) == ARCHIVE_OK) {
    names.emplace_back(archive_entry_pathname(entry));
    CHECK(archive_entry_filetype(entry) == AE_IFREG);
    CHECK(archive_entry_mtime(entry) == 315532800);
    CHECK(archive_entry_uid(entry) == 0);
    CHECK(archive_entry_perm(entry) == 0644);
    std::string content(static_cast<std::size_t>(archive_entry_size(entry)), '\0');
    archive_read_data(tar.get(), content.data(), content.size());
    if (names.back() == "torch/a.py") CHECK(content == "a = 2\n");
  }
  CHECK(names == std::vector<std::string>{removed_member, "torch/a.py", "torch/new/__init__.py",
                                          "torch/new/c.py"});
}

TEST_CASE("a path of any length survives in the archive") {
  const ScratchFolder folder;
  const std::string deep = "torch/" + std::string(120, 'd') + "/" + std::string(200, 'f') + ".py";
  write_overlay(folder / "o.tar", {{deep, "x"}}, {deep + "c"});
  CHECK(removed_by(folder / "o.tar") == std::vector<std::string>{deep + "c"});
  CHECK_THROWS_WITH(removed_by(folder / "none.tar"), Contains("none.tar"));
}

TEST_CASE("a name that is not ASCII survives in the archive, in any locale") {
  const ScratchFolder folder;
  const std::string odd = "torch/gr\u00f6\u00dfe.py";
  const std::string before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "C");
  write_overlay(folder / "o.tar", {{odd, "x"}, {"torch/latin\xE9.py", "y"}}, {odd + "c"});
  CHECK(removed_by(folder / "o.tar") == std::vector<std::string>{odd + "c"});
  std::setlocale(LC_ALL, before.c_str());
  const std::string bytes = nightjar::test::read_file(folder / "o.tar");
  CHECK_THAT(bytes, Contains(odd) && Contains("torch/latin\xE9.py"));
}

TEST_CASE_METHOD(Day, "documentation and tests are unlikely culprits but never impossible ones") {
  const auto commits = graph.range(first, last);
  REQUIRE(commits);
  CHECK(risk_prior(graph, *commits, {}) == std::vector<double>{1, .05, 1, 1});
  CHECK(risk_prior(std::span<const git::ChangedPath>{}, {}) == .05);
}
