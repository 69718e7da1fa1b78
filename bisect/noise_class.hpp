// How noisy a series is, learned from its own history. The number of runs a night and the smallest
// change worth detecting follow from it. Pure; used by the night's planner and judge.
#pragma once

#include <span>
#include <vector>

#include "bisect/detection.hpp"
#include "storage/model/enum.hpp"

namespace nightjar::bisect {

// Classes of the sd (of logs) of single runs of one build: up to 1.5 %, 4 %, 7.5 %, and more. It is
// `unknown` with fewer than 12 runs that repeat another of their build. For 435 series of a C++
// database the quartiles were 1.1, 1.7 and 3.2 %, the 95th percentile 10 %.
NIGHTJAR_ENUM(NoiseClass, unknown, quiet, ordinary, noisy, wild);

struct SeriesNoise {
  NoiseClass kind = NoiseClass::unknown;
  double sd = 0;  // of logs; 0: unknown
};
// `builds`: the positive values of each build's runs. Differences between builds are not noise.
SeriesNoise series_noise(std::span<const std::vector<double>> builds);

// Runs a night that give each class a similar error of its level, if `usual` suit an ordinary
// series: .6 times as many for quiet (at least 3), 2 times for noisy, 4 times for wild.
int runs_a_night(NoiseClass kind, int usual);

// The policy for a series with this noise. For a wild one the threshold is at least its sd, since
// smaller changes would take hundreds of runs every night.
DetectionPolicy adapted(DetectionPolicy policy, const SeriesNoise& noise);

}  // namespace nightjar::bisect
