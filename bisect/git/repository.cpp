#include "bisect/git/repository.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "bisect/git/handle.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/redaction.hpp"
#include "storage/model/address.hpp"

namespace nightjar::git {
namespace fs = std::filesystem;
using std::chrono::steady_clock;
namespace {

constexpr int longest_range = 10000;
constexpr std::size_t longest_text = 1000;     // bytes of a name and of a subject
constexpr std::size_t usual_bytes = 64 << 10;  // of a whole commit
constexpr unsigned most_parents = 16;          // that are told
constexpr std::size_t fewest_digits = 7;       // of a commit's hash that is cut off
constexpr const char* remote_name = "origin";

std::vector<std::string> environment(const NetworkLimits& limits) {
  // http has no other limit on its silence once git itself is killed with the daemon.
  const auto stall = std::chrono::duration_cast<std::chrono::seconds>(limits.stall).count() + 1;
  std::vector<std::string> all = network_environment();
  all.insert(all.end(),
             {"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
              "GIT_SSH_COMMAND=ssh -oBatchMode=yes -oConnectTimeout=30 -oServerAliveInterval=30",
              "GIT_HTTP_LOW_SPEED_LIMIT=1", "GIT_HTTP_LOW_SPEED_TIME=" + std::to_string(stall)});
  return all;
}

std::string tracking_ref(std::string_view branch) {
  return std::string("refs/remotes/") + remote_name + "/" + std::string(branch);
}

// The id of the one object, of any kind, that begins with these digits; nullopt if several do.
std::optional<CommitSha> object_that_begins(git_repository* repository, std::string_view digits) {
  git_oid begin, whole;
  git_odb* objects = nullptr;
  if (digits.size() < fewest_digits || digits.size() >= GIT_OID_HEXSZ ||
      git_oid_fromstrn(&begin, digits.data(), digits.size()) != 0 ||
      git_repository_odb(&objects, repository) != 0)
    return std::nullopt;
  const Handle<git_odb, git_odb_free> owner(objects);
  if (git_odb_exists_prefix(&whole, objects, &begin, digits.size()) != 0) return std::nullopt;
  return to_sha(whole);
}

// The first line. Old commits have names and messages in other encodings, and JSON takes none of
// them; a hostile one has megabytes.
std::string text_of(const char* text) {
  const std::string_view begin(text ? text : "", text ? ::strnlen(text, longest_text) : 0);
  return valid_utf8(begin.substr(0, begin.find('\n')));
}

Commit describe(const git_commit* commit) {
  const git_signature* author = git_commit_author(commit);
  Commit result{.sha = to_sha(*git_commit_id(commit)),
                .tree = to_sha(*git_commit_tree_id(commit)),
                .parents = {},
                .author_name = text_of(author->name),
                .subject = text_of(git_commit_message(commit)),
                .committed_at = nearest_time(std::chrono::seconds(git_commit_time(commit)))};
  for (unsigned i = 0; i < std::min(git_commit_parentcount(commit), most_parents); ++i) {
    result.parents.push_back(to_sha(*git_commit_parent_id(commit, i)));
  }
  return result;
}

// Seconds at the end of a signature, "... > 1780000000 +0000"; 0 if there are none that fit.
std::int64_t seconds_in(std::string_view signature) {
  const auto address = signature.rfind('>');
  std::int64_t seconds = 0;
  if (address == std::string_view::npos || address + 2 > signature.size()) return 0;
  const std::string_view rest = signature.substr(address + 2);
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), seconds);
  return read.ec == std::errc() ? seconds : 0;
}

