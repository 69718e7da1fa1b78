// What happens in a simulation: all of it follows from the seed and from the bounds that a person,
// or shrinking, puts on it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/model/enum.hpp"

namespace nightjar::simulation {

// What goes wrong while faults last.
//   loss       requests or their answers vanish
//   delay      they take up to a minute, longer than a sender waits
//   duplicate  a request arrives a second time, up to some hours later
//   crash      a runner dies with its job and comes back
//   preempt    a runner is told to stop, gives its job back and comes back
//   sick       a runner's disk is full: it can measure nothing for hours
//   gone       a runner leaves for good
//   upgrade    a runner's kernel is upgraded: its machine class stays, its facts change
//   twin       a second host works under a runner's name and token
//   stolen     others take CPU time from a session, which is void
//   kill       the service dies before its n-th commit, and all that is not on disk with it
//   restore    an older copy of the database takes its place
//   tracker    the issue tracker fails, sometimes after it did what was asked
//   disk       some operations on the database's disk fail, from the n-th one on
//   full       the database's disk has no room from the n-th change on, for up to hours
//   power      the service's power fails at the n-th change of its disk, and of what was not
//              synced some, all or nothing is lost
//   clock      the service's time of day is set, up to a day off the true time
//   skew       a runner's time of day is up to a day off
//   lies       a runner sends what it has no right to send, or what cannot be
NIGHTJAR_ENUM(Fault, loss, delay, duplicate, crash, preempt, sick, gone, upgrade, twin, stolen,
              kill, restore, tracker, disk, full, power, clock, skew, lies);

// What makes a metric of a workload worse, or better.
struct Effect {
  std::string workload, metric;
  double factor = 1;
  std::set<int> classes;  // machine classes that show it
};
struct Step : Effect {
  int commit = 0;  // position on main
};
// An effect that no commit has caused: from one day on, nightlies are compiled differently. A
// commit laid over one of them has the effect; laid over an older one, it does not.
struct WheelChange : Effect {
  int day = 0;

  bool is_worse() const { return factor > 1; }
};

struct PlannedRunner {
  std::string name;
  int machine_class = 0;
  std::vector<std::string> workloads;  // "<name>@<version>"
  bool may_leave = false;              // for good; others of its class have its workloads
};

struct Bounds {
  // Upper limits. runners: of a class; native, packages: 0 for none.
  std::optional<int> nights, classes, runners, steps, gains, wheels, native, packages;
  std::optional<std::set<Fault>> faults;  // no others
};

struct Plan {
  std::uint64_t seed = 0;
  std::vector<int> commits;  // before each nightly; the first one is measured without faults
  int classes = 1;
  std::vector<PlannedRunner> runners;
  std::vector<Step> steps;  // for the worse
  std::vector<Step> gains;  // for the better
  std::set<int> broken;     // commits that do not import
  std::vector<WheelChange> wheels;
  std::set<int> broken_packages;  // days whose nightly cannot be installed
  std::set<int> native;           // commits that need a wheel of their own native group
  std::set<int> ci;               // commits of which CI has a wheel
  double ci_factor = 1;           // of every latency with a wheel of CI
  std::set<Fault> faults;
  bool scheduled = false;  // nights begin at a time of day, not with a new build

  int nights() const { return static_cast<int>(commits.size()) - 1; }  // with faults
  bool has(Fault fault) const { return faults.contains(fault); }
  bool disk_fails() const { return has(Fault::disk) || has(Fault::full) || has(Fault::power); }
};

Plan make_plan(std::uint64_t seed, const Bounds& bounds);
// The arguments of build/bin/simulation that say the same.
std::string arguments_of(std::uint64_t seed, const Bounds& bounds);

}  // namespace nightjar::simulation
