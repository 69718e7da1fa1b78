#include "bisect/git/repository.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::git;
namespace fs = std::filesystem;

namespace {

// A repository made by the git program in a folder that goes away with it.
class Upstream {
 public:
  Upstream() {
    std::string name = (fs::temp_directory_path() / "nightjar-git-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder_ = name;
    fs::create_directory(path());
    git("init -q -b main");
  }
  ~Upstream() { fs::remove_all(folder_); }

  fs::path path() const { return folder_ / "upstream"; }
  RepositoryOptions options() const {
    return {.url = path().string(),
            .path = folder_ / "copy.git",
            .limits = {},
            .login = {},
            .progress = {}};
  }

  void git(const std::string& arguments) {
    const auto command = "cd '" + path().string() +
                         "' && GIT_CONFIG_GLOBAL=/dev/null git -c user.name=Ada "
                         "-c user.email=ada@example.org -c core.autocrlf=false " +
                         arguments + " > ../output 2>&1";
    INFO(command);
    REQUIRE(std::system(command.c_str()) == 0);
  }
  CommitSha head(const std::string& revision = "HEAD") {
    git("rev-parse " + revision);
    std::string line;
    std::ifstream(folder_ / "output") >> line;
    return *CommitSha::parse(line);
  }
  CommitSha commit(const std::string& message, const std::map<std::string, std::string>& files) {
    for (const auto& [name, content] : files) {
      fs::create_directories((path() / name).parent_path());
      std::ofstream(path() / name) << content;
    }
    git("add -A");
    git("commit -q --allow-empty -m '" + message + "'");
    return head();
  }
  // Makes main an object of exactly these bytes, which git itself would not write.
  CommitSha commit_raw(const std::string& bytes) {
    std::ofstream(path() / "raw", std::ios::binary) << bytes;
    git("hash-object -t commit -w --literally raw");
    git("update-ref refs/heads/main $(cat ../output)");
    return head("main");
  }

 private:
  fs::path folder_;
};

// Takes connections and says nothing.
class SilentServer {
 public:
  SilentServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(listener_, any, size) == 0);
    REQUIRE(::listen(listener_, 8) == 0);
    REQUIRE(::getsockname(listener_, any, &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  ~SilentServer() {
    ::close(listener_);
    if (connection_ >= 0) ::close(connection_);
  }
  std::string url(const std::string& scheme = "git") const {
    return scheme + "://127.0.0.1:" + std::to_string(port_) + "/repository";
  }
  void accept() { connection_ = ::accept(listener_, nullptr, nullptr); }
  // A long packet, one byte after the other, until the other side has gone.
  void drip() const {
    const std::string begin = "8000";
    for (std::size_t i = 0;; ++i) {
      const char byte = i < begin.size() ? begin[i] : 'x';
      if (::send(connection_, &byte, 1, MSG_NOSIGNAL) != 1) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  // Answers one request of HTTP.
  void redirect_to(const std::string& url) {
    accept();
    char request[4096];
    REQUIRE(::read(connection_, request, sizeof request) > 0);
    const std::string answer = "HTTP/1.1 302 Found\r\nLocation: " + url +
                               "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    REQUIRE(::send(connection_, answer.data(), answer.size(), MSG_NOSIGNAL) > 0);
    ::close(std::exchange(connection_, -1));
  }
  bool was_asked() const {
    pollfd waiting{listener_, POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 1;
  }
  void close_by_half() const { ::shutdown(connection_, SHUT_WR); }
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(connection_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::close(std::exchange(connection_, -1));
  }
  // Waits until the other side has gone, whatever it sent before.
  bool is_hung_up() const {
    const timeval patience{10, 0};
    ::setsockopt(connection_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char buffer[1024];
    ssize_t got;
    while ((got = ::read(connection_, buffer, sizeof buffer)) > 0) {
    }
    return got == 0 || errno == ECONNRESET;
  }

 private:
  int listener_, connection_ = -1;
  unsigned port_ = 0;
};

std::vector<std::string> subjects(const std::optional<std::vector<Commit>>& commits) {
  REQUIRE(commits);
  std::vector<std::string> result;
  for (const auto& commit : *commits) result.push_back(commit.subject);
  return result;
}

}  // namespace

TEST_CASE("the first fetch clones the configured branches and later ones bring what is new") {
  Upstream upstream;
  const auto first = upstream.commit("first", {{"a.py", "1"}});
  upstream.git("branch nightly");
  upstream.git("branch unrelated");
  auto options = upstream.options();
  std::vector<std::string> said;
  options.progress = [&](std::string_view line) { said.emplace_back(line); };
  Repository repository(options);
  CHECK_FALSE(repository.resolve("main"));
  repository.fetch();
  CHECK(std::any_of(said.begin(), said.end(), [](const std::string& line) {
    return line.starts_with("remote: Counting objects: 100% (3/3)");
  }));
  CHECK(repository.resolve("main") == first);
  CHECK(repository.resolve("nightly") == first);
  CHECK(repository.resolve(first.str()) == first);
  CHECK(repository.resolve(first.str().substr(0, 7)) == first);
  CHECK_FALSE(repository.resolve(first.str().substr(0, 6)));
  CHECK_FALSE(repository.resolve("0000000"));
  CHECK_FALSE(repository.resolve("unrelated"));

  const auto second = upstream.commit("second", {{"a.py", "2"}});
  CHECK_FALSE(repository.resolve(second.str()));
  repository.fetch();
  CHECK(repository.resolve("main") == second);
  CHECK(repository.resolve("nightly") == first);
}

TEST_CASE("a copy is opened again, also with another address of its remote") {
  Upstream upstream;
  const auto first = upstream.commit("first", {{"a.py", "1"}});
  Repository(upstream.options()).fetch();
  fs::rename(upstream.path(), upstream.path().string() + "-moved");
  auto options = upstream.options();
  options.url = upstream.path().string() + "-moved";
  Repository repository(options);
  CHECK(repository.resolve("main") == first);
  repository.fetch();
  CHECK(repository.resolve("main") == first);
}

TEST_CASE("a branch that was rewritten is followed") {
  Upstream upstream;
  upstream.commit("first", {{"a.py", "1"}});
  Repository repository(upstream.options());
  repository.fetch();
  upstream.git("commit -q --amend -m rewritten");
  repository.fetch();
  CHECK(repository.resolve("main") == upstream.head());
}

TEST_CASE("what a killed fetch left behind is removed by the next") {
  Upstream upstream;
  upstream.commit("first", {{"a.py", "1"}});
  const auto options = upstream.options();
  Repository repository(options);
  const auto first = options.path / "objects" / "pack" / "pack_git2_1a2b3c";
  const auto second = options.path / "objects" / "pack" / "tmp_pack_1a2b3c";
  const auto lock = options.path / "refs" / "remotes" / "origin" / "main.lock";
  fs::create_directories(lock.parent_path());
  for (const auto& left : {first, second, lock}) std::ofstream(left) << "half";
  repository.fetch();
  for (const auto& left : {first, second, lock}) CHECK_FALSE(fs::exists(left));
  CHECK(repository.resolve("main") == upstream.head());
}

TEST_CASE("a remote that says nothing is given up, and readers do not wait for it") {
  Upstream upstream;
  const auto first = upstream.commit("first", {{"a.py", "1"}});
  auto options = upstream.options();
  Repository(options).fetch();
  SilentServer server;
  options.url = server.url();
  SECTION("after its limit of silence") {
    options.limits.stall = std::chrono::milliseconds(300);
    Repository repository(options);
    CHECK_THROWS_WITH(repository.fetch(), Catch::Contains("cannot fetch " + options.url) &&
                                              Catch::Contains("no progress for 1 s"));
    CHECK(repository.resolve("main") == first);
  }
  SECTION("after its limit of all") {
    options.limits.total = std::chrono::milliseconds(300);
    Repository repository(options);
    CHECK_THROWS_WITH(repository.fetch(), Catch::Contains("not done after 1 s"));
  }
  SECTION("when the service stops") {
    Repository patient(options);
    auto fetched = std::async(std::launch::async, [&] { patient.fetch(); });
    server.accept();
    auto read = std::async(std::launch::async, [&] { return patient.resolve("main"); });
    REQUIRE(read.wait_for(std::chrono::seconds(10)) == std::future_status::ready);
    CHECK(read.get() == first);
    patient.stop();
    CHECK_THROWS_WITH(fetched.get(), Catch::Contains("the service is stopping"));
    CHECK(server.is_hung_up());
    CHECK_THROWS_WITH(patient.fetch(), Catch::Contains("the service is stopping"));
  }
}

TEST_CASE("a remote that drips, closes by half or resets is given up") {
  Upstream upstream;
  const auto first = upstream.commit("first", {{"a.py", "1"}});
  auto options = upstream.options();
  Repository(options).fetch();
  SilentServer server;
  options.url = server.url();
  options.limits.stall = std::chrono::milliseconds(300);
  Repository repository(options);
  auto fetched = std::async(std::launch::async, [&] { repository.fetch(); });
  server.accept();
  SECTION("drips") {
    auto dripping = std::async(std::launch::async, [&] { server.drip(); });
    CHECK_THROWS_WITH(fetched.get(), Catch::Contains("no progress for 1 s"));
  }
  SECTION("closes by half") {
    server.close_by_half();
    CHECK_THROWS_WITH(fetched.get(), Catch::Contains("cannot fetch " + options.url));
  }
  SECTION("resets") {
    server.reset();
    CHECK_THROWS_WITH(fetched.get(), Catch::Contains("cannot fetch " + options.url));
  }
  CHECK(repository.resolve("main") == first);
}

TEST_CASE("a redirect of a remote leads git to no other host") {
  Upstream upstream;
  SilentServer remote, other;
  auto options = upstream.options();
  options.url = remote.url("http");
  Repository repository(options);
  auto fetched = std::async(std::launch::async, [&] { repository.fetch(); });
  remote.redirect_to(other.url("http") + "/info/refs?service=git-upload-pack");
  CHECK_THROWS_WITH(fetched.get(),
                    Catch::Contains("302") && Catch::Contains("redirects are not followed"));
  CHECK_FALSE(other.was_asked());
}

TEST_CASE("a copy that has more bytes than it may is brought no more") {
  Upstream upstream;
  const auto first = upstream.commit("first", {{"a.py", "1"}});
  auto options = upstream.options();
  Repository(options).fetch();
  upstream.commit("second", {{"a.py", "2"}});
  options.most_bytes = 10;
  Repository repository(options);
  const auto half = options.path / "objects" / "aa" / "tmp_obj_1a2b3c";
  fs::create_directories(half.parent_path());
  std::ofstream(half) << "half";
  CHECK_THROWS_WITH(repository.fetch(),
                    Catch::Contains("more than 10 bytes, the limit of [repository] most_bytes"));
  CHECK(repository.resolve("main") == first);
  CHECK_FALSE(fs::exists(half));
}

TEST_CASE("a password in the address of a remote is in no message") {
  Upstream upstream;
  auto options = upstream.options();
  options.url = "http://me:s3cr3tword@127.0.0.1:1/repository.git";
  Repository repository(options);
  const auto nobody = *CommitSha::parse(std::string(40, 'e'));
  CHECK_THROWS_WITH(repository.fetch(), Catch::Contains("cannot fetch http://127.0.0.1:1/rep") &&
                                            !Catch::Contains("s3cr3t"));
  CHECK_THROWS_WITH(repository.changed_paths(nobody, nobody),
                    Catch::Contains("127.0.0.1") && !Catch::Contains("s3cr3t"));
}

TEST_CASE("why git failed is one short line, whatever the remote wrote") {
  ChildOutcome failed;
  failed.status = 128 << 8;
  GitWords words;
  CHECK(words.failure_of(failed) == "git ended with status 32768");
  words.hear("Receiving objects:  50% (1/2)");
  words.hear("remote: no such repository");
  words.hear("fatal: " + std::string(50'000, 'x'));
  words.hear("fatal: a second one");
  CHECK(words.failure_of(failed) == "remote: no such repository; " + std::string(199, 'x') + "…");
  failed.stopped = "no progress for 1 s";
  CHECK(words.failure_of(failed) == "no progress for 1 s");
}

TEST_CASE("a failed fetch says what was attempted, where, and what to do") {
  Upstream upstream;
  auto options = upstream.options();
  SECTION("no repository at the address") {
    options.url = (upstream.path() / "missing").string();
    Repository repository(options);
    CHECK_THROWS_WITH(repository.fetch(), Catch::Contains("cannot fetch " + options.url) &&
                                              Catch::Contains("check [repository] url"));
  }
  SECTION("no main branch") {
    options.branches = {"trunk", "main"};
    upstream.commit("first", {{"a.py", "1"}});
    Repository repository(options);
    CHECK_THROWS_WITH(repository.fetch(), Catch::Contains("no branch trunk"));
  }
  SECTION("nobody listens at the address") {
    options.url = "http://127.0.0.1:1/repository.git";
    Repository repository(options);
    CHECK_THROWS_WITH(repository.fetch(), Catch::Contains("cannot fetch " + options.url) &&
                                              Catch::Contains("127.0.0.1"));
  }
}

TEST_CASE("a folder that is no repository is refused by name") {
  Upstream upstream;
  const auto options = upstream.options();
  fs::create_directories(options.path);
  std::ofstream(options.path / "HEAD") << "nonsense";
  CHECK_THROWS_WITH(Repository(options), Catch::Contains(options.path.string()));
}

TEST_CASE("a range follows first parents only, oldest first, without its good end") {
  Upstream upstream;
  const auto first = upstream.commit("first", {{"a.py", "1"}});
  upstream.commit("second", {{"a.py", "2"}});
  upstream.git("checkout -q -b side " + first.str());
  const auto side = upstream.commit("side", {{"b.py", "1"}});
  upstream.git("checkout -q main");
  upstream.git("merge -q --no-ff -m merged side");
  const auto last = upstream.commit("last", {{"a.py", "3"}});
  Repository repository(upstream.options());
  repository.fetch();
  CHECK(subjects(repository.range(first, last)) ==
        std::vector<std::string>{"second", "merged", "last"});
  CHECK(subjects(repository.range(last, last)).empty());
  CHECK_FALSE(repository.range(last, first));
  CHECK_FALSE(repository.range(side, last));
  CHECK_FALSE(repository.range(first, *CommitSha::parse(std::string(40, 'e'))));
}

TEST_CASE("a commit has its author, subject, time, tree and parents") {
  Upstream upstream;
  const auto first = upstream.commit("first", {{"a.py", "1"}});
  ::setenv("GIT_COMMITTER_DATE", "2026-08-20T07:30:00Z", 1);
  upstream.git(
      "commit -q --allow-empty --author 'Grace <grace@example.org>' -m 'Say it (#7)' -m why");
  ::unsetenv("GIT_COMMITTER_DATE");
  const auto second = upstream.head();
  Repository repository(upstream.options());
  repository.fetch();
  const auto commit = repository.find(second);
  REQUIRE(commit);
  CHECK(commit->sha == second);
  CHECK(commit->author_name == "Grace");
  CHECK(commit->subject == "Say it (#7)");
  CHECK(to_rfc3339(commit->committed_at) == "2026-08-20T07:30:00Z");
  CHECK(commit->parents == std::vector{first});
  CHECK(commit->tree == repository.find(first)->tree);
  CHECK_FALSE(repository.find(*CommitSha::parse(std::string(40, 'e'))));
}

TEST_CASE("of a subject and a name of megabytes the begin is read") {
  Upstream upstream;
  const auto first = upstream.commit("first", {});
  std::ofstream(upstream.path() / "long") << std::string(5 << 20, 'x');
  upstream.git("-c user.name=" + std::string(9000, 'y') + " commit -q --allow-empty -F long");
  Repository repository(upstream.options());
  repository.fetch();
  const auto commit = repository.find(upstream.head());
  REQUIRE(commit);
  CHECK(commit->subject == std::string(1000, 'x'));
  CHECK(commit->author_name == std::string(1000, 'y'));
  CHECK(repository.find(commit->sha)->tree == commit->tree);  // what was kept of it
  CHECK(repository.resolve(commit->sha.brief()) == commit->sha);
  CHECK(subjects(repository.range(first, commit->sha)) == std::vector{commit->subject});
}

TEST_CASE("bytes that are no UTF-8 in a message are replaced") {
  Upstream upstream;
  upstream.git(
      "-c i18n.commitEncoding=ISO-8859-1 commit -q --allow-empty -m 'caf\xe9 \xc3\xa9t\xc3\xa9'");
  Repository repository(upstream.options());
  repository.fetch();
  CHECK(repository.find(upstream.head())->subject == "caf\xEF\xBF\xBD \xc3\xa9t\xc3\xa9");
}

TEST_CASE("changed paths are added, modified and deleted; a rename is both ends") {
  Upstream upstream;
  const auto from = upstream.commit(
      "first",
      {{"torch/a.py", "1"}, {"b.py", "long enough to match"}, {"same.py", "1"}, {"kind.py", "1"}});
  fs::rename(upstream.path() / "b.py", upstream.path() / "c.py");
  fs::remove(upstream.path() / "kind.py");
  fs::create_symlink("same.py", upstream.path() / "kind.py");
  const auto to = upstream.commit("second", {{"torch/a.py", "2"}});
  Repository repository(upstream.options());
  repository.fetch();
  std::map<std::string, ChangedPath::Kind> kinds;
  for (const auto& change : repository.changed_paths(from, to)) kinds[change.path] = change.kind;
  CHECK(kinds ==
        std::map<std::string, ChangedPath::Kind>{{"torch/a.py", ChangedPath::Kind::modified},
                                                 {"b.py", ChangedPath::Kind::deleted},
                                                 {"c.py", ChangedPath::Kind::added},
                                                 {"kind.py", ChangedPath::Kind::modified}});
  CHECK(repository.changed_paths(from, from).empty());
  CHECK_THROWS_WITH(repository.changed_paths(from, *CommitSha::parse(std::string(40, 'e'))),
                    Catch::Contains(std::string(40, 'e')));
}

TEST_CASE("a commit that claims any time, name and path is read") {
  Upstream upstream;
  const auto first = upstream.commit("first", {{"a.py", "1"}});
  const std::string tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";  // the empty one
  upstream.git("read-tree --empty");
  upstream.git("hash-object -t tree -w /dev/null");
  for (const std::string seconds : {"9223372036854775807", "99999999999999", "0"}) {
    INFO(seconds);
    const auto sha =
        upstream.commit_raw("tree " + tree + "\nparent " + first.str() +
                            "\nauthor \x1b[2J\xff <> " + seconds + " +9999\ncommitter x <> " +
                            seconds + " -9999\n\n\x1b]0;\xfe" + std::string(1 << 20, 's') + "\n");
    Repository repository(upstream.options());
    repository.fetch();
    const auto commit = repository.find(sha);
    REQUIRE(commit);
    CHECK(commit->author_name == "[2J\xEF\xBF\xBD");  // libgit2 cuts off what begins it
    CHECK(to_rfc3339(commit->committed_at).size() <= 27);
    CHECK(repository.changed_paths(first, sha).size() == 1);
  }
}

TEST_CASE("a malformed commit that git walks over does not cut the history") {
  Upstream upstream;
  const auto first = upstream.commit("first", {{"a.py", "1"}});
  for (const std::string author :
       {"nobody", "nobody <a@b> 18446744073709551616 +0000", "", "> <"}) {
    INFO(author);
    const auto before = upstream.head("main");
    const auto odd = upstream.commit_raw("tree " + upstream.head("main^{tree}").str() +
                                         "\nparent " + before.str() + "\nauthor " + author +
                                         "\ncommitter " + author + "\n\nodd\n");
    Repository repository(upstream.options());
    repository.fetch();
    const auto commit = repository.find(odd);
    REQUIRE(commit);
    CHECK(commit->subject == "odd");
    CHECK(commit->author_name == (author.starts_with("nobody") ? "nobody" : author.substr(0, 1)));
    CHECK(to_us(commit->committed_at) == 0);
    const auto range = repository.range(first, odd);
    REQUIRE(range);
    CHECK(range->back().parents == std::vector{before});
    CHECK(repository.changed_paths(before, odd).empty());
    CHECK(repository.resolve(odd.brief()) == odd);
  }
}

TEST_CASE("a path of any bytes is found by these bytes") {
  Upstream upstream;
  const auto first = upstream.commit("first", {{"a.py", "1"}});
  const std::string odd = "torch/\xff\n\x1b[2J.py";
  const auto second = upstream.commit("second", {{odd, "2"}});
  Repository repository(upstream.options());
  repository.fetch();
  const auto paths = repository.changed_paths(first, second);
  REQUIRE(paths.size() == 1);
  CHECK(paths[0].path == odd);
  CHECK(repository.file(second, odd) == "2");
}

TEST_CASE("a file's content is that of the commit, bytes and all") {
  Upstream upstream;
  const std::string binary{"\0\r\n\xff", 4};
  const auto first = upstream.commit("first", {{"torch/a.py", "1"}, {"blob", binary}});
  const auto second = upstream.commit("second", {{"torch/a.py", "2"}});
  Repository repository(upstream.options());
  repository.fetch();
  CHECK(repository.file(first, "torch/a.py") == "1");
  CHECK(repository.file(second, "torch/a.py") == "2");
  CHECK(repository.file(second, "blob") == binary);
  CHECK_FALSE(repository.file(first, "torch/missing.py"));
  CHECK_FALSE(repository.file(first, "torch"));
  CHECK_FALSE(repository.file(*CommitSha::parse(std::string(40, 'e')), "torch/a.py"));
}

TEST_CASE("a tag resolves to its commit when the copy has it") {
  Upstream upstream;
  const auto first = upstream.commit("first", {{"a.py", "1"}});
  Repository repository(upstream.options());
  repository.fetch();
  upstream.git("tag -a -m note v1");
  upstream.git("push -q ../copy.git v1");
  CHECK(repository.resolve("v1") == first);
}

TEST_CASE("a folder lists its files, links, folders and pinned submodules with their modes") {
  Upstream upstream;
  const auto pin = upstream.commit("first", {{"a.py", "1"}, {"dir/b.py", "1"}, {"dir/c.py", "1"}});
  fs::create_symlink("a.py", upstream.path() / "link");
  fs::permissions(upstream.path() / "a.py", fs::perms::owner_exec, fs::perm_options::add);
  upstream.git("update-index --add --cacheinfo 160000," + pin.str() + ",third_party/x");
  upstream.git("add a.py link");
  upstream.git("commit -q -m second");
  const auto second = upstream.head();
  Repository repository(upstream.options());
  repository.fetch();
  const auto tree = repository.find(second)->tree;
  std::map<std::string, TreeEntry> entries;
  for (const TreeEntry& entry : repository.entries(tree)) entries.emplace(entry.name, entry);
  CHECK(entries.size() == 4);
  CHECK(entries.at("a.py").mode == 0100755);
  CHECK(entries.at("link").mode == 0120000);
  REQUIRE(entries.at("dir").is_folder());
  const auto below = repository.entries(entries.at("dir").object);
  REQUIRE(below.size() == 2);
  CHECK(below[0].name == "b.py");
  CHECK(below[0].object == below[1].object);  // equal contents
  CHECK_FALSE(below[0].is_folder());
  const auto pinned = repository.entries(entries.at("third_party").object);
  REQUIRE(pinned.size() == 1);
  CHECK(pinned[0].mode == 0160000);
  CHECK(pinned[0].object == pin);
  CHECK_THROWS_WITH(repository.entries(pin), Catch::Contains("read tree " + pin.str()));
}
