// The rung `ci`: the wheel that PyTorch's CI built of one commit, found and brought. Each source
// has one, for the wheels of its variant. Used by the discovery thread, which owns it and the
// commit graph; nothing here touches the database.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bisect/git/commit_graph.hpp"
#include "service/builds/artifacts.hpp"
#include "service/builds/ci/bucket.hpp"
#include "service/builds/ci/choice.hpp"
#include "service/builds/ci/github_runs.hpp"
#include "service/builds/proof.hpp"
#include "service/config.hpp"
#include "storage/model/build.hpp"
#include "storage/model/ci_lookup.hpp"
#include "storage/model/time.hpp"
#include "web/client.hpp"

namespace nightjar::service::ci {

// What a look brought: the look-up's row as it is to be stored, and the build if a wheel was
// fetched and proved. The build is not stored yet.
struct Finding {
  CiLookup lookup;
  std::optional<Build> build;
};

class CiRung {
 public:
  CiRung(const Config& config, const Config::Source& source, git::CommitGraph& graph,
         Artifacts& artifacts, NativeStateOf native_state, const Clock& clock,
         std::stop_token stop = {});

  // Looks for the wheel of `wanted.commit`: the commit's runs, the bucket's listing of each, the
  // archives of the configured environments, the wheel inside. Fetches and proves it if it is to be
  // fetched. Never throws for what the network does: that is a state with its reason, and the time
  // at which to look again.
  Finding look(CiLookup wanted);
  // Brings back the wheel of a proved build that was evicted from the artifacts. Throws
  // std::runtime_error if it cannot be had or is not the same any more.
  void restore(const Build& build);

 private:
  struct Look;  // one call of look()
  std::vector<Candidate> list_candidates(Look& look);
  bool try_candidate(const Candidate& candidate, Look& look);
  void fetch(RemoteZip& zip, const std::string& zip_url, const ZipMember& member, Look& look);

  const Config& config_;
  const Config::Source& source_;
  git::CommitGraph& graph_;
  Artifacts& artifacts_;
  NativeStateOf native_state_;
  const Clock& clock_;
  web::Client client_;
  Bucket bucket_;
  GithubRuns runs_;
};

}  // namespace nightjar::service::ci
