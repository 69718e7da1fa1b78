#include "runner/run/confined_place.hpp"

#include <cstdlib>
#include <variant>

#include "runner/build/python.hpp"
#include "runner/process/driver_environment.hpp"
#include "runner/process/failure.hpp"
#include "storage/base/log.hpp"

namespace nightjar::runner {
namespace {

Confinement confinement_at(const RunPlace& place, const ConfinementRequest& request,
                           const DeviceUse& devices, std::stop_token stop) {
  Confinement made;
  made.shown = python_folders(place.python, std::move(stop));
  made.shown.insert(made.shown.end(), {place.workloads, place.torchbench});
  for (const auto& external : place.externals) made.shown.push_back(external.folder);
  if (const char* toolkit = std::getenv("CUDA_HOME")) made.shown.emplace_back(toolkit);
  for (const auto& list : {devices.folders, driver_folders(), request.shown})
    made.shown.insert(made.shown.end(), list.begin(), list.end());
  made.hidden = request.hidden;
  made.hidden.push_back(place.cache);
  return made;
}

// The first device that is there and cannot be used confined: "libcuda.so.1: cuInit answers 100".
std::string lost_device(const DeviceUse& outside, const DeviceUse& confined) {
  for (const auto& [device, problem] : outside.problems) {
    const auto found = confined.problems.find(device);
    if (problem.empty() && found == confined.problems.end()) return device + ": no answer";
    if (problem.empty() && !found->second.empty()) return device + ": " + found->second;
  }
  return {};
}

using Found = std::variant<Confinement, CannotConfine>;

Found find_confinement(const RunPlace& place, const ConfinementRequest& request,
                       std::stop_token stop) {
  const std::string problem = confinement_problem();
  if (!problem.empty()) return CannotConfine{problem, allow_confinement};
  const DeviceUse outside = device_use(place.python, nullptr, stop);
  Confinement made = confinement_at(place, request, outside, stop);
  const std::string lost =
      outside.any() ? lost_device(outside, device_use(place.python, &made, stop)) : "";
  if (!lost.empty() && !stop.stop_requested())  // a process that was stopped says nothing
    return CannotConfine{"a confined process cannot use this machine's device; " + lost,
                         "show by --visible what the driver needs"};
  return made;
}

}  // namespace

std::optional<CannotConfine> why_not_confined(const RunPlace& place,
                                              const ConfinementRequest& request,
                                              std::stop_token stop) {
  const Found found = find_confinement(place, request, std::move(stop));
  const auto* why = std::get_if<CannotConfine>(&found);
  return why ? std::optional(*why) : std::nullopt;
}

std::string confine(RunPlace& place, const ConfinementRequest& request, std::stop_token stop) {
  if (request.mode == ConfinementMode::off) {
    place.rights = Unconfined("the operator asked for it");
    return "none";
  }
  Found found = find_confinement(place, request, std::move(stop));
  if (auto* made = std::get_if<Confinement>(&found)) {
    place.rights = std::move(*made);
    return "namespaces";
  }
  const auto& [problem, remedy] = std::get<CannotConfine>(found);
  if (request.mode == ConfinementMode::required)
    throw WrongUse("cannot confine builds on this machine: " + problem + "; " + remedy +
                   ", or measure unconfined with --confinement preferred");
  log::warn(
      "builds run unconfined, so a hostile one could use this runner's token; {} cause=\"{}\"",
      remedy, problem);
  place.rights = Unconfined("this machine cannot confine: " + problem);
  return "none";
}

}  // namespace nightjar::runner
