#include "service/api/readers.hpp"

namespace nightjar::service::api {

Readers::Borrowed Readers::borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto database = std::move(idle_.back());
      idle_.pop_back();
      return {*this, std::move(database)};
    }
  }
  return {*this, std::make_unique<storage::Database>(storage::Database::open_reader(file_))};
}

void Readers::give_back(std::unique_ptr<storage::Database> database) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(database));
}

}  // namespace nightjar::service::api
