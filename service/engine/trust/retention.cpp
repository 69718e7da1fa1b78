#include "service/engine/trust/retention.hpp"

#include "storage/base/log.hpp"
#include "storage/retention.hpp"

namespace nightjar::service {
namespace {

constexpr int session_count = 10;  // of one tick: some thousand runs
constexpr int pages_back = 2'000;  // 8 MiB

}  // namespace

std::vector<JobId> load_old_samples(const EngineView& view) {
  const std::chrono::days kept(view.config.service.samples_days);
  if (kept.count() == 0) return {};
  return storage::sessions_with_old_samples(view.db, view.clock.now() - kept, session_count);
}

bool drop_old_samples(EngineContext& context) {
  const std::vector<JobId> sessions = load_old_samples(context);
  if (sessions.empty()) return false;
  int runs = 0;
  storage::write(context.db, [&](storage::Transaction& transaction) {
    for (const JobId session : sessions)
      runs += storage::drop_samples(transaction, session, context.clock.now());
  });
  storage::give_back_pages(context.db, pages_back);
  log::debug("dropped raw samples sessions={} runs={}", sessions.size(), runs);
  return true;
}

}  // namespace nightjar::service
