#include "runner/make/make_wheel.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "runner/process/failure.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/file_lock.hpp"
#include "storage/model/json.hpp"
#include "tests/runner/make/tiny_project.hpp"

using namespace nightjar;
using namespace nightjar::runner;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

bool compiled(const MadeWheel& made) {
  return slurp(made.log).find("compiled\n") != std::string::npos;
}

}  // namespace

TEST_CASE("A commit becomes a wheel that can be imported, and a second time nothing is done") {
  TinyProject project;
  const MadeWheel made = project.make(project.first);
  INFO(made.result.reason);
  REQUIRE(made.result.outcome == SourceOutcome::built);
  CHECK(made.commit.str() == project.first);
  CHECK(made.wheel.filename() == "tiny-1.0-py3-none-any.whl");
  CHECK(digest_of_file(made.wheel) == made.result.sha256);
  CHECK(made.result.attempts == 1);
  CHECK_FALSE(made.result.warm);
  CHECK_THAT(slurp(made.log), Contains("+ python make.py\ncompiled\n"));
  fs::remove_all(project.repository());  // the second time needs it no more
  const MadeWheel again = project.make(project.first);
  CHECK(again.made_before);
  CHECK(again.result.sha256 == made.result.sha256);
}

TEST_CASE("A wheel that was damaged since is built again") {
  TinyProject project;
  const MadeWheel made = project.make(project.first);
  fs::permissions(made.wheel, fs::perms::owner_all);
  spit(made.wheel, "damage");
  const MadeWheel again = project.make(project.first);
  CHECK_FALSE(again.made_before);
  CHECK(digest_of_file(again.wheel) == again.result.sha256);
}

TEST_CASE("The warm folder stays between commits, and goes with another recipe") {
  TinyProject project;
  REQUIRE(compiled(project.make(project.first)));
  const MadeWheel python = project.make(project.commit("tiny/__init__.py", "VALUE = 2\n"));
  CHECK(python.result.warm);
  CHECK_FALSE(compiled(python));
  const MadeWheel native = project.make(project.commit("unit.c", "int unit(void) { return 2; }\n"));
  CHECK(native.result.warm);
  CHECK(compiled(native));
  const MadeWheel other = project.make(native.commit.str(), std::string(tiny_recipe) + "# other\n");
  CHECK_FALSE(other.result.warm);
  CHECK(compiled(other));
}

TEST_CASE("What an earlier commit left beside the warm folder is gone") {
  TinyProject project;
  const std::string recipe =
      replaced(tiny_recipe, "python make.py", "touch left tiny/left.py; python make.py");
  project.make(project.first, recipe);
  const auto next = project.commit("Next");
  const MadeWheel made = project.make(
      next,
      replaced(recipe, "touch left", "test ! -e left && test ! -e tiny/left.py && touch left"));
  CHECK(made.result.outcome == SourceOutcome::built);
}

TEST_CASE("A commit that does not compile is tried twice and named with its error") {
  TinyProject project;
  project.make(project.first);
  const MadeWheel made = project.make(project.commit("unit.c", "int unit(void) { return x; }\n"));
  CHECK(made.result.outcome == SourceOutcome::does_not_compile);
  CHECK_THAT(made.result.reason, Contains("unit.c:1:25: error: "));
  CHECK(made.result.attempts == 2);
  CHECK_FALSE(made.result.warm);  // the second began from a clean folder
  CHECK(made.wheel.empty());
  CHECK(project.make(project.commit("unit.c", "int unit(void) { return 3; }\n")).result.outcome ==
        SourceOutcome::built);
}