// Reads a commit as git does, which walks over ones that libgit2 refuses: without an address, or
// with a date beyond 64 bits. nullopt if it has no tree.
std::optional<Commit> describe(const CommitSha& sha, std::string_view text) {
  Commit commit{sha, sha, {}, "", "", {}};
  std::optional<CommitSha> tree;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty()) break;  // the message follows
    const std::string_view value = line.substr(std::min(line.find(' ') + 1, line.size()));
    if (line.starts_with("tree ")) tree = CommitSha::parse(value);
    if (line.starts_with("parent ") && commit.parents.size() < most_parents)
      if (auto parent = CommitSha::parse(value)) commit.parents.push_back(*std::move(parent));
    if (line.starts_with("author "))
      commit.author_name = text_of(std::string(value.substr(0, value.find(" <"))).c_str());
    if (line.starts_with("committer "))
      commit.committed_at = nearest_time(std::chrono::seconds(seconds_in(value)));
  }
  if (!tree) return std::nullopt;
  commit.tree = *std::move(tree);
  text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  commit.subject = text_of(std::string(text.substr(0, longest_text)).c_str());
  return commit;
}

std::optional<Commit> read_malformed(git_repository* repository, const CommitSha& sha) {
  git_odb* objects = nullptr;
  git_odb_object* object = nullptr;
  const git_oid oid = to_oid(sha);
  if (git_repository_odb(&objects, repository) != 0) return std::nullopt;
  const Handle<git_odb, git_odb_free> owner(objects);
  if (git_odb_read(&object, objects, &oid) != 0) return std::nullopt;
  const Handle<git_odb_object, git_odb_object_free> read(object);
  if (git_odb_object_type(object) != GIT_OBJECT_COMMIT) return std::nullopt;
  return describe(
      sha, {static_cast<const char*>(git_odb_object_data(object)), git_odb_object_size(object)});
}

bool is_huge(const git_commit* commit) {
  return std::strlen(git_commit_raw_header(commit)) + std::strlen(git_commit_message_raw(commit)) >
         usual_bytes;
}

bool is_unfinished(const std::string& name) {
  return name.starts_with("tmp_") || name.starts_with("pack_git2_") || name.ends_with(".temp");
}

// Calls `visit` for each file of the objects. Git and others may remove some meanwhile.
template <class Visit>
void visit_objects(const fs::path& repository, Visit visit) {
  std::error_code error;
  fs::recursive_directory_iterator at(repository / "objects", error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error))
    if (std::error_code gone; at->is_regular_file(gone)) visit(*at);
}

// A fetch that was killed leaves its half pack behind; of PyTorch that is up to a gigabyte. A lock
// that it left would make every later one fail. Nobody else fetches into this copy.
void remove_leftovers(const fs::path& repository) {
  std::error_code ignored;
  std::vector<fs::path> leftovers;
  visit_objects(repository, [&](const fs::directory_entry& entry) {
    if (is_unfinished(entry.path().filename().string())) leftovers.push_back(entry.path());
  });
  for (const auto& entry : fs::directory_iterator(repository, ignored))
    if (entry.path().extension() == ".lock") leftovers.push_back(entry.path());
  for (const auto& entry : fs::recursive_directory_iterator(repository / "refs", ignored))
    if (entry.path().extension() == ".lock") leftovers.push_back(entry.path());
  for (const fs::path& left : leftovers) fs::remove(left, ignored);
}

// Objects to a fetch as soon as the objects of the copy have too many bytes. A walk over them takes
// a second where there are hundreds of thousands, so the next one waits for many times as long.
class SizeWatch {
 public:
  SizeWatch(fs::path repository, std::uint64_t most)
      : repository_(std::move(repository)), most_(most) {}

  std::string operator()() {
    const auto begin = steady_clock::now();
    if (begin < next_) return "";
    std::uint64_t bytes = 0;
    visit_objects(repository_, [&](const fs::directory_entry& entry) {
      std::error_code gone;
      const auto size = entry.file_size(gone);
      if (!gone) bytes += size;
    });
    const auto end = steady_clock::now();
    next_ = end + std::max<steady_clock::duration>(pause_between, idle * (end - begin));
    if (bytes <= most_) return "";
    return "the copy would have more than " + std::to_string(most_) +
           " bytes, the limit of [repository] most_bytes";
  }

