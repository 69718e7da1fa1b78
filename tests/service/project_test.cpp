#include "service/project.hpp"

#include <catch2/catch.hpp>

#include "storage/base/digest.hpp"
#include "tests/service/builds/support.hpp"
#include "tests/support/source_tree.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;

TEST_CASE("the projects that come with Nightjar can be read, with their recipes") {
  const auto folder = nightjar::test::source_tree() / "deploy/projects";
  const Project pytorch = load_project(folder / "pytorch.toml");
  CHECK(pytorch.package == "torch");
  CHECK(pytorch.recipe_sha256 == digest_of(pytorch.recipe));
  CHECK_THAT(pytorch.recipe, Contains("pytorch-cpu"));
  const Project defaults;
  CHECK(pytorch.version_file == defaults.version_file);
  CHECK(pytorch.overlay == defaults.overlay);
  CHECK(load_project(folder / "torchvision.toml").recipe.empty());
  const Project extension = load_project(folder / "extension.toml");
  CHECK(extension.version_file.empty());
  CHECK(extension.module == "torch_spline_conv");
  CHECK(extension.overlay == std::vector<std::string>{"torch_spline_conv/"});
  CHECK_THAT(extension.recipe, Contains("$NIGHTJAR_COMMIT_DAY+cpu.g$NIGHTJAR_COMMIT"));
}

TEST_CASE("what a file does not say follows from its package") {
  const nightjar::test::ScratchFolder folder;
  const auto load = [&](const std::string& text) {
    return load_project(nightjar::test::write_file(folder / "p.toml", "[project]\n" + text));
  };
  const Project none = load("name = 'mine'\n");
  CHECK(none.is_pytorch());
  CHECK(none.overlay == Project{}.overlay);
  const Project dashed = load("package = 'torch-scatter'\n");
  CHECK(dashed.module == "torch_scatter");
  CHECK(dashed.overlay == std::vector<std::string>{"torch_scatter/"});
  CHECK(dashed.version_file.empty());
  const Project dotted = load("package = 'ops'\nmodule = 'mine.ops'\n");
  CHECK(dotted.overlay == std::vector<std::string>{"mine/ops/"});
  CHECK(load("package = 'ops'\noverlay = []\n").overlay.empty());
  CHECK(normalized_name("Torch_Scatter.x") == "torch-scatter-x");
}

TEST_CASE("what is wrong with a project is named, with its line") {
  const nightjar::test::ScratchFolder folder;
  const auto load = [&](const std::string& text) {
    return load_project(nightjar::test::write_file(folder / "p.toml", "[project]\n" + text));
  };
  CHECK_THROWS_WITH(load("packages = 'x'\n"), Contains("p.toml:2: project.packages"));
  CHECK_THROWS_WITH(load("package = 'a b'\n"), Contains("project.package: must be the name"));
  CHECK_THROWS_WITH(load("version_file = '../x'\n"), Contains("must be a path in the wheel"));
  CHECK_THROWS_WITH(load("overlay = ['torch']\n"), Contains("ends with /"));
  CHECK_THROWS_WITH(load("recipe = 'none.toml'\n"), Contains("cannot read "));
  CHECK_THROWS_WITH(load("package = 'x'\nmodule = 'a b'\n"), Contains("project.module: must be"));
  CHECK_THROWS_WITH(load("overlay = ['aten/']\n"), Contains("cannot be changed for torch"));
}
