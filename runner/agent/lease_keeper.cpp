#include "runner/agent/lease_keeper.hpp"

#include "runner/process/wait.hpp"
#include "storage/base/foreign_number.hpp"

namespace nightjar::runner {
namespace {
constexpr long least_pause = 10, most_pause = 3'600'000;  // milliseconds, whatever a lease lasts
}  // namespace

LeaseKeeper::LeaseKeeper(std::string service, std::string token, Claim claim)
    : claim_(std::move(claim)),
      coordinator_(std::move(service), std::move(token)),
      thread_([this](std::stop_token end) { keep(end); }) {}

LeaseKeeper::~LeaseKeeper() = default;

void LeaseKeeper::keep(std::stop_token end) {
  double lease_seconds = claim_.lease_seconds;
  for (;;) {
    const auto third = std::chrono::milliseconds(
        clamped_integer<long>(lease_seconds * 333, least_pause, most_pause));
    if (!wait_for(third, end)) return;
    if (coordinator_.renew(claim_, lease_seconds) != Answer::refused) continue;
    if (coordinator_.may_be_lifted()) continue;
    lost_ = true;
    job_.request_stop();
    return;
  }
}

}  // namespace nightjar::runner