 private:
  static constexpr std::chrono::milliseconds pause_between{200};
  static constexpr int idle = 20;  // times as long as it walks
  fs::path repository_;
  std::uint64_t most_;
  steady_clock::time_point next_;
};

}  // namespace

void Repository::Close::operator()(git_repository* repository) const {
  git_repository_free(repository);
  git_libgit2_shutdown();
}

void Repository::Close::operator()(git_tree* tree) const {
  git_tree_free(tree);
}

Repository::Repository(RepositoryOptions options)
    : options_(std::move(options)), shown_url_(shown_url(options_.url)) {
  if (options_.branches.empty()) throw std::invalid_argument("a repository needs a main branch");
  git_libgit2_init();
  try {
    open();
  } catch (...) {
    if (!repository_) git_libgit2_shutdown();
    throw;
  }
}

Repository::~Repository() = default;

void Repository::fail(const std::string& attempt, const std::string& advice) const {
  throw std::runtime_error("cannot " + attempt + ": " +
                           without_credentials(one_line(last_error())) + "; " + advice);
}

void Repository::open() {
  const auto path = options_.path.string();
  const std::string advice =
      "check [service] data and its permissions, or remove " + path + " to have it made again";
  git_repository* repository = nullptr;
  if (fs::exists(options_.path / "HEAD")) {
    if (git_repository_open_bare(&repository, path.c_str()) != 0) {
      fail("open the repository " + path, advice);
    }
  } else {
    git_repository_init_options init = GIT_REPOSITORY_INIT_OPTIONS_INIT;
    init.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH;
    if (git_repository_init_ext(&repository, path.c_str(), &init) != 0) {
      fail("make the repository " + path, advice);
    }
  }
  repository_.reset(repository);

  git_remote* existing = nullptr;
  const bool known = git_remote_lookup(&existing, repository, remote_name) == 0;
  const RemoteHandle owner(existing);
  git_remote* made = nullptr;
  const int error = known ? git_remote_set_url(repository, remote_name, options_.url.c_str())
                          : git_remote_create(&made, repository, remote_name, options_.url.c_str());
  git_remote_free(made);
  if (error != 0) fail("use " + shown_url_ + " as the remote of " + path, "check [repository] url");
}

std::string Repository::ask(const std::vector<std::string>& arguments,
                            const NetworkLimits& limits) {
  // A redirect could lead to any host that this machine reaches.
  GitCall call{{"--git-dir=" + options_.path.string(), "-c", "http.followRedirects=false"},
               arguments,
               environment(limits),
               limits};
  call.own = options_.login;
  GitOutcome outcome = run_git(call, stop_.get_token(), options_.progress);
  if (!outcome.failure.empty())
    throw std::runtime_error("cannot fetch " + shown_url_ + " into " + options_.path.string() +
                             ": " + outcome.failure + "; check [repository] url and the network");
  return std::move(outcome.output);
}

std::optional<CommitSha> Repository::tip(std::string_view branch) const {
  const std::lock_guard lock(mutex_);
  git_oid found;
  if (git_reference_name_to_id(&found, repository_.get(), tracking_ref(branch).c_str()) != 0)
    return std::nullopt;
  return to_sha(found);
}

// Returns the branches whose tip differs in `listing`, the remote's "<sha>\t<ref>" lines. Leaves
// out branches that the remote does not have. Throws if that is the first one.
std::vector<std::string> Repository::changed_branches(const std::string& listing) const {
  std::vector<std::string> changed;
  for (const std::string& branch : options_.branches) {
    const auto at = listing.find("\trefs/heads/" + branch + "\n");
    if (at == std::string::npos || at < 40) {
      if (branch != options_.branches.front()) continue;
      throw std::runtime_error("cannot fetch " + shown_url_ + ": it has no branch " + branch +
                               "; check [repository] main");
    }
    if (tip(branch) != CommitSha::parse(std::string_view(listing).substr(at - 40, 40)))
      changed.push_back(branch);
  }
  return changed;
}

