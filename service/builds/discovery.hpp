// Finds new builds at the source and proves their identity. Two phases, so that hours of
// downloading hold neither the writer thread nor a transaction:
//   known(db)   writer thread: what the rows say                          (quick)
//   look(known) worker thread: list, download, read the wheel, ask git    (blocking, no database)
//   apply(db)   writer thread: writes what came out, in one transaction   (quick)
// Used by the engine's discover step. A crash between the phases costs a download, never a row.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bisect/git/commit_graph.hpp"
#include "service/builds/artifacts.hpp"
#include "service/builds/build_source.hpp"
#include "service/builds/wheel.hpp"
#include "service/config.hpp"
#include "storage/builds.hpp"
#include "storage/database.hpp"
#include "storage/model/lock.hpp"
#include "storage/model/time.hpp"

namespace nightjar::service {

// What the rows say before a look.
struct Known {
  std::vector<Build> nightlies;  // of the configured variant, in every state
  // Builds of this date and later are to be proved; nullopt: first start.
  std::optional<std::string> prove_from;
};

// What a look brought. Rows without ids: apply() finds or stores them.
struct Survey {
  std::vector<Build> found;     // listed, not known yet, oldest first
  std::vector<Build> reopened;  // could not be proved; the source names another hash since then
  std::optional<std::string> prove_from;  // set by a first start
  std::optional<Build> settled;           // a build that became proved, unproved or unusable
  std::optional<Build> postponed;  // could not be downloaded; `reason` says why, tried again later
  std::optional<Lock> lock;        // of the settled build, if its packages are resolved
  std::vector<std::string> problems;  // of the source, one line each: for the log
  // Why no build can be found or proved now, and what to do; empty: nothing stands in the way.
  std::string source_failure, repository_failure;
  bool more = false;  // another build waits: look again at once
};

// What apply() changed, with ids.
struct Changes {
  std::vector<Build> found;
  std::optional<Build> settled;
};

class Discovery {
 public:
  // `place`: which of the configured sources `source` is; nullptr: the first. After `stop` is
  // requested nothing is resolved.
  // look(), restore() and everything else that uses `source` or `graph` belongs on one thread.
  Discovery(BuildSource& source, git::CommitGraph& graph, Artifacts& artifacts,
            const Config& config, const Clock& clock, const Config::Source* place = nullptr,
            std::stop_token stop = {});

  Known known(storage::Database& db) const;
  // Lists the source and settles at most one build, oldest first: proved and in the artifacts, or
  // unproved or unusable with the reason. A first start takes wheels of the last keep_days (at
  // least the two newest) for rows and proves the newest first_nightlies of them; afterwards every
  // newer one is proved. What cannot be downloaded stays found and is tried again after 5, 10, 20
  // s, ... 60 minutes, unless its source does not list it any more. Never throws for what the
  // source or git's remote does: that is in `problems` and `postponed`.
  Survey survey(const Known& known);
  Changes apply(storage::Database& db, const Survey& survey) const;
  // The three phases at once, for a caller on one thread.
  Changes tick(storage::Database& db);

  // Brings back the wheel of a proved build that was evicted from the artifacts. Throws
  // std::runtime_error if it cannot be downloaded or is not the same any more.
  void restore(const Build& build);

 private:
  struct Backoff {
    int failures = 0;
    Time not_before{};
  };
  void take_listing(const Known& known, const std::vector<ListedWheel>& listed,
                    Survey& survey) const;
  // Oldest first.
  std::vector<Build> waiting_since(const std::string& date, const Known& known,
                                   const Survey& survey) const;
  Survey look_once(const Known& known);
  void fetch_commits();
  void prove_or_postpone(Build build, const ListedWheel& wheel, bool gone, Survey& survey);
  std::optional<Sha256> bring(const ListedWheel& wheel, bool gone, const std::filesystem::path& to,
                              Build& build);
  void judge(Build& build, const Sha256& sha256, const std::filesystem::path& file, Survey& survey);
  void lock(Build& build, const WheelFacts& facts, Survey& survey) const;
  void postpone(Build build, const std::string& why, Survey& survey);

  BuildSource& source_;
  git::CommitGraph& graph_;
  Artifacts& artifacts_;
  const Config& config_;
  const Config::Source& place_;
  const Clock& clock_;
  const std::stop_token stop_;
  std::map<std::string, Backoff> backoff_;  // by URL; a restart may try again at once
  std::string repository_failure_;          // of the last fetch; not every look needs one
};

}  // namespace nightjar::service
