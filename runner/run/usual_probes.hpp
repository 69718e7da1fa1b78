// Tells how fast fixed work usually is on this machine undisturbed, from what earlier runs saw.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "runner/run/protocol.hpp"

namespace nightjar::runner {

// Keeps the fastest probe of recent runs, in seconds, separately for each kind of program: native,
// Python (which also profiles) and each external program probe with code of their own. The next run
// is told the lower quartile of the last 40. Runs that were slowed throughout do not move it. Nor
// does a single run that met an unusually high clock, which would make every later run disturbed.
class UsualProbes {
 public:
  double of(const RunTask& task) const;  // 0: none yet
  void note(const RunTask& task, double seconds);

 private:
  std::map<std::string, std::deque<double>> last_;  // by program
};

}  // namespace nightjar::runner
