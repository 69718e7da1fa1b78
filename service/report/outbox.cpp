#include "service/report/outbox.hpp"

#include "storage/outbox.hpp"
#include "storage/regressions.hpp"

namespace nightjar::service {

namespace {

std::optional<Regression> regression_of(const storage::Database& db, const OutboxMessage& message) {
  return message.regression ? storage::find_regression(db, *message.regression) : std::nullopt;
}

}  // namespace

std::optional<DueMessage> next_due(const storage::Database& db, Time now) {
  const auto pending = storage::pending_messages(db, now);
  if (pending.empty()) return std::nullopt;
  const auto regression = regression_of(db, pending.front());
  return DueMessage{pending.front(), regression ? regression->issue_number : std::nullopt};
}

void note_attempt(storage::Transaction& transaction, OutboxMessage message,
                  const OutboxSender& sender, Time now) {
  message.not_before = now + sender.shows_up_within(message);
  storage::update_message(transaction, message);
}

OutboxMessage store(storage::Transaction& transaction, OutboxMessage message, const Sent& sent) {
  sent.apply_to(message);
  storage::update_message(transaction, message);
  auto regression = regression_of(transaction, message);
  if (regression && sent.issue) {
    regression->issue_number = sent.issue->number;
    regression->issue_url = sent.issue->url;
    storage::update_regression(transaction, *regression);
  }
  return message;
}

}  // namespace nightjar::service
