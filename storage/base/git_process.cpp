#include "storage/base/git_process.hpp"

#include <algorithm>
#include <iterator>
#include <sys/wait.h>

#include "storage/base/foreign_text.hpp"
#include "storage/base/redaction.hpp"

namespace nightjar::git {
namespace {

constexpr std::string_view fatal_prefix = "fatal: ";
constexpr std::string_view redirect = "returned error: 30";  // and a digit
constexpr std::size_t sentence = 200;                        // characters that are kept of a line

// What `git rev-parse --local-env-vars` lists, of all versions; and what else moves git elsewhere.
constexpr std::string_view about_repository[] = {
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX",
    "GIT_INTERNAL_SUPER_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR",
    // These are not among git's own.
    "GIT_NAMESPACE", "GIT_QUARANTINE_PATH", "GIT_TEMPLATE_DIR", "GIT_DEFAULT_HASH",
    "GIT_DEFAULT_REF_FORMAT", "GIT_ATTR_SOURCE", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_REFLOG_ACTION"};

// The first of two entries of one name counts, so the fixed ones come first and alone.
std::vector<std::string> environment_of(const GitCall& call) {
  std::vector<std::string> all{"LC_ALL=C", "LANGUAGE=", "GIT_TERMINAL_PROMPT=0",
                               "GIT_OPTIONAL_LOCKS=0", "GIT_TEMPLATE_DIR="};
  const auto fixed = static_cast<std::ptrdiff_t>(all.size());
  for (const std::string& entry : call.environment) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    const bool known = std::any_of(all.begin(), all.begin() + fixed,
                                   [&](const std::string& one) { return one.starts_with(name); });
    if (!known && !is_about_repository(name.substr(0, name.size() - 1))) all.push_back(entry);
  }
  all.insert(all.end(), call.own.begin(), call.own.end());
  return all;
}

}  // namespace

std::vector<std::string> git_options() {
  std::vector<std::string> options{"--no-pager", "--no-optional-locks"};
  for (const char* setting :
       {"gc.auto=0", "maintenance.auto=false", "core.fsmonitor=false", "core.hooksPath=/dev/null",
        "color.ui=false", "log.showSignature=false", "advice.detachedHead=false"})
    options.insert(options.end(), {"-c", setting});
  return options;
}

bool is_about_repository(std::string_view variable) {
  return variable.starts_with("GIT_CONFIG_KEY_") || variable.starts_with("GIT_CONFIG_VALUE_") ||
         std::find(std::begin(about_repository), std::end(about_repository), variable) !=
             std::end(about_repository);
}

void GitWords::hear(std::string_view line) {
  if (line.starts_with(fatal_prefix) && fatal_.empty()) {
    fatal_ = with_cause(line.substr(fatal_prefix.size()));
    if (line.find(redirect) != line.npos)
      fatal_ += "; redirects are not followed, name the address that this one leads to";
  }
  last_ = line;
}

std::string GitWords::failure_of(const ChildOutcome& ended) const {
  if (ended.is_missing) return "cannot start git: is it installed?";
  if (!ended.stopped.empty()) return ended.stopped;
  if (WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0) return "";
  if (!fatal_.empty()) return fatal_;
  return last_.empty() ? "git ended with status " + std::to_string(ended.status)
                       : shortened(last_, sentence);
}

// ssh and servers say why on the line before; progress has a percentage there.
std::string GitWords::with_cause(std::string_view fatal) const {
  const bool cause = !last_.empty() && last_.find('%') == std::string::npos;
  return (cause ? shortened(last_, sentence) + "; " : "") + shortened(fatal, sentence);
}

GitOutcome run_git(const GitCall& call, std::stop_token stop,
                   const std::function<void(std::string_view)>& progress) {
  std::vector<std::string> command{"git"};
  for (const auto& part : {call.place, git_options(), call.arguments})
    command.insert(command.end(), part.begin(), part.end());
  GitWords words;
  ChildOutcome ended = run_guarded(command, environment_of(call), call.limits, std::move(stop),
                                   [&](std::string_view line) {
                                     const std::string shown = without_credentials(line);
                                     words.hear(shown);
                                     if (progress) progress(shown);
                                   });
  std::optional<int> code;
  if (!ended.is_missing && ended.stopped.empty() && WIFEXITED(ended.status))
    code = WEXITSTATUS(ended.status);
  return {words.failure_of(ended), std::move(ended.output), without_credentials(ended.said), code};
}

}  // namespace nightjar::git
