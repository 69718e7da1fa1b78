#include "service/cli/git_folder.hpp"

#include <algorithm>
#include <fstream>

#include "service/cli/ask_git.hpp"
#include "service/cli/carried_config.hpp"
#include "service/cli/failure.hpp"
#include "storage/base/files.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* pattern = "git";             // in the root: what is copied
constexpr const char* objects_folder = "objects";  // in the root: what all copies share
constexpr const char* lfs_folder = "lfs";          // in the root: the same of Git LFS

bool is_git_folder(const fs::path& folder) {
  return fs::exists(folder / "HEAD") && fs::is_directory(folder / "objects");
}

void copy_if_there(const fs::path& from, const fs::path& to) {
  if (fs::is_regular_file(from)) fs::copy_file(from, to, fs::copy_options::overwrite_existing);
}

// A line of objects/info/alternates, in which a path that has line ends must be in quotes.
std::string alternate_line(const std::string& path) {
  if (path.find('\n') == std::string::npos) return path + "\n";
  std::string text = "\"";
  for (const char c : path) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return text + "\"\n";
}

// Where Git LFS keeps objects, if the user chose a place: relative to the git folder, unlike other
// paths. Empty: in the usual place, where it is found by itself.
fs::path lfs_storage_in(const std::vector<ConfigEntry>& entries, const fs::path& git_folder) {
  fs::path storage;
  for (const ConfigEntry& entry : entries)
    if (entry.key == "lfs.storage") storage = entry.value.value_or("");
  return storage.empty() ? storage : (git_folder / storage).lexically_normal();
}

// No hook, watcher or clean-up of the user runs in a work tree, whoever calls git there. What Git
// LFS fetches is not written into the user's store.
std::vector<ConfigEntry> own_settings(const std::vector<ConfigEntry>& carried,
                                      const fs::path& lfs_storage) {
  const bool extended = std::any_of(carried.begin(), carried.end(), [](const ConfigEntry& entry) {
    return entry.key.starts_with("extensions.");
  });
  return {{"core.repositoryformatversion", extended ? "1" : "0"},
          {"core.bare", "false"},
          {"core.hookspath", "/dev/null"},
          {"core.fsmonitor", "false"},
          {"lfs.storage", lfs_storage.string()},
          {"gc.auto", "0"},
          {"maintenance.auto", "false"}};
}

// Addresses of submodules that are relative start at origin's.
void name_an_origin(std::vector<ConfigEntry>& entries, const fs::path& repository) {
  const auto is_address = [](const ConfigEntry& entry) {
    return entry.key.starts_with("remote.") && entry.key.ends_with(".url");
  };
  const auto is_origin = [](const ConfigEntry& entry) { return entry.key == "remote.origin.url"; };
  if (std::any_of(entries.begin(), entries.end(), is_origin)) return;
  const auto any = std::find_if(entries.begin(), entries.end(), is_address);
  entries.push_back({"remote.origin.url", any == entries.end() ? repository.string() : any->value});
}

// A name of a submodule may come from a hostile .gitmodules.
bool stays_below(const fs::path& name) {
  return !name.empty() && name.is_relative() &&
         std::none_of(name.begin(), name.end(), [](const fs::path& part) { return part == ".."; });
}

}  // namespace

GitFolderPattern::GitFolderPattern(const GitFolders& source, fs::path root, std::stop_token stop)
    : root_(std::move(root)), stop_(std::move(stop)) {
  borrow(source, "");
  for (const fs::path& folder : {source.own, source.common}) borrow_modules(folder / "modules");
  borrow_embedded(source.base);
}

std::string GitFolderPattern::listing(const fs::path& git_folder,
                                      std::vector<std::string> arguments) const {
  const auto outcome =
      ask_git(place_of_git_folder(git_folder), std::move(arguments), Reach::reads, stop_);
  if (!outcome.failure.empty())
    throw Broken("cannot read " + git_folder.string() + ": " + words_of(outcome));
  return outcome.output;
}

// Git LFS looks for objects in the folder `lfs` beside the objects of each alternate. So a store
// that is elsewhere needs an alternate without objects of git, whose neighbour it is.
fs::path GitFolderPattern::lend_lfs(const fs::path& storage, const fs::path& name) const {
  const fs::path place = root_ / "lent" / name;
  fs::create_directories(place / "objects");
  fs::create_directory_symlink(storage, place / "lfs");
  return place / "objects";
}