TEST_CASE("A failure that a clean folder mends is none") {
  TinyProject project;
  project.make(project.first);
  const std::string next = project.commit("Next");
  // As an object file that a cut-off link left behind: only the warm folder is at fault.
  const fs::path tree = fs::directory_iterator(project.scratch / "work/trees")->path() / "tree";
  spit(tree / "warm/poison", "");
  const std::string recipe =
      replaced(tiny_recipe, "python make.py", "test ! -e warm/poison && python make.py");
  const auto state = tree.parent_path() / "state.json";
  spit(state, nlohmann::json{{"recipe", digest_of(recipe).str()}}.dump());
  const MadeWheel made = project.make(next, recipe);
  CHECK(made.result.outcome == SourceOutcome::infrastructure);  // never built with this recipe
  spit(tree / "warm/poison", "");
  spit(tree.parent_path() / ("built-" + digest_of(recipe).brief()), "");
  spit(state, nlohmann::json{{"recipe", digest_of(recipe).str()}}.dump());
  const MadeWheel mended = project.make(next, recipe);
  CHECK(mended.result.outcome == SourceOutcome::built);
  CHECK(mended.result.attempts == 2);
}

TEST_CASE("A commit that does not import is told from a machine that lacks what it requires") {
  TinyProject project;
  const MadeWheel broken =
      project.make(project.commit("tiny/__init__.py", "raise ValueError('broken')\n"));
  CHECK(broken.result.outcome == SourceOutcome::does_not_import);
  CHECK_THAT(broken.result.reason, Contains("import tiny: ValueError: broken"));
  const MadeWheel missing = project.make(project.commit("tiny/__init__.py", "import nowhere\n"));
  CHECK(missing.result.outcome == SourceOutcome::does_not_import);
  const MadeWheel machine =
      project.make(project.commit("tiny/__init__.py", "import absent_package\n"));
  CHECK(machine.result.outcome == SourceOutcome::infrastructure);
  CHECK_THAT(machine.result.reason, Contains("the wheel requires it"));
  const MadeWheel crash =
      project.make(project.commit("tiny/__init__.py", "import os; os.kill(os.getpid(), 11)\n"));
  CHECK(crash.result.outcome == SourceOutcome::does_not_import);
}

TEST_CASE("Time, memory, tools, disk and a recipe that makes no wheel are never the commit's") {
  TinyProject project;
  project.make(project.first);
  struct Case {
    std::string recipe, reason;
  };
  const auto commands = [](const std::string& command) {
    return replaced(tiny_recipe, "python make.py", command);
  };
  const std::string plain = tiny_recipe;
  const Case cases[] = {
      {commands("sleep 60") + "[limits]\nminutes = 0.01\n", "timed out after 0.6 s"},
      {commands("python -c 'x = bytearray(300 << 20); x[::4096] = b\\\"1\\\" * len(x[::4096]); "
                "import time; time.sleep(20)'") +
           "[limits]\nmemory_gigabytes = 0.1\n",
       "ran out of memory"},
      {commands("no-such-compiler"), "a command of the recipe cannot be run here"},
      {commands("true"), "0 files match its wheel"},
      {plain + "[tools]\ncc = '0.0.1'\n", "the recipe asks for cc 0.0.1; this machine has"},
      {plain + "[limits]\ndisk_gigabytes = 1000000\n", "MiB are free"},
      {plain + "[cache]\nprogram = 'sccache'\n", "which is not on this machine's PATH"},
      {replaced(plain, "name =", "image = 'none/such'\nname ="), ""},
  };
  for (const Case& one : cases) {
    INFO(one.recipe);
    if (one.reason.find("PATH") != std::string::npos &&
        std::system("which sccache >/dev/null") == 0)
      continue;
    const MadeWheel made = project.make(project.first, one.recipe);
    CHECK(made.result.outcome == SourceOutcome::infrastructure);
    CHECK_THAT(made.result.reason, Contains(one.reason));
    CHECK(made.wheel.empty());
  }
}

TEST_CASE("A commit that is not there is wrong use, a repository that is away is not") {
  TinyProject project;
  CHECK_THROWS_AS(project.make("no-such-branch"), WrongUse);
  CHECK_THROWS_AS(project.make("--upload-pack=x"), WrongUse);
  CHECK_THROWS_AS(project.make(std::string(40, 'a')), WrongUse);
  MakeWheel order = project.order(std::string(40, 'a'));
  order.repository = "http://127.0.0.1:1/none.git";
  const MadeWheel made = make_wheel(order, {});
  CHECK(made.result.outcome == SourceOutcome::infrastructure);
  CHECK_THAT(made.result.reason, Contains("cannot clone http://127.0.0.1:1/none.git"));
}

