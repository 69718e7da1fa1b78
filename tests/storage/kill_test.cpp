#include <csignal>
#include <sys/wait.h>

#include <catch2/catch.hpp>

#include "storage/statement.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

// Runs `act` in a process of its own, which is killed as soon as it has said that it is ready.
template <class Act>
void kill_during(Act act) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    act([&] {
      if (::write(ready[1], "x", 1) != 1) ::_exit(1);
      while (true) ::pause();
    });
    ::_exit(1);
  }
  ::close(ready[1]);
  char byte = 0;
  CHECK(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  ::kill(child, SIGKILL);
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
}

}  // namespace

TEST_CASE("an acknowledged result survives kill -9, and half a transaction leaves nothing") {
  Folder folder;
  const auto path = folder.path / "a.db";
  kill_during([&](auto wait) {
    Story story(path);
    story.measure("acknowledged");
    story.queue("half");
    const Job job = *story.claim();
    Transaction unfinished(story.db);
    store_result(Autocommit(story.db), job.id, job.attempt, Story::result(), at(10));
    wait();
  });
  Database db = Database::open_writer(path);
  CHECK(session_of(db, find_job(db, "acknowledged")->id)->runs.size() == 6);
  CHECK(find_job(db, "half")->state == JobState::leased);
  CHECK(db.impl().ask("SELECT count(*) FROM run") == 6);
  const JobId half = find_job(db, "half")->id;
  CHECK(store_result(Autocommit(db), half, 1, Story::result(), at(20)) == Accepted::stored);
}