void GitFolderPattern::borrow(const GitFolders& source, const fs::path& name) {
  const fs::path folder = root_ / pattern / name,
                 objects = root_ / objects_folder / name / "objects";
  for (const char* made : {"refs", "info"}) fs::create_directories(folder / made);
  fs::create_directories(objects / "info");
  const std::vector<std::string> list{"config", "--list", "-z", "--includes"};
  const auto settings = parse_config(listing(source.own, list));
  std::string alternates = alternate_line(fs::canonical(source.common / "objects").string());
  if (const auto storage = lfs_storage_in(settings, source.common); fs::is_directory(storage))
    alternates += alternate_line(lend_lfs(storage, name).string());
  std::ofstream(objects / "info/alternates") << alternates;
  fs::create_directory_symlink(objects, folder / "objects");
  copy_if_there(source.common / "shallow", folder / "shallow");
  for (const char* kept : {"attributes", "exclude", "grafts", "sparse-checkout"})
    for (const fs::path& from : {source.common, source.own})
      copy_if_there(from / "info" / kept, folder / "info" / kept);
  // Where git-crypt and transcrypt have keys and scripts. A link leaves no second copy of a key.
  for (const char* state : {"git-crypt", "crypt"})
    if (fs::is_directory(source.common / state))
      fs::create_directory_symlink(source.common / state, folder / state);
  std::ofstream(folder / "packed-refs")
      << listing(source.own, {"for-each-ref", "--format=%(objectname) %(refname)", "refs/tags",
                              "refs/replace"});
  // git asks what a submodule has before it fetches what that should have. A work tree's own HEAD
  // comes with its commit.
  if (!name.empty()) {
    const auto head = ask_git(place_of_git_folder(source.own), {"rev-parse", "--verify", "HEAD"},
                              Reach::reads, stop_);
    std::ofstream(folder / "HEAD")
        << (head.failure.empty() ? head.output : "ref: refs/heads/main\n");
  } else {
    std::ofstream(folder / "HEAD") << "ref: refs/heads/main\n";
  }
  const fs::path lfs = root_ / lfs_folder;
  std::ofstream(folder / "config") << config_text(own_settings({}, lfs));
  auto entries = carried(settings, parse_config(listing(folder, list)), source.base);
  name_an_origin(entries, source.base);
  const auto own = own_settings(entries, lfs);
  entries.insert(entries.end(), own.begin(), own.end());
  std::ofstream(folder / "config") << config_text(entries);
}

void GitFolderPattern::borrow_modules(const fs::path& modules) {
  borrow_modules(modules, "modules");
}

void GitFolderPattern::borrow_modules(const fs::path& modules, const fs::path& name) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(modules, error)) {
    if (!entry.is_directory()) continue;
    const fs::path& from = entry.path();
    const fs::path to = name / from.filename();
    if (!is_git_folder(from)) {  // names of submodules may have slashes
      borrow_modules(from, to);
      continue;
    }
    if (!fs::exists(root_ / pattern / to)) borrow({from, from, from}, to);
    borrow_modules(from / "modules", to / "modules");
  }
}

// Submodules that keep their git folder in the work tree, as old versions of git made them.
void GitFolderPattern::borrow_embedded(const fs::path& tree) {
  if (!fs::exists(tree / ".gitmodules")) return;
  const auto listed = ask_git(place_of(tree),
                              {"config", "-z", "--file", (tree / ".gitmodules").string(),
                               "--get-regexp", "^submodule\\..*\\.path$"},
                              Reach::reads, stop_);
  constexpr std::size_t submodule_prefix = std::string_view("submodule.").size();
  constexpr std::size_t after = std::string_view(".path").size();
  for (const auto& [key, path] : parse_config(listed.output)) {
    const fs::path name = key.substr(submodule_prefix, key.size() - submodule_prefix - after);
    const fs::path from = tree / path.value_or("") / ".git";
    const fs::path to = "modules" / name;
    if (!stays_below(name) || !stays_below(path.value_or("")) || !is_git_folder(from) ||
        fs::exists(root_ / pattern / to))
      continue;
    borrow({from, from, from.parent_path()}, to);
    borrow_modules(from / "modules", to / "modules");
  }
}

void GitFolderPattern::copy_to(const fs::path& target, const std::string& commit) const {
  fs::copy(root_ / pattern, target, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  std::ofstream(target / "HEAD") << commit << "\n";
}

}  // namespace nightjar::cli
