// How fast fixed work is on this machine when nothing disturbs it, from what earlier runs saw.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "storage/model/job.hpp"

namespace nightjar::runner {

// Of each run its fastest probe, in seconds; native, Python and each external program probe with
// code of their own. What the next run is told is the lower quartile of the last 40: runs slowed
// from begin to end do not move it, nor does the one that met the host's other cores idle and its
// clock higher than ever again, which as the fastest of all would have every later run disturbed.
class UsualProbes {
 public:
  double of(const Workload* workload) const;  // 0: none yet
  void note(const Workload* workload, double seconds);

 private:
  std::map<std::string, std::deque<double>> last_;  // by program
};

}  // namespace nightjar::runner
