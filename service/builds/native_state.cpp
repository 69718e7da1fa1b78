#include "service/builds/native_state.hpp"

#include <cstdio>

#include "service/builds/overlay.hpp"

namespace nightjar::service {
namespace {

// Lines of one folder. No line, no hash: so a folder without native files is as if it were not
// there.
class Lines {
 public:
  void add(const std::string& line) {
    digest_.add(line);
    empty_ = false;
  }
  std::optional<Sha256> hash() { return empty_ ? std::nullopt : std::optional(digest_.hex()); }

 private:
  Digest digest_;
  bool empty_ = true;
};

std::string line_of(unsigned mode, const std::string& object, const std::string& name) {
  char octal[16];
  std::snprintf(octal, sizeof octal, "%o ", mode);
  return octal + object + " " + name + '\0';  // a name may hold anything but a zero
}

}  // namespace

const NativeStates::Folded& NativeStates::fold(const CommitSha& tree, const std::string& prefix) {
  const auto known = folders_.find({tree, prefix});
  if (known != folders_.end()) return known->second;
  Lines native, library;
  for (const git::TreeEntry& entry : graph_.entries(tree)) {
    if (entry.is_folder()) {
      const Folded& below = fold(entry.object, prefix + entry.name + "/");
      if (below.native) native.add(line_of(entry.mode, below.native->str(), entry.name));
      if (below.library) library.add(line_of(entry.mode, below.library->str(), entry.name));
      continue;
    }
    const PathEffect effect = classify(prefix + entry.name, project_);
    if (effect != PathEffect::native && effect != PathEffect::header) continue;
    const std::string line = line_of(entry.mode, entry.object.str(), entry.name);
    native.add(line);
    if (effect == PathEffect::native) library.add(line);
  }
  return folders_[{tree, prefix}] = {native.hash(), library.hash()};
}

std::optional<CommitState> NativeStates::of(const CommitSha& commit) {
  const auto found = graph_.find(commit);
  if (!found) return std::nullopt;
  const Folded& root = fold(found->tree, "");
  const Sha256 nothing = digest_of("");
  return CommitState{commit, path_rules(project_), root.native.value_or(nothing),
                     root.library.value_or(nothing)};
}

}  // namespace nightjar::service
