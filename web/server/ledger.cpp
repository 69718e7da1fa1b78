#include "web/server/ledger.hpp"

#include <array>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace nightjar::web {

Account account_of(Role role) {
  switch (role) {
    case Role::none:
      return Account::anonymous;
    case Role::read:
      return Account::readers;
    case Role::import:
      return Account::imports;
    case Role::runner:
    case Role::builder:
      return Account::agents;
    case Role::admin:
      return Account::admins;
  }
  throw std::logic_error("a role that is none");
}

const Budget& Budgets::of(Account account) const {
  const Budget* const each[] = {&anonymous, &readers, &imports,    &agents,
                                &admins,    &cache,   &comparisons};
  return *each[static_cast<std::size_t>(account)];
}

struct Ledger::Book {
  mutable std::mutex mutex;
  Budgets budgets;
  std::array<std::size_t, static_cast<std::size_t>(Account::comparisons) + 1> held{};
  Charge::Entries entries;

  std::size_t& of(Account account) { return held[static_cast<std::size_t>(account)]; }
  // Under the mutex. False, and nothing has changed, if a budget has no room.
  bool replace(Charge::Entries::value_type& entry, std::size_t before, std::size_t after) {
    auto& all = of(entry.first.account);
    const Budget& budget = budgets.of(entry.first.account);
    const auto fits = [&](std::size_t sum, std::size_t limit) {
      return after <= limit && sum - before <= limit - after;
    };
    if (after > before && !(fits(all, budget.all) && fits(entry.second.amount, budget.each)))
      return false;
    all += after - before;
    entry.second.amount += after - before;
    return true;
  }
  void forget(Charge::Entries::iterator entry) {
    if (--entry->second.charges == 0) entries.erase(entry);
  }
};

Ledger::Ledger(const Budgets& budgets) : book_(std::make_shared<Book>()) {
  book_->budgets = budgets;
}

std::optional<Charge> Ledger::try_charge(const Payer& payer, std::size_t amount) const {
  Charge charge = [&] {
    const std::lock_guard lock(book_->mutex);
    const auto entry = book_->entries.try_emplace(payer).first;
    ++entry->second.charges;
    return Charge(book_, entry);
  }();
  if (!charge.try_resize(amount)) return std::nullopt;
  return charge;
}

Budget Ledger::budget(Account account) const {
  return book_->budgets.of(account);
}

std::size_t Ledger::held(Account account) const {
  const std::lock_guard lock(book_->mutex);
  return book_->of(account);
}

Charge::Charge(std::shared_ptr<Ledger::Book> book, Entries::iterator entry)
    : book_(std::move(book)), entry_(entry) {}

Charge::Charge(Charge&& other) noexcept
    : book_(std::move(other.book_)),
      entry_(other.entry_),
      amount_(std::exchange(other.amount_, 0)) {}

Charge& Charge::operator=(Charge&& other) noexcept {
  Charge given(std::move(other));
  std::swap(book_, given.book_);
  std::swap(entry_, given.entry_);
  std::swap(amount_, given.amount_);
  return *this;
}

Charge::~Charge() {
  if (!book_) return;
  const std::lock_guard lock(book_->mutex);
  book_->replace(*entry_, amount_, 0);
  book_->forget(entry_);
}

bool Charge::try_resize(std::size_t amount) {
  if (!book_) return amount == 0;
  const std::lock_guard lock(book_->mutex);
  if (!book_->replace(*entry_, amount_, amount)) return false;
  amount_ = amount;
  return true;
}

}  // namespace nightjar::web
