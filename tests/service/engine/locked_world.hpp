// Two nightlies that are installed with different packages.
#pragma once

#include <string>

#include <catch2/catch.hpp>

#include "storage/builds.hpp"
#include "storage/locks.hpp"
#include "storage/outbox.hpp"
#include "storage/regressions.hpp"
#include "tests/service/engine/night_world.hpp"

namespace nightjar::service::test {

struct LockedWorld : NightWorld {
  Lock before, after;

  LockedWorld(Lock good, Lock bad) : before(std::move(good)), after(std::move(bad)) { noise = .01; }

  // Plays both nights.
  void pass() {
    night("2026-08-19", before);
    grow(24);
    night("2026-08-20", after);
  }
  void night(const std::string& date, const Lock& lock) {
    Build build = nightly(date);
    build.lock = lock.sha256;
    storage::write(db, [&](storage::Transaction& transaction) {
      storage::add_lock(transaction, lock, clock.now());
      storage::update_build(transaction, build);
    });
    settle();
  }

  Regression only() {
    const auto all = storage::list_regressions(db, {}, {10, {}}).items;
    REQUIRE(all.size() == 1);
    return all[0];
  }
  OutboxMessage issue() {
    for (const OutboxMessage& message : storage::list_messages(db, {10, {}}).items)
      if (message.kind == OutboxKind::open_issue) return message;
    FAIL("no issue");
    return {};
  }
};

}  // namespace nightjar::service::test