// The folder was removed while this was open.
void Repository::open_again() {
  const std::lock_guard lock(mutex_);
  git_libgit2_init();  // as the constructor did for the one that goes now
  open();
}

std::string Repository::listing() {
  std::vector<std::string> list{"ls-remote", remote_name};
  for (const auto& branch : options_.branches) list.push_back("refs/heads/" + branch);
  return ask(list, options_.limits);
}

std::vector<std::string> Repository::missing_branches() {
  const std::lock_guard one_at_a_time(fetching_);
  const std::string found = listing();
  std::vector<std::string> missing = options_.branches;
  std::erase_if(missing, [&](const std::string& branch) {
    return found.find("\trefs/heads/" + branch + "\n") != std::string::npos;
  });
  return missing;
}

void Repository::fetch() {
  const std::lock_guard one_at_a_time(fetching_);
  if (!fs::exists(options_.path / "HEAD")) open_again();
  const auto changed = changed_branches(listing());
  if (changed.empty()) return;
  remove_leftovers(options_.path);
  // No tags: PyTorch has tens of thousands.
  std::vector<std::string> bring{"fetch",      "--no-tags",    "--no-write-fetch-head",
                                 "--progress", "--no-auto-gc", "--no-recurse-submodules",
                                 remote_name};
  for (const auto& branch : changed)
    bring.push_back("+refs/heads/" + branch + ":" + tracking_ref(branch));
  NetworkLimits limits = options_.limits;
  limits.objection = SizeWatch(options_.path, options_.most_bytes);
  try {
    ask(bring, limits);
  } catch (...) {
    remove_leftovers(options_.path);  // it may be all the room that there is
    throw;
  }
}

void Repository::stop() {
  stop_.request_stop();
}

// libgit2 unpacks and hashes a commit of megabytes each time, which takes a second.
std::optional<Commit> Repository::read(const CommitSha& sha) const {
  if (const auto known = huge_.find(sha); known != huge_.end()) return known->second;
  git_commit* raw = nullptr;
  const git_oid oid = to_oid(sha);
  if (git_commit_lookup(&raw, repository_.get(), &oid) != 0)
    return read_malformed(repository_.get(), sha);
  const CommitHandle owner(raw);
  Commit commit = describe(raw);
  if (is_huge(raw)) huge_.emplace(sha, commit);
  return commit;
}

std::unique_ptr<git_tree, Repository::Close> Repository::tree_of(const CommitSha& commit) const {
  git_tree* tree = nullptr;
  if (const auto found = read(commit)) {
    const git_oid oid = to_oid(found->tree);
    git_tree_lookup(&tree, repository_.get(), &oid);
  }
  return std::unique_ptr<git_tree, Close>(tree);
}

std::optional<Commit> Repository::find(const CommitSha& sha) const {
  const std::lock_guard lock(mutex_);
  return read(sha);
}

std::optional<CommitSha> Repository::resolve(std::string_view revision) const {
  const std::lock_guard lock(mutex_);
  if (auto sha = CommitSha::parse(revision)) {
    return read(*sha) ? sha : std::nullopt;
  }
  git_oid branch;
  if (git_reference_name_to_id(&branch, repository_.get(), tracking_ref(revision).c_str()) == 0)
    return to_sha(branch);
  for (const auto& name : {tracking_ref(revision), "refs/tags/" + std::string(revision)}) {
    git_object* found = nullptr;
    git_object* peeled = nullptr;
    if (git_revparse_single(&found, repository_.get(), name.c_str()) != 0) continue;
    const ObjectHandle object(found);
    if (git_object_peel(&peeled, found, GIT_OBJECT_COMMIT) != 0) continue;
    const ObjectHandle commit(peeled);
    return to_sha(*git_object_id(peeled));
  }
  const auto begun = object_that_begins(repository_.get(), revision);
  return begun && read(*begun) ? begun : std::nullopt;
}

