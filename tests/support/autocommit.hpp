// One storage write in a test, in a transaction of its own: add_build(Autocommit(db), build).
#pragma once

#include <exception>

#include "storage/database.hpp"

namespace nightjar::storage {

// Commits at the end of the full expression, unless that throws.
class Autocommit {
 public:
  explicit Autocommit(Database& db) : transaction_(db) {}
  ~Autocommit() noexcept(false) {
    if (std::uncaught_exceptions() == exceptions_) transaction_.commit();
  }
  Autocommit(const Autocommit&) = delete;
  Autocommit& operator=(const Autocommit&) = delete;
  operator Transaction&() { return transaction_; }

 private:
  int exceptions_ = std::uncaught_exceptions();
  Transaction transaction_;
};

}  // namespace nightjar::storage
