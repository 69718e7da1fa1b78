#include "runner/make/recipe.hpp"

#include <catch2/catch.hpp>

#include "runner/process/failure.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/source_tree.hpp"

using namespace nightjar;
using namespace nightjar::runner;
using Catch::Matchers::Contains;

namespace {

const std::string least = "name = 'a'\ncommands = ['make']\nwheel = 'dist/a-*.whl'\nmodule = 'a'\n";

}  // namespace

TEST_CASE("A recipe says how, and what it leaves out has a default") {
  const Recipe recipe = parse_recipe(least + R"(
submodules = true
keep = ["build"]
[environment]
MAX_JOBS = "{jobs}"
PYTHON = "{python}"
[limits]
minutes = 90
memory_gigabytes = 2
)",
                                     "a.toml");
  CHECK(recipe.submodules);
  CHECK(recipe.limits.minutes == 90);
  CHECK(recipe.limits.memory_bytes == 2LL << 30);
  CHECK(recipe.cache.program == "auto");
  CHECK(environment_of(recipe, 16, "/py").at("MAX_JOBS") == "14");
  CHECK(environment_of(recipe, 2, "/py").at("MAX_JOBS") == "1");
  CHECK(environment_of(recipe, 16, "/py").at("PYTHON") == "/py");
  CHECK(parse_recipe(least, "a").sha256 != recipe.sha256);
}

TEST_CASE("What is wrong with a recipe is named, with its line") {
  struct Case {
    std::string text, complaint;
  };
  const Case cases[] = {
      {least + "comands = ['x']\n", "r.toml:5: comands: unknown key; there are cache, commands"},
      {least + "[limits]\nhours = 3\n", "r.toml:6: limits.hours: unknown key"},
      {least + "[cache]\nprogram = 'distcc'\n", "cache.program: must be auto, ccache"},
      {least + "[limits]\nminutes = 0\n", "limits.minutes: must be a number"},
      {least + "[environment]\nMAX_JOBS = 4\n", "environment.MAX_JOBS: must be text"},
      {least + "keep = ['../other']\n", "keep: must hold folders below the checkout"},
      {least + "keep = ['.git']\n", "keep: must hold folders"},
      {least + "keep = ['build*']\n", "keep: must hold folders"},
      {least + "discard = ['/etc/*']\n", "discard: must hold paths below the checkout"},
      {"name = 'a b'\n" + least.substr(11), "name: may have letters"},
      {"name = 'a'\n", "r.toml: commands: is required"},
      {"name = \n", "r.toml:1: "},
  };
  for (const Case& one : cases) {
    INFO(one.text);
    CHECK_THROWS_WITH(parse_recipe(one.text, "r.toml"), Contains(one.complaint));
    CHECK_THROWS_AS(parse_recipe(one.text, "r.toml"), WrongUse);
  }
}

TEST_CASE("The recipes that come with Nightjar can be read") {
  for (const char* name : {"pytorch-cpu", "pytorch-cuda", "extension"})
    CHECK_NOTHROW(read_recipe(nightjar::test::source_tree() /
                              ("deploy/recipes/" + std::string(name) + ".toml")));
}

TEST_CASE("A pattern matches in its folder only, in order") {
  const Scratch scratch;
  for (const char* name : {"dist/b.whl", "dist/a.whl", "dist/a.txt", "a.whl", "dist/deep/c.whl"})
    spit(scratch / name, "");
  const auto found = matching(scratch.path(), "dist/*.whl");
  REQUIRE(found.size() == 2);
  CHECK(found[0] == scratch / "dist/a.whl");
  CHECK(matching(scratch.path(), "nothing/*").empty());
  // A commit may hold a link to what is outside.
  std::filesystem::create_directory_symlink(scratch / "dist", scratch / "link");
  CHECK(matching(scratch.path(), "link/*").empty());
  CHECK(matching(scratch.path(), "link/deep/*").empty());
  CHECK(matching(scratch.path(), "lin*").size() == 1);
}
