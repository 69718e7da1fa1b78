#include "bisect/evidence/contributors.hpp"

#include <cmath>

namespace nightjar::evidence {

Culprit together(const std::vector<Culprit>& contributors) {
  Culprit out;
  out.probability = 1;
  double change = 0, below = 0, above = 0;  // logs, and the squares of their half-widths
  for (const Culprit& step : contributors) {
    out.commits.insert(out.commits.end(), step.commits.begin(), step.commits.end());
    out.probability *= step.probability;
    change += std::log(step.ratio);
    below += std::pow(std::log(step.ratio / step.low), 2);
    above += std::pow(std::log(step.high / step.ratio), 2);
  }
  out.ratio = std::exp(change);
  out.low = std::exp(change - std::sqrt(below));
  out.high = std::exp(change + std::sqrt(above));
  return out;
}

}  // namespace nightjar::evidence
