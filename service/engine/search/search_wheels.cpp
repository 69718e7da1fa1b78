#include "service/engine/search/search_wheels.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "service/builds/origin.hpp"
#include "service/engine/search/commit_builds.hpp"
#include "storage/builds.hpp"

namespace nightjar::service {
namespace {

// Numbers wheels and origins in the order in which they are met.
class WheelNumbers {
 public:
  explicit WheelNumbers(const EngineView& view) : view_(view) {}

  int of(const Build& wheel, SearchWheels& wheels) {
    const auto [known, is_new] = numbers_.emplace(wheel.id, static_cast<int>(wheels.builds.size()));
    if (!is_new) return known->second;
    wheels.builds.push_back(wheel.id);
    wheels.origins.push_back(origin_number(wheel));
    if (is_of_builders(wheel)) wheels.builder_origin = wheels.origins.back();
    return known->second;
  }
  int next_origin() const { return static_cast<int>(origins_.size()); }

 private:
  // Whether it was made as builders would make the next one.
  bool is_of_builders(const Build& wheel) const {
    if (wheel.kind != BuildKind::source) return false;
    const auto known = wheel_under(view_.db, wheel);
    return known && known->provenance && known->recipe == view_.config.project.recipe_sha256;
  }
  // The way in which nightlies are built may change from day to day without a commit. So each
  // nightly is an origin of its own, until a commit is measured on it and on another wheel.
  int origin_number(const Build& wheel) {
    std::string key = "wheel " + std::to_string(wheel.id.value);
    if (wheel.kind != BuildKind::nightly)
      if (const auto known = wheel_under(view_.db, wheel)) key = wheel_origin(*known);
    return origins_.emplace(key, next_origin()).first->second;
  }

  const EngineView& view_;
  std::map<BuildId, int> numbers_;
  std::map<std::string, int> origins_;
};

// Whether builders have made, make or can make a wheel of its group.
bool can_be_made(const Prospect& prospect) {
  return std::holds_alternative<CanBeBuilt>(prospect) ||
         std::holds_alternative<IsBeingBuilt>(prospect);
}

}  // namespace

SearchWheels load_wheels(const EngineView& view, const Bisection& search, const SearchRuns& runs,
                         const SearchProgress& progress) {
  SearchWheels wheels;
  WheelNumbers numbers(view);
  const int last = static_cast<int>(search.commits.size()) - 1;
  wheels.serving.resize(search.commits.size());
  for (int commit = 0; commit <= last; ++commit)
    for (const Build& wheel : wheels_of_commit(view, search, commit))
      if (!progress.failed.contains({commit, wheel.id}))
        wheels.serving[static_cast<std::size_t>(commit)].push_back(numbers.of(wheel, wheels));
  for (const BuildId id : runs.wheels)  // some may be gone since
    if (const auto wheel = storage::find_build(view.db, id)) numbers.of(*wheel, wheels);
  const bool builds = view.config.project.recipe_sha256 && live_builders(view) > 0;
  if (!builds) {
    wheels.builder_origin = -1;
    return wheels;
  }
  if (wheels.builder_origin < 0) wheels.builder_origin = numbers.next_origin();
  for (int commit = 0; commit <= last; ++commit)
    if (!wheels.serving[static_cast<std::size_t>(commit)].empty() &&
        !can_be_made(prospect_of_builders(view, search, commit, builds)))
      wheels.no_other_wheel.push_back(commit);
  return wheels;
}

void add_wheels(const SearchWheels& wheels, const std::vector<BuildId>& of_runs,
                bisect::SearchLog& log) {
  log.origins = wheels.origins;
  log.wheels = wheels.serving;
  log.builder_origin = wheels.builder_origin;
  log.no_other_wheel = wheels.no_other_wheel;
  for (std::size_t i = 0; i < log.runs.size(); ++i)
    log.runs[i].wheel = static_cast<int>(
        std::find(wheels.builds.begin(), wheels.builds.end(), of_runs[i]) - wheels.builds.begin());
}

}  // namespace nightjar::service
