#include "service/api/references.hpp"

#include <algorithm>

#include "storage/references.hpp"
#include "storage/runners.hpp"

namespace nightjar::service::api {
namespace {

constexpr int most_named = 6;             // of those among which a refusal cannot choose
constexpr std::size_t fewest_digits = 7;  // of a commit that only the repository knows

[[noreturn]] void refuse_name(const std::string& parameter, unsigned status,
                              const std::string& title, const std::string& why) {
  if (parameter.empty()) throw Refused(status, title, why);
  throw Refused(status, title, why, {{"", why, parameter}});
}

[[noreturn]] void refuse_several(const std::string& parameter, const char* what,
                                 const std::string& text, const std::vector<std::string>& names) {
  std::string all;
  const auto shown = std::min<std::size_t>(names.size(), most_named);
  for (std::size_t i = 0; i < shown; ++i) all += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > shown) all += " and others";
  refuse_name(parameter, 400, "Ambiguous " + std::string(what),
              "'" + text + "' names several " + what + "s: " + all + ". Give more of it.");
}

}  // namespace

CommitSha commit_called(const storage::Database& db, const git::CommitGraph& commits,
                        const std::string& digits, const std::string& parameter) {
  if (auto whole = CommitSha::parse(digits)) return *std::move(whole);
  if (!is_commit_name(digits))
    refuse_name(parameter, 404, "Not found",
                "'" + digits +
                    "' is no commit: 4 to 40 hexadecimal digits in lower case are "
                    "wanted.");
  const auto built = storage::commits_beginning_with(db, digits, most_named + 1);
  if (built.size() == 1) return built.front();
  if (built.size() > 1) {
    std::vector<std::string> names;
    for (const CommitSha& sha : built) names.push_back(sha.brief());
    refuse_several(parameter, "commit", digits, names);
  }
  const auto found = digits.size() >= fewest_digits ? commits.resolve(digits) : std::nullopt;
  if (found && found->str().starts_with(digits)) return *found;
  refuse_name(parameter, 404, "Not found",
              "No commit that has a build begins with '" + digits +
                  "', and of the repository's no commit does, or several do. Give more digits.");
}

BuildId build_called(const storage::Database& db, const std::string& text,
                     const std::string& parameter) {
  if (const auto id = parse_id(text)) return BuildId{*id};
  if (!is_build_name(text))
    refuse_name(parameter, 404, "Not found",
                "'" + text + "' is no build: an id, a version or a commit is wanted.");
  const auto found = storage::builds_called(db, text, most_named + 1);
  if (found.size() == 1) return found.front().id;
  if (found.empty())
    refuse_name(parameter, 404, "Not found",
                "There is no build '" + text + "': neither a version nor a commit begins so.");
  std::vector<std::string> names;
  for (const auto& [id, version] : found)
    names.push_back(version + " (" + std::to_string(id.value) + ")");
  refuse_several(parameter, "build", text, names);
}

void require_machine(const storage::Database& db, MachineId machine) {
  if (!storage::find_machine(db, machine))
    throw Refused(422, "No such machine class",
                  "There is no machine class " + std::to_string(machine.value) +
                      "; /api/v1/runners shows those there are.",
                  {{"#/machine", "is not the id of a machine class"}});
}

}  // namespace nightjar::service::api