// By hand along parent(0): a walk that libgit2 sorts reads all history first.
std::optional<std::vector<Commit>> Repository::range(const CommitSha& good,
                                                     const CommitSha& bad) const {
  const std::lock_guard lock(mutex_);
  std::vector<Commit> commits;
  auto at = read(bad);
  for (int i = 0; at && i <= longest_range; ++i) {
    if (at->sha == good) {
      std::reverse(commits.begin(), commits.end());
      return commits;
    }
    commits.push_back(*std::move(at));
    const auto& parents = commits.back().parents;
    at = parents.empty() ? std::nullopt : read(parents.front());
  }
  return std::nullopt;
}

std::vector<ChangedPath> Repository::changed_paths(const CommitSha& from,
                                                   const CommitSha& to) const {
  const std::lock_guard lock(mutex_);
  const auto attempt = "compare commits " + from.str() + " and " + to.str() + " of " + shown_url_;
  const std::string advice = "fetch the repository again if it lacks one of them";
  const auto old_tree = tree_of(from);
  const auto new_tree = tree_of(to);
  if (!old_tree || !new_tree) fail(attempt, advice);
  git_diff* raw = nullptr;
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.flags = GIT_DIFF_INCLUDE_TYPECHANGE;
  if (git_diff_tree_to_tree(&raw, repository_.get(), old_tree.get(), new_tree.get(), &options) !=
      0) {
    fail(attempt, advice);
  }
  const DiffHandle diff(raw);
  std::vector<ChangedPath> paths;
  for (std::size_t i = 0; i < git_diff_num_deltas(raw); ++i) {
    const git_diff_delta* delta = git_diff_get_delta(raw, i);
    auto kind = ChangedPath::Kind::modified;
    if (delta->status == GIT_DELTA_ADDED) kind = ChangedPath::Kind::added;
    if (delta->status == GIT_DELTA_DELETED) kind = ChangedPath::Kind::deleted;
    paths.push_back({kind, delta->new_file.path});
  }
  return paths;
}

std::vector<TreeEntry> Repository::entries(const CommitSha& tree) const {
  const std::lock_guard lock(mutex_);
  git_tree* raw = nullptr;
  const git_oid id = to_oid(tree);
  if (git_tree_lookup(&raw, repository_.get(), &id) != 0)
    fail("read tree " + tree.str() + " in " + options_.path.string(),
         "the copy is damaged: remove it to have it made again");
  const TreeHandle owner(raw);
  std::vector<TreeEntry> entries;
  for (std::size_t i = 0; i < git_tree_entrycount(raw); ++i) {
    const git_tree_entry* entry = git_tree_entry_byindex(raw, i);
    entries.push_back({static_cast<unsigned>(git_tree_entry_filemode_raw(entry)),
                       git_tree_entry_name(entry), to_sha(*git_tree_entry_id(entry))});
  }
  return entries;
}

std::optional<std::string> Repository::file(const CommitSha& commit, std::string_view path) const {
  const std::lock_guard lock(mutex_);
  const auto tree = tree_of(commit);
  if (!tree) return std::nullopt;
  git_tree_entry* found = nullptr;
  if (git_tree_entry_bypath(&found, tree.get(), std::string(path).c_str()) != 0)
    return std::nullopt;
  const TreeEntryHandle entry(found);
  if (git_tree_entry_type(found) != GIT_OBJECT_BLOB) return std::nullopt;
  git_blob* raw = nullptr;
  if (git_blob_lookup(&raw, repository_.get(), git_tree_entry_id(found)) != 0) {
    fail("read " + std::string(path) + " of commit " + commit.str() + " in " +
             options_.path.string(),
         "the copy is damaged: remove it to have it made again");
  }
  const BlobHandle blob(raw);
  return std::string(static_cast<const char*>(git_blob_rawcontent(raw)),
                     static_cast<std::size_t>(git_blob_rawsize(raw)));
}

}  // namespace nightjar::git
