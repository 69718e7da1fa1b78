// A work tree and a build for each commit that is asked for, made once, removed at the end.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "service/cli/bench.hpp"
#include "service/cli/bisect_run.hpp"
#include "service/cli/tree_maker.hpp"

namespace nightjar::cli {

class WorkTrees : public Bench {
 public:
  WorkTrees(const SourceRepository& repository, const BisectOptions& options, std::stop_token stop);
  // A result file that is elsewhere is removed as well.
  ~WorkTrees() override;
  WorkTrees(const WorkTrees&) = delete;
  WorkTrees& operator=(const WorkTrees&) = delete;

  // Checks out and builds them, `jobs` at once.
  void prepare(const std::vector<std::string>& commits) override;
  Measurement measure(const std::string& commit) override;

 private:
  WorkPlace work_of(const std::string& commit) const;
  // Empty, or why the commit cannot be tested.
  std::string build(const std::string& commit);
  void build_at_once(const std::vector<std::string>& commits);

  const BisectOptions& options_;
  std::stop_token stop_;
  const TemporaryFolder folder_;
  const std::string ceiling_;
  TreeMaker maker_;
};

}  // namespace nightjar::cli
