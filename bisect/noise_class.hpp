// How noisy a series is, learned from its own history, and what follows from that: how many runs a
// night it needs, and the smallest change that is worth asking for. Pure; used by the night's
// planner and judge.
#pragma once

#include <span>
#include <vector>

#include "bisect/detection.hpp"
#include "storage/model/enum.hpp"

namespace nightjar::bisect {

// By the sd of single runs of one build (of logs): up to 1.5, 4 and 7.5 %, and beyond. unknown:
// fewer than 12 runs beyond the first of their build. On a C++ database's 435 series the quartiles
// were 1.1, 1.7 and 3.2 %, the 95th percentile 10 %.
NIGHTJAR_ENUM(NoiseClass, unknown, quiet, ordinary, noisy, wild);

struct SeriesNoise {
  NoiseClass kind = NoiseClass::unknown;
  double sd = 0;  // of logs; 0: unknown
};
// `builds`: the positive values of each build's runs; what differs between builds is no noise.
SeriesNoise series_noise(std::span<const std::vector<double>> builds);

// Runs a night where `usual` are right for an ordinary series: the error of a night's level stays
// alike. quiet .6 (at least 3), noisy 2, wild 4 times.
int runs_a_night(NoiseClass kind, int usual);

// The policy for a series of this noise: a wild one is asked for changes over its sd only, since
// smaller ones would take hundreds of runs every night.
DetectionPolicy adapted(DetectionPolicy policy, const SeriesNoise& noise);

}  // namespace nightjar::bisect
