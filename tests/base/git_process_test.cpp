#include "storage/base/git_process.hpp"

#include <sstream>

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::git;

TEST_CASE("every variable by which this git is told of a repository is known") {
  const auto listed = run_git({{}, {"rev-parse", "--local-env-vars"}, network_environment()}, {});
  REQUIRE(listed.failure.empty());
  std::istringstream names(listed.output);
  for (std::string name; names >> name;) {
    INFO(name);
    CHECK(is_about_repository(name));
  }
  CHECK(is_about_repository("GIT_CONFIG_KEY_0"));
  for (const char* users : {"GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL", "GIT_COMMIT", "PATH"})
    CHECK_FALSE(is_about_repository(users));
}

TEST_CASE("git is asked in English, apart from its warnings, whatever the environment says") {
  auto environment = network_environment();
  environment.insert(environment.end(),
                     {"GIT_DIR=/nowhere", "LC_ALL=de_DE.UTF-8", "GIT_CONFIG_COUNT=1",
                      "GIT_CONFIG_KEY_0=core.pager", "GIT_CONFIG_VALUE_0=false", "GIT_TRACE=1"});
  const auto pager =
      run_git({{"-C", "/"}, {"config", "--default", "none", "core.pager"}, environment}, {});
  CHECK(pager.output == "none\n");
  const std::vector<std::string> login{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.pager",
                                       "GIT_CONFIG_VALUE_0=ours"};
  const git::GitCall ours{
      {"-C", "/"}, {"config", "--default", "none", "core.pager"}, environment, {}, login};
  CHECK(run_git(ours, {}).output == "ours\n");
  CHECK(pager.said.find("trace:") != std::string::npos);
  const auto variables = run_git({{"-c", "alias.x=!env"}, {"x"}, environment}, {});
  CHECK(variables.output.find("\nLC_ALL=C\n") != std::string::npos);
  CHECK(variables.output.find("/nowhere") == std::string::npos);
  CHECK(variables.output.find("de_DE") == std::string::npos);
  const auto unknown = run_git({{}, {"no-such-command"}, environment}, {});
  CHECK(unknown.exit_code == 1);
  CHECK(unknown.said.find("is not a git command") != std::string::npos);
}
