// A day between two nightlies with commits of every kind, for tests of the search.
#pragma once

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "storage/bisections.hpp"
#include "storage/provenance.hpp"
#include "tests/service/engine/night_world.hpp"
#include "tests/support/autocommit.hpp"

namespace nightjar::service::test {

struct Day : NightWorld {
  // A letter a commit, spaces are ignored: p Python, n native, r the native files as they were at
  // the begin, h a header of the C++ front end.
  void grow_kinds(const std::string& kinds) {
    for (const char kind : kinds) {
      if (kind == ' ') continue;
      const std::string number = std::to_string(commits.size());
      git::LiteralGraph::Changes changes;
      if (kind == 'p') changes["torch/m" + number + ".py"] = number;
      if (kind == 'n') changes["c10/core.cpp"] = number;
      if (kind == 'r') changes["c10/core.cpp"] = std::nullopt;
      if (kind == 'h') changes["torch/csrc/api/include/torch/nn.h"] = number;
      commits.push_back(graph.commit("main", "Change " + number + " (#" + number + ")", changes));
    }
  }
  // Two nights; between them a day of these commits. Alpha is slower from commit `step` on.
  void run(const std::string& kinds, int step) {
    level = [step, this](int position, const std::string& workload, const std::string& metric) {
      const double usual = metric == "latency" ? .010 : 3e8;
      const bool slow = workload == slow_workload && metric == "latency" && position >= step;
      return usual * (slow ? 1.4 : 1);
    };
    nightly("2026-08-19");
    settle();
    grow_kinds(kinds);
    nightly("2026-08-20");
    settle();
  }
  // A proved wheel that CI has built of a commit.
  Build ci_wheel(int position) {
    const auto file = artifacts.temporary();
    std::ofstream(file) << "ci " << position;
    Build build;
    build.kind = BuildKind::ci;
    build.version = "2.14.0a0+git" + std::to_string(position);
    build.variant = "cpu";
    build.url = "https://example.org/ci/" + std::to_string(position) +
                "/torch-2.14.0a0-cp311-cp311-linux_x86_64.whl";
    build.commit = commits[static_cast<std::size_t>(position)];
    build.sha256 = artifacts.add(file);
    build.state = BuildState::proved;
    build.found_at = clock.now();
    read_wheel(*build.sha256);
    return storage::add_build(storage::Autocommit(db), build);
  }
  // As if the service had read how it was made: all wheels of a place are alike.
  void read_wheel(const Sha256& wheel) {
    storage::add_provenance(storage::Autocommit(db), {.wheel = wheel, .generator = "setuptools"});
  }
  Bisection search() { return storage::list_bisections(db, {}).items.at(0); }
  Regression regression() { return *storage::find_regression(db, search().regression.value()); }
  std::vector<CommitSha> between(int first, int last) const {
    return {commits.begin() + first, commits.begin() + last + 1};
  }
  std::vector<OutboxMessage> messages() { return storage::messages_of(db, regression().id); }
  std::set<BuildId> bases_of(int position) {
    std::set<BuildId> bases;
    for (const Build& overlay :
         storage::overlays_of_commit(db, commits[static_cast<std::size_t>(position)], "cpu"))
      bases.insert(*overlay.base);
    return bases;
  }
  std::string slow_workload = alpha_eval;
};

}  // namespace nightjar::service::test
