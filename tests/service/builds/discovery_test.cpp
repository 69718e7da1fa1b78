#include "service/builds/discovery.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "service/builds/directory_source.hpp"
#include "storage/base/digest.hpp"
#include "tests/service/builds/support.hpp"
#include "tests/support/literal_graph.hpp"
#include "tests/support/manual_clock.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using nightjar::test::ScratchFolder;
using nightjar::test::WheelRecipe;

namespace {

// A directory of wheels that fails on demand.
class MoodySource final : public BuildSource {
 public:
  explicit MoodySource(const std::filesystem::path& folder) : wheels_(folder, {"cpu", "cp311"}) {}
  std::vector<ListedWheel> list() override {
    if (!can_list) throw std::runtime_error("the index is away");
    auto listed = wheels_.list();
    std::erase_if(listed, [&](const ListedWheel& wheel) { return hidden.contains(wheel.date); });
    for (ListedWheel& wheel : listed)
      if (claims.contains(wheel.date)) wheel.sha256 = Sha256::parse(claims[wheel.date]);
    for (int i = 0; i < flood; ++i) {
      const std::string name = "torch-" + std::to_string(i) + ".whl";
      listed.push_back(
          {name, "file:///nowhere/" + name, std::to_string(i), "cpu", "2300-01-01", {}});
    }
    return listed;
  }
  const std::vector<std::string>& problems() const override { return wheels_.problems(); }
  Sha256 fetch(const ListedWheel& wheel, const std::filesystem::path& to) override {
    ++fetches;
    if (!can_fetch) throw std::runtime_error("connection cut");
    if (removed) throw WheelGone("its place answered 404");
    return wheels_.fetch(wheel, to);
  }

  bool can_list = true, can_fetch = true, removed = false;
  int fetches = 0;
  int flood = 0;                              // wheels of a day to come that are listed, too
  std::set<std::string> hidden;               // dates that are not listed
  std::map<std::string, std::string> claims;  // date to the SHA-256 that the index claims

 private:
  DirectorySource wheels_;
};

struct World {
  ScratchFolder folder;
  ManualClock clock{*parse_rfc3339("2026-08-20T12:00:00Z")};
  git::LiteralGraph graph;
  MoodySource source{std::filesystem::create_directories(folder / "wheels") ? folder / "wheels"
                                                                            : folder / "wheels"};
  Artifacts artifacts{folder / "artifacts", 1 << 20, clock};
  storage::Database db = storage::Database::open_writer(":memory:");
  Config config;
  std::optional<Discovery> discovery;

  World() {
    config.repository.url = "the repository";
    start();
  }
  void start() { discovery.emplace(source, graph, artifacts, config, clock); }

  // A commit of main, its nightly release and the wheel of that day.
  WheelRecipe recipe(int day) {
    const std::string two = (day < 10 ? "0" : "") + std::to_string(day);
    const CommitSha commit = graph.commit("main", "Work of " + two);
    WheelRecipe recipe;
    recipe.version = "2.15.0.dev202608" + two + "+cpu";
    recipe.git_version = graph.release("nightly", "2026-08-" + two, commit).str();
    return recipe;
  }
  void publish(int day) { recipe(day).write(folder / "wheels"); }

