#include "web/server/ledger.hpp"

#include <set>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace nightjar::web;

namespace {

const Payer near_by{Account::anonymous, "192.0.2.1"}, far_off{Account::anonymous, "192.0.2.2"},
    lab_token{Account::agents, "lab"};

const Budgets small_budgets{.anonymous = {100, 60}, .agents = {50, 50}};

}  // namespace

TEST_CASE("Nobody holds more than its share, nor an account more than its budget") {
  const Ledger ledger(small_budgets);
  auto first = ledger.try_charge(near_by, 60);
  REQUIRE(first);
  CHECK_FALSE(ledger.try_charge(near_by, 1));
  auto second = ledger.try_charge(far_off, 40);
  REQUIRE(second);
  CHECK_FALSE(second->try_resize(41));
  CHECK(second->amount() == 40);
  CHECK(ledger.held(Account::anonymous) == 100);
  CHECK(ledger.try_charge(lab_token, 50));  // what others hold is nothing to it
  CHECK_FALSE(ledger.try_charge(lab_token, static_cast<std::size_t>(-1)));
  CHECK_FALSE(ledger.try_charge({Account::cache, ""}, 1));  // no budget, no charge
}

TEST_CASE("Each role has an account of its own") {
  std::set<Account> accounts{Account::cache, Account::comparisons};
  for (const Role role : nightjar::all_of<Role>())
    if (role != Role::builder) CHECK(accounts.insert(account_of(role)).second);
  CHECK(account_of(Role::builder) == Account::agents);
}

TEST_CASE("A charge is given back once, by whoever holds it at last") {
  const Ledger ledger(small_budgets);
  {
    auto charge = ledger.try_charge(near_by, 10);
    REQUIRE(charge);
    Charge held = *std::move(charge);
    charge.reset();
    CHECK(ledger.held(Account::anonymous) == 10);
    CHECK(held.try_resize(5));
    CHECK(ledger.held(Account::anonymous) == 5);
    held = Charge();
    CHECK(ledger.held(Account::anonymous) == 0);
    CHECK_FALSE(held.try_resize(1));  // it is of nobody
    held = *ledger.try_charge(far_off, 20);
    held = *ledger.try_charge(near_by, 30);
    CHECK(ledger.held(Account::anonymous) == 30);
  }
  CHECK(ledger.held(Account::anonymous) == 0);
  CHECK(ledger.try_charge(near_by, 60));
}

TEST_CASE("A charge may outlive its ledger") {
  auto ledger = std::make_unique<Ledger>(small_budgets);
  auto charge = ledger->try_charge(near_by, 60);
  ledger.reset();
  REQUIRE(charge);
  CHECK_FALSE(charge->try_resize(61));
  CHECK(charge->try_resize(0));
}

TEST_CASE("Many threads charge and give back without losing a byte") {
  const Ledger ledger(small_budgets);
  std::vector<std::thread> threads;
  for (const Payer& payer : {near_by, far_off, near_by})
    threads.emplace_back([&ledger, payer] {
      for (int i = 0; i < 2000; ++i)
        if (auto charge = ledger.try_charge(payer, 30)) charge->try_resize(60);
    });
  for (auto& thread : threads) thread.join();
  CHECK(ledger.held(Account::anonymous) == 0);
}
