// Reports that belong to no regression, by schedule into the tracker: the digest of each period
// that is over, with the difference to a reference, and each large fix. Used by the engine's tick.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "service/engine/context.hpp"
#include "service/report/digest.hpp"
#include "storage/digests.hpp"
#include "storage/model/outbox.hpp"

namespace nightjar::service {

// The latest period that is over at `now`: from one configured day and hour to the next. nullopt:
// no day is configured.
std::optional<storage::Period> finished_period(const Config::Report::Digest& schedule, Time now);

struct DigestFacts {
  Time now{};
  std::optional<storage::Period> due;  // nullopt: nothing is, and the rest is empty
  std::string key;                     // of its message
  DigestInput digest;
  DigestReference reference;
};
// A period is due once, if a night had begun before its end. It begins no earlier than the one that
// was told before it ended. Periods that were over while the service was away are not made up for.
DigestFacts load_digest(const EngineView& view);

// The period was quiet, so no digest of it is filed.
struct PassOver {
  storage::Period period;
  Time at{};
};
struct FileDigest {
  storage::Period period;
  OutboxMessage message;
};
using DigestStep = std::variant<PassOver, FileDigest>;
// nullopt: nothing is due.
std::optional<DigestStep> decide(const DigestFacts& facts, const Config& config);
bool file_digest(EngineContext& context);

struct FixFacts {
  Time now{};
  BuildId build;  // that made it better
  std::string key;
  DigestFix fix;
};
// Fixes of the last days that are large enough and were not told of; none if `report.fixes` is 0.
// One whose commit is searched waits for the answer.
std::vector<FixFacts> load_fixes(const EngineView& view);
struct FileFix {
  BuildId build;
  OutboxMessage message;
};
FileFix decide(const FixFacts& facts, const Config& config);
bool file_fixes(EngineContext& context);

}  // namespace nightjar::service
