#include "service/builds/ci/choice.hpp"

#include <algorithm>

#include "service/builds/wheel_name.hpp"
#include "storage/model/workload.hpp"

namespace nightjar::service::ci {

namespace {

constexpr std::string_view archive_name = "/artifacts.zip";

// Why this wheel is not the wanted one; empty: it is.
std::string objection(const std::string& file_name, const WantedWheel& wanted) {
  const auto name = parse_wheel_name(file_name);
  if (!name) return "no wheel name with a version that we understand";
  if (name->distribution != wanted.package) return "another package";
  if (!name->fits(wanted.python_tag)) return "not for " + wanted.python_tag + " on Linux x86-64";
  if (!names_commit(name->version.variant, wanted.commit))
    return "of another commit than " + wanted.commit.brief();
  return "";
}

}  // namespace

std::string prefix_of(std::string_view repository, std::int64_t run) {
  return std::string(repository) + "/" + std::to_string(run) + "/";
}

std::vector<Candidate> candidates(std::string_view repository, std::int64_t run,
                                  std::span<const ListedObject> listed,
                                  std::span<const std::string> globs) {
  const std::string prefix = prefix_of(repository, run);
  std::vector<Candidate> found;
  for (const std::string& glob : globs) {
    for (const ListedObject& object : listed) {
      std::string_view environment = object.key;
      if (!environment.starts_with(prefix) || !environment.ends_with(archive_name)) continue;
      environment.remove_prefix(prefix.size());
      if (environment.size() <= archive_name.size()) continue;
      environment.remove_suffix(archive_name.size());
      const auto same = [&](const Candidate& other) { return other.key == object.key; };
      if (glob_match(glob, environment) && std::none_of(found.begin(), found.end(), same))
        found.push_back({run, std::string(environment), object.key});
    }
  }
  return found;
}

bool is_wheel(std::string_view member_name) {
  return member_name.ends_with(".whl");
}

MemberChoice choose_member(std::span<const ZipMember> wheels, const WantedWheel& wanted) {
  MemberChoice choice;
  for (const ZipMember& member : wheels) {
    const std::string name = member.name.substr(member.name.rfind('/') + 1);
    const std::string why = objection(name, wanted);
    if (why.empty()) return {member, ""};
    choice.reason += (choice.reason.empty() ? "" : ", ") + name + " is " + why;
  }
  if (wheels.empty()) choice.reason = "it has no wheel";
  return choice;
}

}  // namespace nightjar::service::ci
