#include "storage/tokens.hpp"

#include <catch2/catch.hpp>

#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

Enrolment enrolment(Database& db, char hash = 'e') {
  return add_enrolment(Autocommit(db),
                       {{}, sha256(hash), "", "token:ops", at(0), at(3600), {}, {}});
}

RunnerToken token(Database& db, char hash, const std::string& runner, EnrolmentId by) {
  return add_runner_token(Autocommit(db), {{}, sha256(hash), runner, by, at(0), {}, {}, {}});
}

std::vector<std::string> accepted(const Database& db, const std::string& runner, int now) {
  std::vector<std::string> hashes;
  for (const RunnerToken& one : accepted_runner_tokens(db, runner, at(now)))
    hashes.push_back(one.sha256.str().substr(0, 1));
  return hashes;
}

using Hashes = std::vector<std::string>;

}  // namespace

TEST_CASE("a one-time token is open until it is used, revoked or too old") {
  Story story;
  const Enrolment made = enrolment(story.db);
  CHECK(state_of(made, at(3599)) == EnrolmentState::open);
  CHECK(state_of(made, at(3600)) == EnrolmentState::expired);
  CHECK(find_enrolment(story.db, sha256('e'))->id == made.id);
  CHECK_FALSE(find_enrolment(story.db, sha256('f')));
  use_enrolment(Autocommit(story.db), made.id, at(9));
  CHECK(state_of(*find_enrolment(story.db, made.id), at(9)) == EnrolmentState::used);
  CHECK_FALSE(revoke_enrolment(Autocommit(story.db), made.id, at(10)));
  const Enrolment other = enrolment(story.db, 'f');
  CHECK(revoke_enrolment(Autocommit(story.db), other.id, at(10)));
  CHECK_FALSE(revoke_enrolment(Autocommit(story.db), other.id, at(11)));
  CHECK(state_of(*find_enrolment(story.db, other.id), at(10)) == EnrolmentState::revoked);
  CHECK(list_enrolments(story.db, {}).items.size() == 2);
}

TEST_CASE("the old token is accepted until the new one was used, and for the grace after it") {
  Story story;
  const auto by = enrolment(story.db).id;
  const RunnerToken first = token(story.db, '1', "lab", by);
  token(story.db, '9', "other", by);
  CHECK(note_first_use(Autocommit(story.db), first, at(1), std::chrono::seconds(60)));
  CHECK_FALSE(note_first_use(Autocommit(story.db), first, at(2), std::chrono::seconds(60)));
  const RunnerToken second = token(story.db, '2', "lab", by);
  CHECK(accepted(story.db, "lab", 100'000) == Hashes{"1", "2"});  // however long it waits
  CHECK(state_of(second, at(5)) == RunnerTokenState::unused);
  CHECK(note_first_use(Autocommit(story.db), second, at(100), std::chrono::seconds(60)));
  CHECK(accepted(story.db, "lab", 159) == Hashes{"1", "2"});
  CHECK(accepted(story.db, "lab", 160) == Hashes{"2"});
  const RunnerToken old = *find_runner_token(story.db, first.id);
  CHECK(state_of(old, at(159)) == RunnerTokenState::ending);
  CHECK(state_of(old, at(160)) == RunnerTokenState::ended);
  CHECK(state_of(*find_runner_token(story.db, second.id), at(160)) == RunnerTokenState::valid);
  CHECK(accepted(story.db, "other", 160) == Hashes{"9"});
  CHECK(accepted_runner_tokens(story.db, at(160)).size() == 2);
}

TEST_CASE("a successor that was never used gives way to another one") {
  Story story;
  const auto by = enrolment(story.db).id;
  const RunnerToken first = token(story.db, '1', "lab", by);
  token(story.db, '2', "lab", by);
  revoke_unused_successors(Autocommit(story.db), first, at(5));
  CHECK(accepted(story.db, "lab", 5) == Hashes{"1"});
}

TEST_CASE("revoking ends every token of the name and none of another") {
  Story story;
  const auto by = enrolment(story.db).id;
  const RunnerToken first = token(story.db, '1', "lab", by);
  token(story.db, '2', "lab", by);
  token(story.db, '9', "other", by);
  CHECK(revoke_runner_tokens(Autocommit(story.db), "lab", at(5)) == 2);
  CHECK(revoke_runner_tokens(Autocommit(story.db), "lab", at(6)) == 0);
  CHECK(accepted(story.db, "lab", 5).empty());
  CHECK(accepted(story.db, "other", 5) == Hashes{"9"});
  CHECK(state_of(*find_runner_token(story.db, first.id), at(5)) == RunnerTokenState::revoked);
  CHECK(list_runner_tokens(story.db, {}).items.size() == 3);
}
