#include "runner/make/place.hpp"

#include <cstdlib>

#include <catch2/catch.hpp>

#include "runner/process/failure.hpp"
#include "tests/runner/make/tiny_project.hpp"

using namespace nightjar;
using namespace nightjar::runner;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

// Stands in for podman, which a test's machine need not have: knows the options that put_in_place()
// uses and no others, has one image, and runs the command without what is not mounted or given.
constexpr const char* engine_double = R"(#!/usr/bin/python3
import os, subprocess, sys
words = sys.argv[1:]
log = open(os.path.dirname(os.path.abspath(__file__)) + "/calls", "a")
print(" ".join(words), file=log, flush=True)
if words[:2] == ["rm", "--force"]: sys.exit(0)
if words[:3] != ["run", "--rm", "--init"]: sys.exit(125)
given, words = {"--env": [], "--volume": []}, words[3:]
while words and words[0].startswith("--"):
    name, value, words = words[0], words[1], words[2:]
    if name not in ("--name", "--user", "--workdir", "--userns", "--memory", "--env", "--volume"): sys.exit(125)
    given.setdefault(name, []).append(value)
mounts = [volume.split(":")[0] for volume in given["--volume"]]
if words[0] != "builder:1" or not any(given["--workdir"][0].startswith(mount) for mount in mounts): sys.exit(125)
environment = dict(pair.split("=", 1) for pair in given["--env"])
if "PATH" in environment: sys.exit(125)
sys.exit(subprocess.run(words[1:], cwd=given["--workdir"][0],
                        env={**environment, "PATH": "/usr/bin:/bin"}).returncode)
)";

class OnPath {
 public:
  explicit OnPath(const fs::path& folder) : before_(std::getenv("PATH")) {
    ::setenv("PATH", (folder.string() + ":" + before_).c_str(), 1);
  }
  ~OnPath() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  const std::string before_;
};

std::string in_image(const std::string& image) {
  std::string recipe = "image = '" + image + "'" + tiny_recipe;
  return recipe.replace(recipe.find("python make.py"), 14, "python3 make.py");
}

}  // namespace

TEST_CASE("A recipe with an image builds and imports in a container") {
  TinyProject project;
  spit(project.scratch / "bin/podman", engine_double);
  fs::permissions(project.scratch / "bin/podman", fs::perms::owner_all);
  const OnPath path(project.scratch / "bin");
  const MadeWheel made = project.make(project.first, in_image("builder:1"));
  INFO(made.result.reason + slurp(made.log));
  CHECK(made.result.outcome == SourceOutcome::built);
  const std::string calls = slurp(project.scratch / "bin/calls");
  CHECK_THAT(calls, Contains("--workdir " + (project.scratch / "work/trees").string()));
  CHECK_THAT(calls, Contains("--env NIGHTJAR_COMMIT=" + project.first));
  CHECK_THAT(calls, Contains("builder:1 python3 -c"));  // the import
}

TEST_CASE("An image that is not there is the machine's fault") {
  TinyProject project;
  spit(project.scratch / "bin/podman", engine_double);
  fs::permissions(project.scratch / "bin/podman", fs::perms::owner_all);
  const OnPath path(project.scratch / "bin");
  const MadeWheel made = project.make(project.first, in_image("other:1"));
  CHECK(made.result.outcome == SourceOutcome::infrastructure);
  CHECK_THAT(made.result.reason, Contains("the container could not run"));
}

TEST_CASE("A container whose client was ended is removed") {
  TinyProject project;
  spit(project.scratch / "bin/podman", engine_double);
  fs::permissions(project.scratch / "bin/podman", fs::perms::owner_all);
  const OnPath path(project.scratch / "bin");
  std::string slow = in_image("builder:1");
  slow.replace(slow.find("python3 make.py"), 15, "sleep 60");
  const MadeWheel made = project.make(project.first, slow + "[limits]\nminutes = 0.01\n");
  CHECK(made.result.outcome == SourceOutcome::infrastructure);
  CHECK_THAT(slurp(project.scratch / "bin/calls"), Contains("rm --force nightjar-build-"));
}

TEST_CASE("Without an image nothing changes, and without an engine the machine is no place") {
  Recipe recipe = parse_recipe(tiny_recipe, "tiny.toml");
  ProcessSpec spec;
  spec.command = {"true"};
  CHECK(put_in_place(recipe, {"/work", {}}, spec).empty());
  CHECK(spec.command.size() == 1);
  recipe.image = "builder:1";
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  CHECK_THROWS_AS(put_in_place(recipe, {"/work", {}}, spec), TransientFailure);
  ::setenv("PATH", before.c_str(), 1);
}