TEST_CASE("Two builders never use one folder") {
  TinyProject project;
  const FileLock held = lock_folder(project.scratch / "work", "lock", "");
  CHECK_THROWS_WITH(project.make(project.first), Contains("give each builder a folder of its own"));
}

TEST_CASE("Submodules are checked out at the commit's pin, and cleaned") {
  TinyProject project;
  const fs::path inner = project.scratch / "inner";
  spit(inner / "part.py", "PART = 1\n");
  const auto in_inner = [&](const std::string& command) {
    project.git("-C '" + inner.string() + "' " + command);
  };
  in_inner("init --quiet -b main .");
  in_inner("add -A");
  in_inner("commit --quiet -m one");
  project.git("submodule --quiet add '" + inner.string() + "' tiny/inner");
  const std::string one = project.commit("Pin one");
  spit(inner / "part.py", "PART = 2\n");
  in_inner("commit --quiet -am two");
  project.git("-C tiny/inner pull --quiet");
  const std::string two = project.commit("Pin two");
  const auto recipe = [](int part) {
    return replaced("submodules = true" + std::string(tiny_recipe), "python make.py",
                    "grep -q 'PART = " + std::to_string(part) +
                        "' tiny/inner/part.py && test ! -e tiny/inner/left && "
                        "touch tiny/inner/left && python make.py");
  };
  CHECK(project.make(two, recipe(2)).result.outcome == SourceOutcome::built);
  CHECK(project.make(one, recipe(1)).result.outcome == SourceOutcome::built);
  CHECK(project.make(project.first).result.outcome == SourceOutcome::built);  // has none
}

TEST_CASE("A builder that is killed leaves a tree that the next build does not trust") {
  TinyProject project;
  project.make(project.first);
  const std::string mark = (project.scratch / "started").string();
  const fs::path flag = project.scratch / "slow";
  // Half an object file, newer than its source, and a process that outlives the builder's shell.
  const std::string next = project.commit(
      "make.py", "import os, subprocess, time\nif os.path.exists('" + flag.string() +
                     "'):\n    open('warm/unit.o', 'w').write('half')\n"
                     "    subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
                     "    open('" +
                     mark + "', 'w').close()\n    time.sleep(60)\n" + tiny_script);
  spit(flag, "");
  const pid_t builder = ::fork();
  if (builder == 0) {
    try {
      project.make(next);
    } catch (...) {
    }
    ::_exit(0);
  }
  for (int i = 0; i < 1000 && !fs::exists(mark); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE(fs::exists(mark));
  ::kill(builder, SIGKILL);
  ::waitpid(builder, nullptr, 0);
  fs::remove(flag);
  const fs::path tree = fs::directory_iterator(project.scratch / "work/trees")->path() / "tree";
  spit(tree / ".git/index.lock", "");
  std::string said;
  MakeWheel order = project.order(next);
  order.say = [&](const std::string& text) { said += text + "\n"; };
  const MadeWheel made = make_wheel(order, {});
  CHECK(made.result.outcome == SourceOutcome::built);
  CHECK_FALSE(made.result.warm);
  CHECK(compiled(made));
  CHECK_THAT(said, Contains("of a killed builder"));
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {  // its orphans are this process's now
  }
}

TEST_CASE("A repository whose objects are damaged is cloned anew") {
  TinyProject project;
  project.make(project.first);
  const std::string next = project.commit("tiny/more.py", "MORE = 1\n");
  const fs::path tree = fs::directory_iterator(project.scratch / "work/trees")->path() / "tree";
  spit(tree / ".git/index", "no index");
  CHECK(project.make(next).result.outcome == SourceOutcome::built);
}

TEST_CASE("A stop ends a build at once and is no verdict") {
  TinyProject project;
  std::stop_source stop;
  MakeWheel order =
      project.order(project.first, replaced(tiny_recipe, "python make.py", "sleep 60"));
  order.say = [&](const std::string& text) {
    if (text.starts_with("building")) stop.request_stop();
  };
  CHECK_THROWS_AS(make_wheel(order, stop.get_token()), Stopped);
}
