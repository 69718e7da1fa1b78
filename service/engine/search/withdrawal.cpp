#include "service/engine/search/withdrawal.hpp"

#include <algorithm>

#include "service/report/exporter.hpp"
#include "service/report/report.hpp"
#include "storage/outbox.hpp"

namespace nightjar::service {

bool has_issue(const storage::Database& db, RegressionId regression) {
  const auto messages = storage::messages_of(db, regression);
  return std::any_of(messages.begin(), messages.end(), [](const OutboxMessage& message) {
    return message.kind == OutboxKind::open_issue;
  });
}

void withdraw_issue(storage::Transaction& transaction, RegressionId regression,
                    const std::string& text, Time now, const std::string& why) {
  if (!has_issue(transaction, regression)) return;
  OutboxMessage message;
  message.key = "withdrawn:" + std::to_string(regression.value);
  message.regression = regression;
  message.kind = OutboxKind::close_issue;
  message.body = text + "\n\n" + marker_of(message.key) + "\n";
  message.created_at = now;
  storage::add_message(transaction, message);
  take_back_verdicts(transaction, regression, why.empty() ? text : why, now);
}

int times_taken_back(const storage::Database& db, RegressionId regression) {
  const auto messages = storage::messages_of(db, regression);
  return static_cast<int>(
      std::count_if(messages.begin(), messages.end(), [](const OutboxMessage& message) {
        return message.kind == OutboxKind::verdict && message.key == taken_back_key(message.key);
      }));
}

void take_back_verdicts(storage::Transaction& transaction, RegressionId regression,
                        const std::string& why, Time now, const std::string& still_holds) {
  for (const OutboxMessage& told : storage::messages_of(transaction, regression)) {
    if (told.kind != OutboxKind::verdict || told.key == still_holds) continue;
    OutboxMessage message;
    message.key = taken_back_key(told.key);
    message.regression = regression;
    message.kind = OutboxKind::verdict;
    message.title = told.title;
    message.body = taken_back(told.body, why, now);
    message.created_at = now;
    storage::add_message(transaction, message);
  }
}

}  // namespace nightjar::service
