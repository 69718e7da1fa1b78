// What came of builds, on disk until the service has it: the wheel in parts, the log's end, the
// outcome. A killed builder or a dead service loses no build.
#pragma once

#include <filesystem>
#include <stop_token>

#include "runner/agent/coordinator.hpp"
#include "runner/make/make_wheel.hpp"

namespace nightjar::runner {

class BuildOutbox {
 public:
  explicit BuildOutbox(std::filesystem::path folder);

  // Durable once this returns. The wheel and the log stay where they are.
  void put(const Claim& claim, const MadeWheel& made);
  // Sends all that waits, oldest job first. What the service took is removed with its wheel; what
  // it will never take is removed alone, so that a later attempt finds the wheel. False if the
  // service is away.
  bool send(Coordinator& coordinator, std::stop_token stop);

 private:
  struct Entry;
  std::vector<Entry> pending() const;
  Answer send_one(Coordinator& coordinator, const Entry& entry, std::stop_token stop);
  Answer send_wheel(Coordinator& coordinator, const Entry& entry, std::stop_token stop);

  const std::filesystem::path folder_;
};

}  // namespace nightjar::runner
