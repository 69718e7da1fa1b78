#include "runner/run/confined_place.hpp"

#include <cstdlib>

#include "runner/build/python.hpp"
#include "runner/process/failure.hpp"
#include "storage/base/log.hpp"

namespace nightjar::runner {
namespace {

Confinement confinement_at(const RunPlace& place, const ConfinementRequest& request,
                           std::stop_token stop) {
  Confinement made;
  made.shown = python_folders(place.python, std::move(stop));
  made.shown.insert(made.shown.end(), {place.workloads, place.torchbench});
  for (const auto& external : place.externals) made.shown.push_back(external.folder);
  if (const char* toolkit = std::getenv("CUDA_HOME")) made.shown.emplace_back(toolkit);
  made.shown.insert(made.shown.end(), request.shown.begin(), request.shown.end());
  made.hidden = request.hidden;
  made.hidden.push_back(place.cache);
  return made;
}

}  // namespace

std::string confine(RunPlace& place, const ConfinementRequest& request, std::stop_token stop) {
  if (request.mode == ConfinementMode::off) return "none";
  const std::string problem = confinement_problem();
  if (!problem.empty() && request.mode == ConfinementMode::required)
    throw WrongUse("cannot confine builds on this machine: " + problem + "; " + kAllowConfinement +
                   ", or measure unconfined with --confinement preferred");
  if (!problem.empty()) {
    log::warn(
        "builds run unconfined, so a hostile one could use this runner's token; {} cause=\"{}\"",
        kAllowConfinement, problem);
    return "none";
  }
  place.confinement = confinement_at(place, request, std::move(stop));
  return "namespaces";
}

}  // namespace nightjar::runner