  std::vector<std::string> dates(BuildState state) {
    std::vector<std::string> dates;
    for (const Build& build : storage::builds_in_state(db, state)) dates.push_back(build.date);
    return dates;
  }
  Build only(BuildState state) {
    const auto builds = storage::builds_in_state(db, state);
    REQUIRE(builds.size() == 1);
    return builds[0];
  }
};

using Dates = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(World, "a first start takes the last days for rows and proves the newest") {
  config.source.keep_days = 3;
  for (const int day : {10, 18, 19, 20}) publish(day);
  const Changes changes = discovery->tick(db);
  CHECK(changes.found.size() == 3);
  REQUIRE(changes.settled);
  CHECK(changes.settled->date == "2026-08-20");
  CHECK(changes.settled->state == BuildState::proved);
  CHECK(dates(BuildState::found) == Dates{"2026-08-18", "2026-08-19"});
  CHECK(artifacts.holds(*changes.settled->sha256));
  CHECK(graph.find(*changes.settled->commit)->subject == "Work of 20");
  CHECK(graph.find(*changes.settled->nightly_commit)->subject.starts_with("2026-08-20 nightly"));

  CHECK_FALSE(discovery->tick(db).settled);
  CHECK(source.fetches == 1);
}

TEST_CASE_METHOD(World, "a first start takes the two newest however old they are") {
  for (const int day : {1, 2, 3}) publish(day);
  clock.advance(std::chrono::hours(24 * 365));
  CHECK(discovery->tick(db).found.size() == 2);
  CHECK(dates(BuildState::proved) == Dates{"2026-08-03"});
}

TEST_CASE_METHOD(World, "a first start proves as many as configured, oldest first, one at a time") {
  config.source.first_nightlies = 2;
  for (const int day : {18, 19, 20}) publish(day);
  const Survey survey = discovery->survey(discovery->known(db));
  CHECK(survey.more);
  CHECK(survey.settled->date == "2026-08-19");
  CHECK(discovery->apply(db, survey).found.size() == 3);
  CHECK(discovery->tick(db).settled->date == "2026-08-20");
  CHECK(dates(BuildState::found) == Dates{"2026-08-18"});
}

TEST_CASE_METHOD(World, "every build that appears afterwards is proved, also a late one") {
  publish(17);
  discovery->tick(db);
  publish(20);
  CHECK(discovery->tick(db).settled->date == "2026-08-20");
  publish(19);
  start();  // nothing of this lives in memory only
  CHECK(discovery->tick(db).settled->date == "2026-08-19");
  publish(16);
  CHECK(discovery->tick(db).found.empty());
  CHECK(dates(BuildState::proved) == Dates{"2026-08-17", "2026-08-20", "2026-08-19"});
}

TEST_CASE_METHOD(World, "a source that lists more than any honest one adds few builds") {
  source.flood = 6000;
  const Survey refused = discovery->survey(discovery->known(db));
  CHECK(refused.source_failure ==
        "cannot list builds: the source lists 6000 wheels; at most 5000 are read");
  CHECK(discovery->apply(db, refused).found.empty());
  source.flood = 4000;
  for (const int day : {20, 21, 22}) publish(day);
  const Survey few = discovery->survey(discovery->known(db));
  CHECK(few.problems == Dates{"4001 of its wheels have a date after 2026-08-21 and are left out"});
  CHECK(discovery->apply(db, few).found.size() == 2);
  clock.advance(std::chrono::hours(24));
  CHECK(discovery->tick(db).found.size() == 1);
}

TEST_CASE_METHOD(World, "applying a survey twice, or after a crash in between, changes nothing") {
  publish(20);
  const Survey survey = discovery->survey(discovery->known(db));
  CHECK(storage::builds_in_state(db, BuildState::found).empty());  // looking writes no row
  start();                                                         // it was killed before applying
  const Survey again = discovery->survey(discovery->known(db));
  CHECK(discovery->apply(db, again).settled);
  CHECK_FALSE(discovery->apply(db, again).settled);
  CHECK_FALSE(discovery->apply(db, survey).settled);
  CHECK(dates(BuildState::proved) == Dates{"2026-08-20"});
  CHECK(artifacts.size_bytes() ==
        std::filesystem::file_size(*artifacts.path(*only(BuildState::proved).sha256)));
}

TEST_CASE_METHOD(World, "an empty or absent source is a problem, and not yet the first start") {
  config.source.index = "https://wheels.test/nightly/cpu";
  CHECK(discovery->tick(db).found.empty());
  CHECK_THAT(discovery->survey(discovery->known(db)).source_failure,
             Contains("https://wheels.test/nightly/cpu lists no wheel of torch of variant cpu") &&
                 Contains("check [source] index"));
  source.can_list = false;
  CHECK(discovery->survey(discovery->known(db)).source_failure == "the index is away");
  source.can_list = true;
  for (const int day : {19, 20}) publish(day);
  const Survey survey = discovery->survey(discovery->known(db));
  CHECK(survey.source_failure.empty());
  CHECK(discovery->apply(db, survey).settled->date == "2026-08-20");
}

TEST_CASE_METHOD(World, "commits that cannot be fetched are told at every look until they can be") {
  publish(20);
  config.repository.main = "trunk";
  const Survey first = discovery->survey(discovery->known(db));
  CHECK(first.repository_failure == "the repository has no branch trunk");
  discovery->apply(db, first);
  // Too early to try again, but still so.
  CHECK(discovery->survey(discovery->known(db)).repository_failure == first.repository_failure);
  config.repository.main = "main";
  clock.advance(std::chrono::seconds(60));
  CHECK(discovery->survey(discovery->known(db)).repository_failure.empty());
}

TEST_CASE_METHOD(World,
                 "a download that fails leaves the build found and is retried later and later") {
  publish(20);
  source.can_fetch = false;
  CHECK_FALSE(discovery->tick(db).settled);
  CHECK_THAT(only(BuildState::found).reason, Contains("connection cut"));
  CHECK(source.fetches == 1);
  discovery->tick(db);
  CHECK(source.fetches == 1);  // too early
  clock.advance(std::chrono::seconds(5));
  discovery->tick(db);
  CHECK(source.fetches == 2);
  clock.advance(std::chrono::seconds(5));
  discovery->tick(db);
  CHECK(source.fetches == 2);  // now ten seconds
  clock.advance(std::chrono::seconds(5));
  source.can_fetch = true;
  CHECK(discovery->tick(db).settled->state == BuildState::proved);
  CHECK(only(BuildState::proved).reason.empty());
}

TEST_CASE_METHOD(World, "one build that cannot be fetched does not hold up the next") {
  config.source.first_nightlies = 2;
  for (const int day : {19, 20}) publish(day);
  source.can_fetch = false;
  CHECK_FALSE(discovery->tick(db).settled);
  source.can_fetch = true;
  CHECK(discovery->tick(db).settled->date == "2026-08-20");
}

TEST_CASE_METHOD(World, "a build that is neither downloadable nor listed any more is given up") {
  publish(20);
  source.can_fetch = false;
  discovery->tick(db);
  clock.advance(std::chrono::hours(1));
  source.can_list = false;  // an index that is away says nothing about the build
  CHECK_FALSE(discovery->tick(db).settled);
  clock.advance(std::chrono::hours(1));
  source.can_list = true;
  source.hidden = {"2026-08-20"};
  CHECK_FALSE(discovery->tick(db).settled);  // nor does a connection that is cut
  CHECK_THAT(only(BuildState::found).reason, Contains("connection cut"));
  clock.advance(std::chrono::hours(1));
  source.can_fetch = source.removed = true;
  CHECK(discovery->tick(db).settled->state == BuildState::unproved);
  CHECK_THAT(only(BuildState::unproved).reason,
             Contains("lists it no longer, and its place answered 404"));
}

TEST_CASE_METHOD(World, "a build that its index lists no longer is taken while its place has it") {
  publish(20);
  source.can_fetch = false;
  discovery->tick(db);
  source.hidden = {"2026-08-20"};
  clock.advance(std::chrono::hours(1));
  CHECK_FALSE(discovery->tick(db).settled);
  clock.advance(std::chrono::hours(1));
  source.can_fetch = true;
  CHECK(discovery->tick(db).settled->state == BuildState::proved);
}

TEST_CASE_METHOD(World, "commits that cannot be fetched put a build off before its download") {
  publish(20);
  struct Broken final : git::CommitGraph {
    void fetch() override { throw std::runtime_error("no route to the repository"); }
    std::optional<git::Commit> find(const CommitSha&) const override { return std::nullopt; }
    std::optional<CommitSha> resolve(std::string_view) const override { return std::nullopt; }
    std::optional<std::vector<git::Commit>> range(const CommitSha&,
                                                  const CommitSha&) const override {
      return std::nullopt;
    }
    std::vector<git::TreeEntry> entries(const CommitSha&) const override { return {}; }
    std::vector<git::ChangedPath> changed_paths(const CommitSha&, const CommitSha&) const override {
      return {};
    }
    std::optional<std::string> file(const CommitSha&, std::string_view) const override {
      return std::nullopt;
    }
  } broken;
  Discovery blind(source, broken, artifacts, config, clock);
  CHECK_FALSE(blind.tick(db).settled);
  CHECK_THAT(only(BuildState::found).reason, Contains("no route to the repository"));
  CHECK(source.fetches == 0);

  config.repository.main = "trunk";
  start();
  discovery->tick(db);
  CHECK_THAT(only(BuildState::found).reason, Contains("the repository has no branch trunk"));
}

TEST_CASE_METHOD(World, "a wheel whose hash the index corrects is looked at again") {
  recipe(20).write(folder / "wheels");
  source.claims["2026-08-20"] = std::string(64, 'a');
  discovery->tick(db);
  CHECK(only(BuildState::unproved).sha256 == Sha256::parse(std::string(64, 'a')));
  discovery->tick(db);
  CHECK(source.fetches == 1);  // nothing new is said
  source.claims.clear();
  discovery->tick(db);
  CHECK(source.fetches == 1);  // no hash is no correction
  const auto file = std::filesystem::directory_iterator(folder / "wheels")->path();
  const Sha256 actual = digest_of_file(file);
  source.claims["2026-08-20"] = actual.str();
  discovery->tick(db);
  CHECK(only(BuildState::found).reason.empty());
  discovery->tick(db);
  CHECK(only(BuildState::proved).sha256 == actual);
}

TEST_CASE_METHOD(World, "a wheel that lies is kept, marked as unproved and not stored") {
  recipe(20).write(folder / "wheels");
  std::string reason;
  SECTION("wrong hash") {
    source.claims["2026-08-20"] = std::string(64, 'a');
    reason = "the index says SHA-256 aaaaaaaaaaaa";
  }
  SECTION("a pull request's wheel in a nightly's place") {
    WheelRecipe lie = recipe(20);
    lie.git_version = graph.commit("pull/1", "Try something").str();
    lie.write(folder / "wheels");
    reason = "(Try something) is neither a nightly release nor on main";
  }
  CHECK(discovery->tick(db).settled->state == BuildState::unproved);
  const Build build = only(BuildState::unproved);
  CHECK_THAT(build.reason, Contains(reason));
  CHECK(build.sha256);
  CHECK_FALSE(build.commit);
  CHECK(std::filesystem::is_empty(folder / "artifacts"));
  discovery->tick(db);
  CHECK(source.fetches == 1);
}

TEST_CASE_METHOD(World, "a wheel that is broken as a package is unusable, and the next is proved") {
  publish(19);
  discovery->tick(db);
  const WheelRecipe good = recipe(20);
  const auto file = good.write(folder / "wheels");
  auto members = good.members();
  std::string reason;
  SECTION("of no bytes") {
    std::filesystem::resize_file(file, 0);
    reason = "no whole zip";
  }
  SECTION("truncated") {
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    reason = "no whole zip";
  }
  SECTION("a byte is another") {
    std::string bytes = nightjar::test::read_file(file);
    bytes[bytes.find("PK\x07\x08") - 3] ^= 0x55;  // of what is packed before the descriptor
    nightjar::test::write_file(file, bytes);
    reason = "its member 'torch/__init__.py' cannot be read";
  }
  SECTION("path traversal") {
    members.emplace_back("../../evil.py", "x");
    nightjar::test::write_wheel(file, members, good.info());
    reason = "would leave the folder";
  }
  SECTION("another version inside") {
    WheelRecipe lie = good;
    lie.metadata_version = "2.14.0";
    lie.write(folder / "wheels");
    reason = "METADATA says version 2.14.0";
  }
  SECTION("without RECORD") {
    nightjar::test::write_zip(file, members);
    reason = "it has no " + good.info() + "/RECORD";
  }
  SECTION("a member was left out") {
    const std::string record = nightjar::test::record_of(members, good.info());
    members.erase(members.begin());
    members.emplace_back(good.info() + "/RECORD", record);
    nightjar::test::write_zip(file, members);
    reason = "RECORD lists torch/__init__.py, which is missing";
  }
  CHECK(discovery->tick(db).settled->state == BuildState::unusable);
  const Build build = only(BuildState::unusable);
  CHECK_THAT(build.reason, Contains(reason));
  CHECK(build.sha256);
  CHECK_FALSE(build.commit);
  const int fetches = source.fetches;
  discovery->tick(db);
  CHECK(source.fetches == fetches);
  publish(21);
  CHECK(discovery->tick(db).settled->state == BuildState::proved);
  CHECK(dates(BuildState::proved) == Dates{"2026-08-19", "2026-08-21"});
}

TEST_CASE_METHOD(World, "a proved wheel that changes at its source is a problem, not a new build") {
  publish(20);
  discovery->tick(db);
  source.claims["2026-08-20"] = std::string(64, 'a');
  const Survey survey = discovery->survey(discovery->known(db));
  CHECK(survey.found.empty());
  REQUIRE(survey.problems.size() == 1);
  CHECK_THAT(survey.problems[0], Contains("no longer what it was"));
}

TEST_CASE_METHOD(World, "an evicted wheel is brought back, but only the same one") {
  publish(20);
  discovery->tick(db);
  const Build build = only(BuildState::proved);
  std::filesystem::remove(*artifacts.path(*build.sha256));
  discovery->restore(build);
  CHECK(artifacts.holds(*build.sha256));
  const int fetches = source.fetches;
  discovery->restore(build);
  CHECK(source.fetches == fetches);

  std::filesystem::remove(*artifacts.path(*build.sha256));
  publish(20);  // overwritten, with another git_version
  CHECK_THROWS_WITH(discovery->restore(build), Contains("as when it was proved"));
  CHECK(std::filesystem::is_empty(folder / "artifacts"));
}
