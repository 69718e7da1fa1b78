// What is known of the wheel that CI built of a commit. Used by service/builds/ci and the storage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

// wanted: not looked at yet. found: a wheel is there. fetched: it was brought and is a build.
// absent: everything was looked at, and there is no wheel. failed: the look-up got no answer, or
// one that cannot be used; `reason` says which.
NIGHTJAR_ENUM(CiLookupState, wanted, found, fetched, absent, failed);

struct CiLookup {
  std::int64_t id = 0;  // 0: not stored yet
  CommitSha commit;
  std::string variant = {};
  std::optional<Sha256> native_state =
      {};  // of the commit; nullopt: unknown, it is a group of its own
  CiLookupState state = CiLookupState::wanted;
  bool fetch = false;          // the wheel itself is wanted, not only whether there is one
  bool urgent = false;         // a search waits for it
  std::string reason = {};     // why absent or failed; of a wheel that was found, which one
  std::string looked_at = {};  // what was looked at and where, a line each
  std::int64_t bytes = 0;      // fetched from the network so far, over all looks
  int failures = 0;            // in a row
  std::optional<BuildId> build = {};
  Time wanted_at{};
  std::optional<Time> looked_at_time = {};
  std::optional<Time> retry_at = {};  // when to look (again); nullopt: never, unless asked to
};

}  // namespace nightjar
