// What each principal holds of the server at a moment: bytes of memory, connections, streams. It is
// charged before it is held, and given back when the charge goes out of scope. Used by the server,
// and by whoever keeps what a client can make grow.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "web/server/message.hpp"

namespace nightjar::web {

// Kinds of principals, and what the service keeps for all of them. What one of them may hold is
// never available to the others.
NIGHTJAR_ENUM(Account, anonymous, readers, imports, agents, admins, cache, comparisons);
Account account_of(Role role);

// The client that is charged. `key` is the name of its token, or its address if it has none.
struct Payer {
  Account account = Account::anonymous;
  std::string key;
  auto operator<=>(const Payer&) const = default;
};

// The most that an account may hold, and each of its payers.
struct Budget {
  std::size_t all = 0, each = 0;
};
struct Budgets {
  Budget anonymous{}, readers{}, imports{}, agents{}, admins{}, cache{}, comparisons{};
  const Budget& of(Account account) const;
};

class Charge;

// From any thread. A copy is the same ledger.
class Ledger {
 public:
  explicit Ledger(const Budgets& budgets);
  // nullopt: the payer or its whole account would hold more than its budget.
  std::optional<Charge> try_charge(const Payer& payer, std::size_t amount) const;
  Budget budget(Account account) const;
  std::size_t held(Account account) const;

 private:
  friend class Charge;
  struct Book;
  std::shared_ptr<Book> book_;
};

// From any thread, but from one at a time. It may outlive the ledger.
class Charge {
 public:
  Charge() = default;  // of nothing, and stays so
  Charge(Charge&& other) noexcept;
  Charge& operator=(Charge&& other) noexcept;
  ~Charge();
  // Holds `amount` altogether from now on. Less is always possible. False: there is no room for
  // more, and it holds what it did.
  bool try_resize(std::size_t amount);
  bool try_add(std::size_t more) { return try_resize(amount_ + more); }
  std::size_t amount() const { return amount_; }

 private:
  friend class Ledger;
  struct Entry {
    std::size_t amount = 0, charges = 0;
  };
  using Entries = std::map<Payer, Entry>;
  Charge(std::shared_ptr<Ledger::Book> book, Entries::iterator entry);

  std::shared_ptr<Ledger::Book> book_;  // empty: it charges nobody
  Entries::iterator entry_{};
  std::size_t amount_ = 0;
};

}  // namespace nightjar::web
