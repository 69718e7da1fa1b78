// Makes the wheel of one commit by a recipe, in a builder's own folder, and says what came of it.
// Used by the agent's build jobs and by `nightjar-runner build`.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "runner/make/recipe.hpp"
#include "storage/model/source_build.hpp"

namespace nightjar::runner {

// Layout of `work`, which only one process may use at a time:
//   trees/<repository>-<recipe>/{tree,state.json}   a checkout and what was built in it last
//   cache/<ccache|sccache>/                         what was compiled before
//   tmp/                                            of this process
// Layout of `out`: <commit>-<recipe's hash>/{build.log,result.json,<wheel>}. A folder that has a
// result.json with a wheel is complete: the wheel was put there first.
struct MakeWheel {
  Recipe recipe;
  std::string repository;  // URL or folder
  std::string revision;    // a commit, or what names one
  std::filesystem::path work, out;
  std::filesystem::path python;                 // in front on PATH; imports the wheel
  std::function<void(const std::string&)> say;  // progress, a sentence a call
};

struct MadeWheel {
  CommitSha commit;
  SourceResult result;
  std::filesystem::path wheel;  // empty: there is none
  std::filesystem::path log;
  bool made_before = false;  // found complete in `out`; nothing was done
};

// Blocks for as long as the recipe's limits allow. Any failure of the build, the machine or the
// network is an outcome. Throws WrongUse if there is no such commit or `work` is in use, and
// Stopped.
MadeWheel make_wheel(const MakeWheel& order, std::stop_token stop);

// The folder of `out` for this commit and recipe.
std::filesystem::path result_folder(const std::filesystem::path& out, const CommitSha& commit,
                                    const Recipe& recipe);

}  // namespace nightjar::runner
